#include "workbench/bench/child_process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "temporary_folder.h"
#include "workbench/bench/server_command.h"

namespace teapot::workbench {
namespace {

std::string wait_for_end(ChildProcess& process) {
  std::string how;
  while ((how = process.ended()).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return how;
}

TEST(ChildProcess, SaysHowItEndedAndWhatItSaid) {
  auto process = ChildProcess::start({"sh", "-c", "echo out; echo err >&2; exit 3"});
  ASSERT_TRUE(process) << process.error().message;
  EXPECT_EQ(wait_for_end(**process), "exit code 3");
  EXPECT_EQ((*process)->log_tail(), "out\nerr\n");
}

TEST(ChildProcess, AProgramThatIsNotThereEndsAtOnce) {
  auto process = ChildProcess::start({"/no/such/program"});
  ASSERT_TRUE(process) << process.error().message;
  EXPECT_EQ(wait_for_end(**process), "exit code 127");
  EXPECT_NE((*process)->log_tail().find("No such file"), std::string::npos);
}

TEST(ChildProcess, ReceivesVariablesBeforeThoseOfOurOwn) {
  auto process = ChildProcess::start({"sh", "-c", "echo $HOME, $TEAPOT_TEST"}, {{"HOME", "elsewhere"}, {"TEAPOT_TEST", "a=b"}});
  ASSERT_TRUE(process) << process.error().message;
  EXPECT_EQ(wait_for_end(**process), "exit code 0");
  EXPECT_EQ((*process)->log_tail(), "elsewhere, a=b\n");
}

TEST(ChildProcess, EndsWithTheObjectAndTakesItsOwnChildrenAlong) {
  const testing::TemporaryFolder folder;
  const std::string file = folder / "ended";
  {
    const std::string grandchild = "trap 'touch " + file + "; exit' TERM; echo ready; while :; do sleep 0.02; done";
    auto process = ChildProcess::start({"sh", "-c", "(" + grandchild + ") & wait"});
    ASSERT_TRUE(process) << process.error().message;
    while ((*process)->log_tail().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE((*process)->ended().empty());
  }
  for (int i = 0; i < 2000 && !std::filesystem::exists(file); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(ChildProcess, ALogThatAGrandchildKeepsOpenHoldsNobodyUp) {
  auto process = ChildProcess::start({"sh", "-c", "echo first; setsid sleep 3 & exit 0"});
  ASSERT_TRUE(process) << process.error().message;
  EXPECT_EQ(wait_for_end(**process), "exit code 0");
  EXPECT_EQ((*process)->log_tail(), "first\n");
}

bool alive(pid_t pid) { return kill(pid, 0) == 0; }

std::vector<pid_t> pids_in(const std::string& file, size_t count) {
  std::vector<pid_t> pids;
  for (int i = 0; i < 2000 && pids.size() < count; ++i) {
    pids.clear();
    std::ifstream in(file);
    for (pid_t pid = 0; in >> pid;) pids.push_back(pid);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return pids;
}

// As when the tuner gets kill -9: nobody is left who could end anything, but for the supervisor.
TEST(ChildProcess, NothingIsLeftWhenWeAreKilled) {
  const testing::TemporaryFolder folder;
  const std::string file = folder / "pids";
  const pid_t starter = fork();
  if (starter == 0) {
    auto process =
        ChildProcess::start({"sh", "-c", "echo $$ >> " + file + "; setsid sh -c 'echo $$ >> " + file + "; exec sleep 1000' & sleep 1000"});
    if (!process) _exit(1);
    while (true) pause();
  }
  const std::vector<pid_t> pids = pids_in(file, 2);
  ASSERT_EQ(pids.size(), 2u);
  for (const pid_t pid : pids) EXPECT_TRUE(alive(pid));
  kill(starter, SIGKILL);
  waitpid(starter, nullptr, 0);
  for (const pid_t pid : pids) {
    for (int i = 0; i < 4000 && alive(pid); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_FALSE(alive(pid)) << pid;
  }
}

TEST(ChildProcess, ItsPidIsThePrograms) {
  auto process = ChildProcess::start({"sh", "-c", "echo $$; sleep 1000"});
  ASSERT_TRUE(process) << process.error().message;
  while ((*process)->log_tail().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ((*process)->log_tail(), std::to_string((*process)->pid()) + "\n");
  kill((*process)->pid(), SIGKILL);
  EXPECT_EQ(wait_for_end(**process), "signal 9");
}

TEST(ChildProcess, DoesNotInheritWhatIsUnsetAndKeepsAWholeLog) {
  const testing::TemporaryFolder folder;
  const std::string file = folder / "log";
  setenv("TEAPOT_TEST_INHERITED", "yes", 1);
  {
    ChildOptions options;
    options.unset = {"TEAPOT_TEST_INHERITED"};
    options.log_file = file;
    auto process = ChildProcess::start({"sh", "-c", "echo \"<$TEAPOT_TEST_INHERITED>\"; seq 1 1000"}, {}, options);
    ASSERT_TRUE(process) << process.error().message;
    EXPECT_EQ(wait_for_end(**process), "exit code 0");
  }
  unsetenv("TEAPOT_TEST_INHERITED");
  const auto log = read_file(file);
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_TRUE(log->starts_with("<>\n1\n2\n")) << log->substr(0, 20);
  EXPECT_TRUE(log->ends_with("\n1000\n"));
}

MatrixServer server(std::vector<std::string> command) {
  MatrixServer description;
  description.name = "s";
  description.url = "http://127.0.0.1:9";  // the discard port: nobody answers
  description.command = std::move(command);
  description.start_timeout = std::chrono::seconds(1);
  return description;
}

TEST(ServerCommand, ACommandThatEndsIsShownWithItsLastWords) {
  const auto started = start_server(server({"sh", "-c", "echo no such model; exit 2"}), nullptr);
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().message.find("sh has ended (exit code 2) before it was ready:\nno such model"), std::string::npos)
      << started.error().message;
}

TEST(ServerCommand, OneThatNeverAnswersIsGivenUp) {
  const auto started = start_server(server({"sleep", "1000"}), nullptr);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().kind, ErrorKind::kBusy);
  EXPECT_NE(started.error().message.find("http://127.0.0.1:9/health does not answer 200 after 1 s"), std::string::npos)
      << started.error().message;
}

TEST(ServerCommand, WaitingEndsWhenItIsStopped) {
  const std::atomic<bool> stop = true;
  const auto started = start_server(server({"sleep", "1000"}), &stop);
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().message.find("stopped"), std::string::npos);
}

}  // namespace
}  // namespace teapot::workbench
