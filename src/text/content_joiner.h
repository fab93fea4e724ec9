// Puts the text around a reply's calls together as the reply's content, while it grows.
//
// White space next to a call is dropped, and the texts before, between and after calls are joined by one line break. So white
// space is held until it is known what comes after it; everything else passes at once.
#pragma once

#include <string>
#include <string_view>

#include "text/tags.h"

namespace teapot::text {

class ContentJoiner {
 public:
  // The reasoning was ended by a call: the first </think> that comes as text is a leftover and is dropped. To be said before that text.
  void drop_think_close() { drop_think_close_ = true; }

  // Appends to out what of the text can be sent.
  void text(std::string_view text, std::string& out);

  // A call (or several of one block) stands here.
  void call(std::string& out);

  void finish(std::string& out);

 private:
  void pass(std::string_view text, std::string& out);

  bool drop_think_close_ = false;
  std::string tag_;          // what may become the </think> to be dropped
  bool after_call_ = false;  // a call stands before this part
  bool part_has_text_ = false;
  bool any_text_ = false;  // something was sent
  SpaceHold space_;
};

}  // namespace teapot::text
