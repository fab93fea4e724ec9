// json.dumps() of Python, byte for byte.
#include <cmath>
#include <list>

#include "text/jinja/characters.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"

namespace teapot::text::jinja {
namespace {

class JsonWriter {
 public:
  JsonWriter(Heap& heap, const JsonStyle& style) : heap_(heap), style_(style) {}

  std::string run(const Value& value) {
    write(value);
    return std::move(out_);
  }

 private:
  void write(const Value& value) {
    heap_.step();
    heap_.expect_room(out_.size());
    switch (value.type()) {
      case Type::kNone:
      case Type::kBool:
      case Type::kInt:
      case Type::kFloat:
        out_ += scalar(value);
        break;
      case Type::kText:
        write_text(value.as_text());
        break;
      case Type::kList:
      case Type::kTuple:
        write_list(value.as_sequence().items);
        break;
      case Type::kDict:
        write_dict(value.as_dict());
        break;
      default:
        raise_runtime("Object of type {} is not JSON serializable", type_name(value));
    }
  }

  static std::string scalar(const Value& value) {
    switch (value.type()) {
      case Type::kNone:
        return "null";
      case Type::kBool:
        return value.as_integer() != 0 ? "true" : "false";
      case Type::kInt:
        return std::to_string(value.as_integer());
      default:
        break;
    }
    if (std::isnan(value.as_real())) return "NaN";
    if (std::isinf(value.as_real())) return value.as_real() < 0 ? "-Infinity" : "Infinity";
    return repr_real(value.as_real());
  }

  void write_text(std::string_view text) {
    heap_.step_over(text);
    out_ += '"';
    for (size_t at = 0; at < text.size();) {
      const char c = text[at];
      const size_t bytes = character_bytes(text.substr(at));
      if (const size_t letter = std::string_view("\"\\\b\f\n\r\t").find(c); letter != std::string_view::npos) {
        out_ += {'\\', "\"\\bfnrt"[letter]};
      } else if (static_cast<uint8_t>(c) < 0x20 || (style_.ensure_ascii && (static_cast<uint8_t>(c) >= 0x7F))) {
        write_escape(decode(text.substr(at, bytes))[0]);
      } else {
        out_ += text.substr(at, bytes);
      }
      at += bytes;
    }
    out_ += '"';
  }

  void write_escape(uint32_t code) {
    if (code >= 0x10000) {
      out_ += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((code - 0x10000) >> 10), 0xDC00 + ((code - 0x10000) & 0x3FF));
    } else {
      out_ += fmt::format("\\u{:04x}", code);
    }
  }

  void line_break() {
    if (!style_.indent) return;
    heap_.expect_room(level_ * style_.indent->size());
    out_ += '\n';
    for (size_t i = 0; i < level_; ++i) out_ += *style_.indent;
  }

  void write_list(std::span<const Value> items) {
    if (items.empty()) {
      out_ += "[]";
      return;
    }
    out_ += '[';
    ++level_;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_ += style_.item_separator;
      line_break();
      write(items[i]);
    }
    --level_;
    line_break();
    out_ += ']';
  }

  void write_dict(const Dict& dict) {
    if (dict.entries.empty()) {
      out_ += "{}";
      return;
    }
    // A list sorts stably and stays whole whatever the comparison says or throws.
    std::list<Entry> entries(dict.entries.begin(), dict.entries.end());
    if (style_.sort_keys) entries.sort([this](const Entry& a, const Entry& b) { return less(heap_, a.key, b.key); });
    out_ += '{';
    ++level_;
    bool is_first = true;
    for (const auto& [key, value] : entries) {
      if (!is_first) out_ += style_.item_separator;
      is_first = false;
      line_break();
      if (key.is_text()) {
        write_text(key.as_text());
      } else if (key.is_none() || key.is_number()) {
        write_text(scalar(key));
      } else {
        raise_runtime("keys must be str, int, float, bool or None, not {}", type_name(key));
      }
      out_ += style_.key_separator;
      write(value);
    }
    --level_;
    line_break();
    out_ += '}';
  }

  Heap& heap_;
  const JsonStyle& style_;
  std::string out_;
  size_t level_ = 0;
};

}  // namespace

std::string to_json(Heap& heap, const Value& value, const JsonStyle& style) { return JsonWriter(heap, style).run(value); }

}  // namespace teapot::text::jinja
