#include "text/coder_block.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <span>

#include "text/tags.h"

namespace teapot::text {
namespace {

constexpr std::string_view kFunctionOpen = "<function=";
constexpr std::string_view kFunctionClose = "</function>";
constexpr std::string_view kParameterOpen = "<parameter=";
constexpr std::string_view kParameterClose = "</parameter>";

}  // namespace

void CoderBlockReader::begin(size_t place) {
  expect_ = Expect::kFunction;
  pos_ = 0;
  calls_.clear();
  place_ = place;
  if (place >= marked_from_ + marked_.size()) {
    marked_.clear();
    marked_from_ = place;
  }
}

CallBlockReader::Verdict CoderBlockReader::read(std::string_view text, bool at_end) {
  while (true) {
    Found found = Found::kNo;
    switch (expect_) {
      case Expect::kFunctionName: {
        std::string name;
        found = read_name(text, name);
        if (found == Found::kYes) {
          calls_.push_back({std::move(name), Json::object()});
          parameter_places_.clear();
          expect_ = Expect::kParameter;
        }
        break;
      }
      case Expect::kParameterName:
        found = read_name(text, parameter_);
        if (found == Found::kYes) {
          expect_ = Expect::kValue;
          token_begin_ = pos_;
        }
        break;
      case Expect::kValue:
        found = find_value_end(text);
        break;
      default:
        found = between_tags(text, at_end);
        if (found == Found::kYes && expect_ == Expect::kAccepted) return Verdict::kAccepted;
        break;
    }
    if (found == Found::kNo) return Verdict::kMalformed;
    if (found == Found::kOpen) return at_end ? Verdict::kMalformed : Verdict::kOpen;
  }
}

CoderBlockReader::Found CoderBlockReader::read_name(std::string_view text, std::string& name) {
  pos_ = std::min(text.size(), text.find_first_of(">\n", pos_));
  if (pos_ == text.size()) return Found::kOpen;
  if (text[pos_] == '\n' || pos_ == token_begin_) return Found::kNo;
  name = trim(text.substr(token_begin_, pos_ - token_begin_));
  ++pos_;
  return Found::kYes;
}

CoderBlockReader::Found CoderBlockReader::find_value_end(std::string_view text) {
  for (size_t next = pos_;; ++next) {
    next = std::min(text.size(), text.find('<', next));
    if (!claim_value(pos_, next)) return Found::kNo;
    pos_ = next;
    if (pos_ == text.size()) return Found::kOpen;
    const bool begins_line = pos_ > token_begin_ && text[pos_ - 1] == '\n';
    TagAt found = tag_at(text, pos_, kParameterClose);
    size_t end = pos_;
    if (found == TagAt::kYes) {
      pos_ += kParameterClose.size();
    } else if (begins_line) {
      for (const std::string_view tag : {kParameterOpen, kFunctionClose, kCallClose}) found = std::max(found, tag_at(text, pos_, tag));
      --end;
    }
    if (found == TagAt::kOpen) return Found::kOpen;
    if (found == TagAt::kNo) continue;
    std::string_view value = text.substr(token_begin_, end - token_begin_);
    if (value.starts_with('\n')) value.remove_prefix(1);
    if (value.ends_with('\n')) value.remove_suffix(1);
    set_parameter(value);
    expect_ = Expect::kParameter;
    return Found::kYes;
  }
}

// The JSON object's own look-up by key goes through all of them.
void CoderBlockReader::set_parameter(std::string_view text) {
  ToolCall& call = calls_.back();
  auto& arguments = call.arguments.get_ref<Json::object_t&>();
  Json value = schemas_.value(call.name, parameter_, text);
  const auto [place, is_new] = parameter_places_.try_emplace(parameter_, arguments.size());
  if (is_new) {
    arguments.emplace_back(parameter_, std::move(value));
  } else {
    std::next(arguments.begin(), static_cast<std::ptrdiff_t>(place->second))->second = std::move(value);
  }
}

// White space, then one of the tags that may stand here.
CoderBlockReader::Found CoderBlockReader::between_tags(std::string_view text, bool at_end) {
  struct Way {
    std::string_view tag;
    Expect next;
  };
  static constexpr Way kBeforeFunction[] = {{kFunctionOpen, Expect::kFunctionName}};
  static constexpr Way kInFunction[] = {
      {kParameterOpen, Expect::kParameterName}, {kFunctionClose, Expect::kNextFunction}, {kCallClose, Expect::kAccepted}};
  static constexpr Way kBehindFunction[] = {
      {kFunctionOpen, Expect::kFunctionName}, {kCallClose, Expect::kAccepted}, {kCallOpen, Expect::kAccepted}};
  const std::span<const Way> ways = expect_ == Expect::kFunction    ? std::span<const Way>(kBeforeFunction)
                                    : expect_ == Expect::kParameter ? std::span<const Way>(kInFunction)
                                                                    : std::span<const Way>(kBehindFunction);
  pos_ = skip_white_space(text, pos_);
  if (at_end && pos_ == text.size() && expect_ == Expect::kNextFunction) {
    expect_ = Expect::kAccepted;
    end_ = pos_;
    return Found::kYes;
  }
  Found found = Found::kNo;
  for (const Way& way : ways) {
    const TagAt tag = tag_at(text, pos_, way.tag);
    if (tag == TagAt::kOpen) found = Found::kOpen;
    if (tag != TagAt::kYes) continue;
    if (way.tag != kCallOpen) pos_ += way.tag.size();  // which begins the next block
    token_begin_ = end_ = pos_;
    expect_ = way.next;
    return Found::kYes;
  }
  return found;
}

// Marks bytes of the block as read in a value. False: one of them was, by a block that was malformed.
bool CoderBlockReader::claim_value(size_t from, size_t to) {
  const size_t begin = place_ + from - marked_from_;
  const size_t end = place_ + to - marked_from_;
  if (marked_.size() < end) marked_.resize(end, '\0');
  const auto bytes = std::span(marked_).subspan(begin, end - begin);
  if (std::ranges::find(bytes, '\1') != bytes.end()) return false;
  std::ranges::fill(bytes, '\1');
  return true;
}

}  // namespace teapot::text
