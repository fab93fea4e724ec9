// Strings that occur again and again, kept once and known by number.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace teapot::workbench::trace {

using Name = uint32_t;

class Names {
 public:
  Names() = default;
  Names(const Names& other) : texts_(other.texts_) {
    for (size_t i = 0; i < texts_.size(); ++i) numbers_.emplace(texts_[i], static_cast<Name>(i));
  }
  Names(Names&&) noexcept = default;
  Names& operator=(const Names& other) {
    if (this != &other) *this = Names(other);
    return *this;
  }
  Names& operator=(Names&&) noexcept = default;
  ~Names() = default;

  Name of(std::string_view text) {
    const auto found = numbers_.find(text);
    if (found != numbers_.end()) return found->second;
    const std::string& kept = texts_.emplace_back(text);
    const auto number = static_cast<Name>(texts_.size() - 1);
    numbers_.emplace(kept, number);
    return number;
  }

  const std::string& text(Name name) const { return texts_[name]; }
  size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // does not move what it holds
  std::unordered_map<std::string_view, Name> numbers_;
};

}  // namespace teapot::workbench::trace
