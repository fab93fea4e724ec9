#include "text/tool_call_parser.h"

#include <utility>

#include "text/tags.h"

namespace teapot::text {

std::vector<ToolCallParser::Part> ToolCallParser::push(std::string_view piece) {
  buffer_ += piece;
  return read(false);
}

std::vector<ToolCallParser::Part> ToolCallParser::finish() {
  std::vector<Part> parts = read(true);
  content_.text(std::string_view(buffer_).substr(begin_), parts.back().content);
  content_.finish(parts.back().content);
  buffer_.clear();
  begin_ = 0;
  return parts;
}

std::vector<ToolCallParser::Part> ToolCallParser::read(bool at_end) {
  std::vector<Part> parts(1);
  while (true) {
    if (in_block_) {
      if (!read_block(parts.back(), at_end)) break;
      if (!parts.back().calls.empty()) parts.emplace_back();
      continue;
    }
    const size_t tag = find_tag(buffer_, begin_, kCallOpen);
    content_.text(std::string_view(buffer_).substr(begin_, tag - begin_), parts.back().content);
    begin_ = tag;
    if (tag_at(buffer_, begin_, kCallOpen) != TagAt::kYes) break;
    begin_ += kCallOpen.size();
    in_block_ = true;
    reader_->begin(dropped_ + begin_);
  }
  if (begin_ > buffer_.size() / 2) {  // not each time: that would be quadratic in a long block
    buffer_.erase(0, begin_);
    dropped_ += std::exchange(begin_, 0);
  }
  return parts;
}

// False: it depends on what comes.
bool ToolCallParser::read_block(Part& part, bool at_end) {
  switch (reader_->read(std::string_view(buffer_).substr(begin_), at_end)) {
    case CallBlockReader::Verdict::kOpen:
      return false;
    case CallBlockReader::Verdict::kAccepted:
      content_.call(part.content);
      part.calls = std::move(reader_->calls());
      begin_ += reader_->end();
      break;
    case CallBlockReader::Verdict::kMalformed:
      content_.text(kCallOpen, part.content);
      break;
  }
  in_block_ = false;
  return true;
}

}  // namespace teapot::text
