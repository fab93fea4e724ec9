#include "workbench/web_page.h"

#include <gtest/gtest.h>

namespace teapot::workbench {
namespace {

TEST(WebPage, HoldsItsDataAndScriptsAndNothingFromOutsideEndsThem) {
  const WebPage page{.title = "a <b> & 'c'",
                     .body = "<h1>" + escape_html("x\"<y>") + "</h1>",
                     .data = Json{{"text", "</script><!--"}},
                     .scripts = {"chart.min.js"}};
  const std::string html = to_html(page);
  EXPECT_NE(html.find("<title>a &lt;b&gt; &amp; &#39;c&#39;</title>"), html.npos);
  EXPECT_NE(html.find("<h1>x&quot;&lt;y&gt;</h1>"), html.npos);
  EXPECT_NE(html.find(R"({"text":"\u003c/script>\u003c!--"})"), html.npos);
  EXPECT_NE(html.find("Chart.js v3"), html.npos);
  EXPECT_EQ(html.find("src=\"http"), html.npos) << "the file needs nothing from elsewhere";
}

}  // namespace
}  // namespace teapot::workbench
