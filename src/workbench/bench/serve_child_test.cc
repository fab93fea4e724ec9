// A child in the place of `teapot serve`: a shell script that does what the test wants.
#include "workbench/bench/serve_child.h"

#include <csignal>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/file.h"
#include "temporary_folder.h"
#include "workbench/bench/stub_server.h"

namespace teapot::workbench {
namespace {

class Child : public ::testing::Test {
 protected:
  // The script's $port_file is where the port goes.
  ServeChildOptions script(const std::string& text) {
    const std::string path = folder_ / "script";
    EXPECT_TRUE(write_file(path, "#!/bin/sh\nport_file=$6\n" + text));
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    ServeChildOptions options;
    options.program = path;
    options.model = "a-model";
    options.ready_timeout = std::chrono::seconds(30);
    return options;
  }

  testing::TemporaryFolder folder_;
};

TEST_F(Child, ThatEndsAtOnceIsAnErrorWithItsWords) {
  const auto child = ServeChild::start(script("echo \"error: $2: no such model\" >&2; exit 2\n"));
  ASSERT_FALSE(child);
  EXPECT_NE(child.error().message.find("exit code 2"), std::string::npos) << child.error().message;
  EXPECT_NE(child.error().message.find("error: a-model: no such model"), std::string::npos) << child.error().message;
}

TEST_F(Child, ThatCannotBeStartedIsAnError) {
  ServeChildOptions options = script("");
  options.program = "/nowhere/teapot";
  EXPECT_FALSE(ServeChild::start(options));
}

TEST_F(Child, ThatIsNeverReadyIsEnded) {
  ServeChildOptions options = script("echo loading >&2; exec sleep 600\n");
  options.ready_timeout = std::chrono::seconds(1);
  const auto child = ServeChild::start(options);
  ASSERT_FALSE(child);
  EXPECT_NE(child.error().message.find("not ready after 1 s"), std::string::npos) << child.error().message;
  EXPECT_NE(child.error().message.find("loading"), std::string::npos) << child.error().message;
}

TEST_F(Child, TheStopFlagEndsTheWaiting) {
  const std::atomic<bool> stop = true;
  ServeChildOptions options = script("exec sleep 600\n");
  options.stop = &stop;
  EXPECT_FALSE(ServeChild::start(options));
}

// What answers /health is a stub in this process; the script gives its port away.
TEST_F(Child, ThatIsReadyLivesUntilItIsLetGo) {
  const auto stub = StubServer::start([](uint32_t) { return StubScript{}; });
  ASSERT_TRUE(stub);
  pid_t pid = 0;
  {
    const auto child =
        ServeChild::start(script(fmt::format("echo ready >&2; echo {} > $port_file; exec sleep 600\n", (*stub)->endpoint().port)));
    ASSERT_TRUE(child) << child.error().message;
    pid = (*child)->pid();
    EXPECT_EQ((*child)->endpoint().port, (*stub)->endpoint().port);
    EXPECT_EQ((*child)->ended(), "");
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_NE(kill(pid, 0), 0) << "it has ended";
}

TEST_F(Child, ThatDiesIsNoticed) {
  const auto stub = StubServer::start([](uint32_t) { return StubScript{}; });
  ASSERT_TRUE(stub);
  const auto child = ServeChild::start(script(fmt::format("echo {} > $port_file; exec sleep 600\n", (*stub)->endpoint().port)));
  ASSERT_TRUE(child) << child.error().message;
  kill((*child)->pid(), SIGKILL);
  while ((*child)->ended().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ((*child)->ended(), "signal 9");
}

}  // namespace
}  // namespace teapot::workbench
