#include "io/files/folder_watch.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::io {
namespace {

namespace fs = std::filesystem;

class FolderWatchTest : public testing::Test {
protected:
    void SetUp() override { fs::create_directories(folder_); }
    void TearDown() override { fs::remove_all(folder_); }
    void write(const std::string& name) const { std::ofstream(folder_ / name) << "text"; }

    const fs::path folder_ = fs::temp_directory_path() / ("live_folder_watch_test." + std::to_string(::getpid()));
    std::unique_ptr<Loop> loop_ = MUST(Loop::create());
};

TEST_F(FolderWatchTest, WakesForItsFilesOnly) {
    const auto watch = MUST(FolderWatch::open(folder_, {"a.conf", "..data"}));
    write("other");
    EXPECT_EQ(watch->wait(Deadline::after(std::chrono::milliseconds(5))).code(), Errc::timed_out);
    write("a.conf");
    EXPECT_TRUE(watch->wait(Deadline::after(kSoon)).ok());
    EXPECT_EQ(watch->wait(Deadline::after(std::chrono::milliseconds(5))).code(), Errc::timed_out);
    fs::rename(folder_ / "other", folder_ / "a.conf");  // as editors replace a file
    EXPECT_TRUE(watch->wait(Deadline::after(kSoon)).ok());
    fs::create_symlink("x", folder_ / "..data_new");
    fs::rename(folder_ / "..data_new", folder_ / "..data");  // as a mounted volume replaces its files
    EXPECT_TRUE(watch->wait(Deadline::after(kSoon)).ok());
}

TEST_F(FolderWatchTest, WakesAWaitingFiber) {
    const auto watch = MUST(FolderWatch::open(folder_, {"a.conf"}));
    bool woken = false;
    Scope scope("test");
    MUST(scope.start("waits", [&](Deadline forever) { woken = watch->wait(forever).ok(); }));
    static_cast<void>(yield(Deadline::never()));
    EXPECT_FALSE(woken);
    write("a.conf");
    wait_until([&] { return woken; });
    MUST(scope.stop(Deadline::after(kSoon)));
}

TEST_F(FolderWatchTest, ReportsAMissingFolder) {
    EXPECT_FALSE(FolderWatch::open(folder_ / "none", {"a"}).ok());
    const auto watch = MUST(FolderWatch::open(folder_, {"a.conf"}));
    fs::remove_all(folder_);
    EXPECT_EQ(watch->wait(Deadline::after(kSoon)).code(), Errc::closed);
}

}  // namespace
}  // namespace live::io
