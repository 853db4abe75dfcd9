#include "service/ffmpeg/child_log.hpp"

#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/files/scratch_folder_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::service::ffmpeg {
namespace {

class ChildLogTest : public testing::Test {
protected:
    static void flush(ChildLog& log) { MUST(log.flush(io::Deadline::after(io::kSoon))); }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    ScratchFolder folder_;
};

TEST_F(ChildLogTest, EachRunOverwritesTheFile) {
    ChildLog first(folder_.file("a.log"));
    first.add("one");
    flush(first);
    first.add("two");
    flush(first);
    EXPECT_EQ(folder_.read("a.log"), "one\ntwo\n");
    ChildLog second(folder_.file("a.log"));
    second.add("three");
    flush(second);
    EXPECT_EQ(folder_.read("a.log"), "three\n");
}

TEST_F(ChildLogTest, HasALimit) {
    ChildLog log(folder_.file("a.log"));
    const std::string line(1000, 'x');
    for (std::size_t i = 0; i < ChildLog::kBytesMax / 500; ++i) {
        log.add(line);
        if (i % 10 == 0)
            flush(log);
    }
    flush(log);
    const auto bytes = std::filesystem::file_size(folder_.file("a.log"));
    EXPECT_GE(bytes, ChildLog::kBytesMax);
    EXPECT_LT(bytes, ChildLog::kBytesMax + 2000);
    EXPECT_NE(folder_.read("a.log").find("the rest is left out"), std::string::npos);
}

TEST_F(ChildLogTest, LeavesLinesOutThatComeTooFast) {
    ChildLog log(folder_.file("a.log"));
    for (std::size_t i = 0; i < ChildLog::kWaitingMax; ++i)
        log.add("a line of ten");
    flush(log);
    EXPECT_LE(std::filesystem::file_size(folder_.file("a.log")), ChildLog::kWaitingMax);
}

TEST_F(ChildLogTest, ReportsAFolderThatDoesNotExistOnce) {
    ChildLog log(folder_.file("missing/a.log"));
    log.add("one");
    EXPECT_EQ(log.flush(io::Deadline::after(io::kSoon)).code(), Errc::system);
    log.add("two");
    flush(log);
    ChildLog none("");
    none.add("one");
    flush(none);
}

}  // namespace
}  // namespace live::service::ffmpeg
