// What a path is called.
#pragma once

#include <string>

namespace teapot {

// "b" of "a/b" and of "a/b/".
std::string name_of_path(const std::string& path);

// The same without ".gguf".
std::string name_of_model(const std::string& path);

}  // namespace teapot
