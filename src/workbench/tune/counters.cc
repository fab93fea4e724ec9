#include "workbench/tune/counters.h"

#include <charconv>
#include <cmath>

#include "workbench/tune/value_text.h"

namespace teapot::workbench {
namespace {

bool is_name(char c) { return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' || c == ':'; }

// As a word of its own.
bool names(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !is_name(text[at - 1])) && (end == text.size() || !is_name(text[end]))) return true;
  }
  return false;
}

// Recursive descent; a value that isn't known (a division by 0) makes all that it is in unknown.
class Formula {
 public:
  // counters: null where only the form is looked at; every name is 1 then.
  Formula(std::string_view text, const Counters* counters) : text_(text), counters_(counters) {}

  Result<std::optional<double>> run() {
    TEAPOT_TRY(const std::optional<double> value, sum(0));
    if (!at_end()) return wrong();
    return value;
  }

 private:
  static constexpr int kMostBrackets = 32;

  std::unexpected<Error> wrong() const {
    return fail(ErrorKind::kInvalid, "'{}': no formula over counters; expected names, numbers, + - * / and brackets", text_);
  }
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }
  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Result<std::optional<double>> sum(int depth) {
    TEAPOT_TRY(std::optional<double> value, product(depth));
    for (;;) {
      const bool plus = take('+');
      if (!plus && !take('-')) return value;
      TEAPOT_TRY(const std::optional<double> more, product(depth));
      if (value && more) value = plus ? *value + *more : *value - *more;
      if (!more) value.reset();
    }
  }
  Result<std::optional<double>> product(int depth) {
    TEAPOT_TRY(std::optional<double> value, factor(depth));
    for (;;) {
      const bool times = take('*');
      if (!times && !take('/')) return value;
      TEAPOT_TRY(const std::optional<double> by, factor(depth));
      if (!value || !by || (!times && *by == 0)) {
        value.reset();
      } else {
        value = times ? *value * *by : *value / *by;
      }
    }
  }
  Result<std::optional<double>> factor(int depth) {
    if (take('(')) {
      if (depth >= kMostBrackets) return wrong();
      TEAPOT_TRY(const std::optional<double> value, sum(depth + 1));
      if (!take(')')) return wrong();
      return value;
    }
    if (at_end()) return wrong();
    if (is_digit(text_[at_])) {
      double number = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
      if (error != std::errc{}) return wrong();
      at_ = static_cast<size_t>(end - text_.data());
      return number;
    }
    const size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    if (at_ == begin) return wrong();
    if (counters_ == nullptr) return 1.0;
    const std::string_view name = text_.substr(begin, at_ - begin);
    const auto found = counters_->find(name);
    if (found == counters_->end()) return fail(ErrorKind::kNotFound, "{}: the server has no such counter", name);
    return found->second;
  }

  std::string_view text_;
  const Counters* counters_;
  size_t at_ = 0;
};

}  // namespace

Counters parse_counters(std::string_view text) {
  Counters counters;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end), " \r");
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    size_t name_end = 0;
    while (name_end < line.size() && is_name(line[name_end])) ++name_end;
    if (name_end == 0) continue;
    std::string_view rest = line.substr(name_end);
    if (rest.starts_with('{')) {
      const size_t close = rest.rfind('}');
      if (close == rest.npos) continue;
      rest.remove_prefix(close + 1);
    }
    rest = trimmed(rest);
    double value = 0;
    const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    const bool whole = stop == rest.data() + rest.size() || *stop == ' ';  // a time may follow
    if (error == std::errc{} && whole && std::isfinite(value)) counters[std::string(line.substr(0, name_end))] += value;
  }
  return counters;
}

Counters growth(const Counters& before, const Counters& after) {
  Counters grown;
  for (const auto& [name, value] : after) {
    const auto old = before.find(name);
    grown[name] = value - (old == before.end() ? 0 : old->second);
  }
  return grown;
}

Result<std::optional<double>> evaluate(std::string_view formula, const Counters& counters) { return Formula(formula, &counters).run(); }
bool is_formula(std::string_view text) { return Formula(text, nullptr).run().has_value(); }

std::optional<Ratio> ratio_in(std::string_view formula) {
  const size_t slash = formula.find('/');
  if (slash == formula.npos) return std::nullopt;
  const Ratio ratio = {trimmed(formula.substr(0, slash)), trimmed(formula.substr(slash + 1))};
  if (!is_formula(ratio.above) || !is_formula(ratio.below) || ratio.below.contains('/')) return std::nullopt;
  return ratio;
}

Counters worth_keeping(const Counters& grown, std::string_view named) {
  constexpr size_t kMost = 200;
  const auto kept = [&](const auto& wanted) {
    Counters out;
    for (const auto& counter : grown) {
      if (names(named, counter.first) || wanted(counter)) out.insert(counter);
    }
    return out;
  };
  Counters changed = kept([](const auto& counter) { return counter.second != 0; });
  if (changed.size() <= kMost) return changed;
  return kept([](const auto& counter) {
    return counter.first.contains("draft") || counter.first.contains("accept") || counter.first.ends_with("tokens_total");
  });
}

}  // namespace teapot::workbench
