#include "workbench/bench/http_reply.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

namespace teapot::workbench {

namespace http = boost::beast::http;
using boost::system::error_code;

namespace {

constexpr uint32_t kHeadBytes = 64 * 1024;

}  // namespace

class HttpReplyParser::Parser : public http::basic_parser<false> {
 public:
  Parser() {
    header_limit(kHeadBytes);
    body_limit(boost::none);  // the reader of the body has a bound of its own
    eager(true);
  }

  // 101 is final: what follows it is no HTTP.
  bool interim() const { return is_done() && code / 100 == 1 && code != 101; }

  const Body* body = nullptr;
  int code = 0;
  std::string type;

 private:
  void on_request_impl(http::verb, boost::beast::string_view, boost::beast::string_view, int, error_code&) override {}
  void on_response_impl(int status, boost::beast::string_view, int, error_code&) override { code = status; }
  void on_field_impl(http::field name, boost::beast::string_view, boost::beast::string_view value, error_code&) override {
    if (name == http::field::content_type) type.assign(value.data(), value.size());
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(boost::beast::string_view piece, error_code&) override {
    (*body)({piece.data(), piece.size()});
    return piece.size();
  }
  void on_chunk_header_impl(uint64_t, boost::beast::string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(uint64_t, boost::beast::string_view piece, error_code&) override {
    (*body)({piece.data(), piece.size()});
    return piece.size();
  }
  void on_finish_impl(error_code&) override {}
};

HttpReplyParser::HttpReplyParser() : parser_(std::make_unique<Parser>()) {}
HttpReplyParser::~HttpReplyParser() = default;

Status HttpReplyParser::feed(std::string_view bytes, const Body& body) {
  parser_->body = &body;
  if (!unread_.empty()) {
    unread_ += bytes;
    bytes = unread_;
  }
  error_code error;
  while (!bytes.empty() && !parser_->is_done()) {
    const size_t used = parser_->put(boost::asio::buffer(bytes), error);
    bytes.remove_prefix(used);
    if (error == http::error::need_more) {
      error = {};
      break;
    }
    if (!error && parser_->interim()) {
      parser_ = std::make_unique<Parser>();
      parser_->body = &body;
      continue;
    }
    if (error) return fail(ErrorKind::kInvalid, "not a reply that HTTP knows: {}", error.message());
    if (used == 0) break;
  }
  unread_ = std::string(bytes);
  return {};
}

bool HttpReplyParser::end_of_stream() {
  const Body nothing = [](std::string_view) {};
  parser_->body = &nothing;
  if (!parser_->got_some() || parser_->is_done()) return parser_->is_done();
  error_code error;
  parser_->put_eof(error);
  return !error && parser_->is_done();
}

bool HttpReplyParser::has_head() const { return parser_->is_header_done(); }
int HttpReplyParser::status() const { return parser_->code; }
const std::string& HttpReplyParser::content_type() const { return parser_->type; }
bool HttpReplyParser::done() const { return parser_->is_done(); }
bool HttpReplyParser::reusable() const { return parser_->is_done() && parser_->keep_alive() && unread_.empty(); }

}  // namespace teapot::workbench
