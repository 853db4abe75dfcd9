#include "service/access_log/access_log.hpp"

#include <csignal>
#include <cstdio>
#include <memory>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <nlohmann/json.hpp>

#include "base/files/scratch_folder_fixture.hpp"
#include "base/time.hpp"
#include "io/fibers/loop.hpp"
#include "session/common/client_fixture.hpp"

namespace live::service::access_log {
namespace {

using Json = nlohmann::json;
using session::ClientKind;
using session::FakeClient;

// Keeps the lines written to it.
class Complaints final : public LogSink {
public:
    LogLevel level() const override { return LogLevel::info; }
    void write(LogLevel, std::string_view, std::string_view message, int) override { lines.emplace_back(message); }
    std::vector<std::string> lines;
};

// One virtual host serves all names except one.
class Vhosts final : public VhostNames {
public:
    std::string serving(const std::string& name) const override { return name == "stranger" ? name : "__defaultVhost__"; }
};

struct AccessLogTest : ::testing::Test {
    void open(const std::string& path) {
        access = std::make_unique<AccessLog>(path, rotation, vhosts, log);
        table.add_watcher(*access);
        access->open();
    }
    void open() { open(folder.file("access.log")); }
    // A client that joins, plays for two and a half seconds, and leaves.
    void visit(const Result<void>& ended = {}) {
        FakeClient client(table, ClientKind::rtmp_play, "cam", "id");
        client.now.sent_bytes = 1000;
        client.enter(io::now() - std::chrono::milliseconds(2500));
        client.now.sent_bytes = 5000;
        client.now.dropped_packets = 7;
        client.leave(ended);
    }
    std::vector<Json> lines(const std::string& name = "access.log") const {
        std::vector<Json> read;
        std::istringstream text(folder.read(name));
        for (std::string line; std::getline(text, line);)
            read.push_back(Json::parse(line));
        return read;
    }

    void write_all() {
        EXPECT_TRUE(access->wait_written(5s));
        access->on_tick();
    }

    ScratchFolder folder;
    Complaints complaints;
    io::LineWriter::Rotation rotation{};
    Log log{complaints, "main"};
    session::ClientTable table;
    Vhosts vhosts;
    std::unique_ptr<AccessLog> access;
};

TEST_F(AccessLogTest, WritesALineForAClientThatLeaves) {
    open();
    visit();
    write_all();
    ASSERT_EQ(lines().size(), 1U);
    const Json line = lines()[0];
    EXPECT_EQ(line["stream"], "cam");
    EXPECT_EQ(line["vhost"], "__defaultVhost__") << "the one that serves it";
    EXPECT_EQ(line["sent_bytes"], 4000) << "what was sent before it entered is not the stream's";
    EXPECT_EQ(line["dropped_packets"], 7);
    EXPECT_EQ(line["result"], "ended");
    EXPECT_EQ(line["reason"], "the client stopped");
    EXPECT_GE(line["duration"], 2.5);
    EXPECT_LT(line["duration"], 60.0);
    EXPECT_TRUE(complaints.lines.empty());
}

TEST_F(AccessLogTest, HasTheReasonOfTheEnd) {
    open();
    visit(Error(Errc::timed_out, "no media for 5000 ms"));
    visit(Error(Errc::closed, "the player has gone"));
    {
        FakeClient kicked(table, ClientKind::flv_play, "cam", "id");
        kicked.enter(io::now());
        kicked.entry.kick("an operator says so");
        kicked.leave(Error(Errc::system, "read"));
    }
    write_all();
    ASSERT_EQ(lines().size(), 3U);
    EXPECT_EQ(lines()[0]["result"], "failed");
    EXPECT_EQ(lines()[0]["reason"], "no media for 5000 ms");
    EXPECT_EQ(lines()[1]["result"], "ended");
    EXPECT_EQ(lines()[1]["reason"], "the player has gone");
    EXPECT_EQ(lines()[2]["result"], "ended");
    EXPECT_EQ(lines()[2]["reason"], "an operator says so");
}

TEST_F(AccessLogTest, WritesRefusedClientsWithoutCounters) {
    open();
    FakeClient client(table, ClientKind::fmle_publish, "cam", "id");
    client.now.received_bytes = 3073;
    client.entry.refuse(Error(Errc::denied, "not today"));
    write_all();
    ASSERT_EQ(lines().size(), 1U);
    const Json line = lines()[0];
    EXPECT_EQ(line["result"], "refused");
    EXPECT_EQ(line["reason"], "not today");
    EXPECT_EQ(line["role"], "publish");
    EXPECT_EQ(line["vhost"], "__defaultVhost__") << "the one that serves what it asked for, as for those who got in";
    EXPECT_EQ(line["duration"], 0.0);
    EXPECT_EQ(line["received_bytes"], 0);
}

TEST_F(AccessLogTest, OffWritesNothing) {
    open("off");
    visit();
    write_all();
    access->open();
    EXPECT_EQ(access->counters().lost, 0U);
    EXPECT_TRUE(complaints.lines.empty());
    struct stat about {};
    EXPECT_NE(::stat("off", &about), 0);
}

TEST_F(AccessLogTest, IsRotatedBySize) {
    rotation = {1000, 2};
    open();
    for (int i = 0; i < 20; ++i)
        visit();
    write_all();
    for (const char* name : {"access.log", "access.log.1", "access.log.2"}) {
        EXPECT_LE(folder.read(name).size(), 1000U) << name;
        EXPECT_GE(lines(name).size(), 2U) << name;
    }
    EXPECT_TRUE(folder.read("access.log.3").empty());
    EXPECT_TRUE(complaints.lines.empty());
}

TEST_F(AccessLogTest, WritesTheRestAtTheEnd) {
    open();
    visit();
    table = {};
    access.reset();
    EXPECT_EQ(lines().size(), 1U);
}

TEST_F(AccessLogTest, OpenFollowsAMovedFileAndLosesNothing) {
    open();
    visit();
    write_all();
    visit();
    ASSERT_EQ(std::rename(folder.file("access.log").c_str(), folder.file("access.log.1").c_str()), 0);
    access->open();
    visit();
    write_all();
    EXPECT_EQ(lines("access.log.1").size(), 2U);
    EXPECT_EQ(lines().size(), 1U);
    EXPECT_TRUE(complaints.lines.empty());
}

TEST_F(AccessLogTest, WarnsOnceAboutAnUnopenableFileAndRetries) {
    open(folder.file("logs/access.log"));
    visit();
    visit();
    write_all();
    EXPECT_EQ(access->counters().lost, 2U);
    ASSERT_EQ(complaints.lines.size(), 1U);
    EXPECT_EQ(complaints.lines[0], "the access log: cannot open " + folder.file("logs/access.log") +
                                       ": No such file or directory (2); lines are lost until a SIGUSR1 reopens it");
    ASSERT_EQ(::mkdir(folder.file("logs").c_str(), 0755), 0);
    access->open();
    visit();
    write_all();
    EXPECT_EQ(lines("logs/access.log").size(), 1U);
    EXPECT_EQ(complaints.lines.size(), 1U);
}

TEST_F(AccessLogTest, KeepsTheOldFileWhenReopenFails) {
    ASSERT_EQ(::mkdir(folder.file("logs").c_str(), 0755), 0);
    open(folder.file("logs/access.log"));
    ASSERT_EQ(std::rename(folder.file("logs").c_str(), folder.file("moved").c_str()), 0);
    access->open();
    visit();
    write_all();
    EXPECT_EQ(lines("moved/access.log").size(), 1U);
    ASSERT_EQ(complaints.lines.size(), 1U);
    EXPECT_NE(complaints.lines[0].find("writing to the old file"), std::string::npos);
}

TEST_F(AccessLogTest, WarnsOnceAboutAFullDiskAndBoundsMemory) {
    open("/dev/full");
    if (!complaints.lines.empty())
        GTEST_SKIP() << "no /dev/full here";
    while (access->counters().lost < 3)
        visit();
    EXPECT_LE(access->counters().memory_bytes, 4 * io::LineWriter::kWaitingBytesMax);
    EXPECT_FALSE(access->wait_written(100ms));
    access->on_tick();
    ASSERT_EQ(complaints.lines.size(), 1U) << complaints.lines[1];
    EXPECT_EQ(complaints.lines[0],
              "the access log /dev/full: it takes nothing, and what does not fit into memory is lost: write: No space left on "
              "device (28)");
}

// The disk has space for one line and part of the next, and later for everything.
TEST_F(AccessLogTest, ResumesAfterAFullDiskWithWholeLines) {
    open();
    visit();
    write_all();
    const std::size_t line_bytes = folder.read("access.log").size();
    ::rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
    const ::rlimit small{line_bytes * 2 + line_bytes / 2, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    for (int i = 0; i < 3; ++i)
        visit();
    EXPECT_FALSE(access->wait_written(200ms));
    EXPECT_EQ(folder.read("access.log").size(), small.rlim_cur);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, ignored);
    visit();
    write_all();
    EXPECT_EQ(lines().size(), 5U);
    EXPECT_EQ(access->counters().lost, 0U);
    ASSERT_EQ(complaints.lines.size(), 2U);
    EXPECT_NE(complaints.lines[1].find("it is written to again"), std::string::npos) << complaints.lines[1];
}

}  // namespace
}  // namespace live::service::access_log
