#include "workbench/bench/report_folder.h"

namespace teapot::workbench {

std::string folder_name(std::string_view name) {
  std::string safe;
  for (const char byte : name) {
    const auto code = static_cast<unsigned char>(byte);
    const bool bad = code < 0x20 || code == 0x7f || std::string_view("<>:\"|?*\\/ ").find(byte) != std::string_view::npos;
    safe += bad ? '_' : byte;
  }
  constexpr size_t kMaxBytes = 200;  // file systems take 255, a number and a suffix come behind it
  if (safe.size() > kMaxBytes) {
    size_t end = kMaxBytes;
    while ((static_cast<unsigned char>(safe[end]) & 0xc0) == 0x80) --end;  // not within a character
    safe.resize(end);
  }
  if (safe.find_first_not_of('.') == safe.npos) return "run" + safe;  // "", "." and ".." are no names
  return safe;
}

}  // namespace teapot::workbench
