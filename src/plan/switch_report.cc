#include "plan/switch_report.h"

namespace teapot::plan {

Json to_json(const SwitchReport& report) {
  return {{"name", report.name},
          {"requested", report.requested},
          {"active", report.active},
          {"reason", report.reason},
          {"default", report.default_value}};
}

Json to_json(const std::vector<SwitchReport>& reports) {
  Json list = Json::array();
  for (const SwitchReport& report : reports) list.push_back(to_json(report));
  return list;
}

}  // namespace teapot::plan
