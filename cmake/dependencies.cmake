# Libraries from Debian. Those without CMake configuration come through pkg-config as teapot_<name>.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(PkgConfig REQUIRED)

function(teapot_pkg name package)
  pkg_check_modules(${name} REQUIRED IMPORTED_TARGET ${package})
  add_library(teapot_${name} INTERFACE)
  target_link_libraries(teapot_${name} INTERFACE PkgConfig::${name})
endfunction()

teapot_pkg(hwloc hwloc)
teapot_pkg(pcre2 libpcre2-8)
teapot_pkg(utf8proc libutf8proc)
teapot_pkg(edit libedit)
teapot_pkg(prometheus prometheus-cpp-core)
teapot_pkg(sqlite sqlite3)
teapot_pkg(yaml yaml-cpp)
teapot_pkg(zlib zlib)

add_library(teapot_beast INTERFACE)
target_link_libraries(teapot_beast INTERFACE Boost::headers Threads::Threads)
target_compile_definitions(teapot_beast INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_BEAST_USE_STD_STRING_VIEW)
if(TEAPOT_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(teapot_beast INTERFACE -Wno-tsan)  # Asio counts references with fences, which ThreadSanitizer does not see
endif()

# Reports carry the chart library in themselves.
find_file(TEAPOT_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js REQUIRED)
