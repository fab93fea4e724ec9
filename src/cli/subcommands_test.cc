#include "cli/subcommands.h"

#include <gtest/gtest.h>

namespace teapot::cli {
namespace {

struct Commands {
  CLI::App app;
  int users = 0, files = 0;
  CLI::App* bench = app.add_subcommand("bench");
  CLI::App* matrix = bench->add_subcommand("matrix");

  Commands() {
    bench->add_option("--users", users);
    matrix->add_option("--files", files);
    refuse_options_before_subcommands(*bench);
  }
};

TEST(Subcommands, HaveTheirOptionsBehindThem) {
  Commands commands;
  commands.app.parse("bench matrix --files 2");
  EXPECT_EQ(commands.files, 2);
}

TEST(Subcommands, TheCommandAloneKeepsItsOptions) {
  Commands commands;
  commands.app.parse("bench --users 3");
  EXPECT_EQ(commands.users, 3);
}

TEST(Subcommands, AnOptionBeforeOneIsNamed) {
  Commands commands;
  try {
    commands.app.parse("bench --users 3 matrix --files 2");
    FAIL() << "taken";
  } catch (const CLI::ValidationError& error) {
    EXPECT_STREQ(error.what(), "bench matrix: found --users before 'matrix'; expected its own options, behind it");
  }
}

}  // namespace
}  // namespace teapot::cli
