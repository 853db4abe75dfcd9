#include "session/content/open_files.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::session::content {
namespace {

namespace fs = std::filesystem;
using io::kSoon;

struct OpenFilesTest : ::testing::Test {
    OpenFilesTest() {
        char name[] = "/tmp/live_open_files_test.XXXXXX";
        folder = ::mkdtemp(name);
        write("a.txt", "hello");
    }
    ~OpenFilesTest() override { fs::remove_all(folder); }
    void write(const std::string& path, const std::string& text) const {
        std::ofstream(folder + "/" + path, std::ios::binary) << text;
    }
    Result<ServedFileRef> open(const std::string& path, std::size_t content_max = OpenFiles::kPlainContentMax) {
        return files.open(folder, path, content_max, now, io::Deadline::after(kSoon));
    }
    // The system cannot open a file without waiting on every file system: then nothing is kept open.
    bool keeps_open() const { return io::File::try_open_below(folder, "a.txt").ok(); }
    static std::string text_of(const ServedFile& file) {
        return std::string(as_text(MUST(file.file().read(0, 1000, io::Deadline::after(kSoon)))));
    }

    std::unique_ptr<io::Loop> loop = *io::Loop::create();
    std::string folder;
    OpenFiles files;
    TimePoint now{1h};
};

TEST_F(OpenFilesTest, KeepsAFileOpenBetweenRequests) {
    if (!keeps_open())
        GTEST_SKIP() << "opening without waiting is not supported here";
    const auto first = MUST(open("a.txt"));
    EXPECT_EQ(first->facts().size, 5U);
    EXPECT_EQ(first->tag().substr(first->tag().rfind('-')), "-5\"");
    EXPECT_EQ(MUST(open("a.txt")), first);
    now += OpenFiles::kCheckedFor;
    EXPECT_EQ(MUST(open("a.txt")), first) << "the same file is found again";
    EXPECT_EQ(files.size(), 1U);
    now += OpenFiles::kUnusedMax;
    files.trim(now);
    EXPECT_EQ(files.size(), 0U);
    EXPECT_EQ(text_of(*first), "hello") << "its requests keep it";
}

TEST_F(OpenFilesTest, SeesAReplacedAndARewrittenFile) {
    const auto first = MUST(open("a.txt"));
    write("new", "another");
    fs::rename(folder + "/new", folder + "/a.txt");
    const auto second = MUST(open("a.txt"));
    EXPECT_EQ(text_of(*second), "another");
    EXPECT_NE(second->tag(), first->tag());
    EXPECT_EQ(text_of(*first), "hello") << "a request in progress sends the file that it has begun";
    write("a.txt", "rewritten!");
    EXPECT_EQ(text_of(*MUST(open("a.txt"))), "rewritten!");
    fs::resize_file(folder + "/a.txt", 2);
    EXPECT_EQ(MUST(open("a.txt"))->facts().size, 2U);
    EXPECT_LE(files.size(), 1U);
}

TEST_F(OpenFilesTest, ForgetsARemovedFile) {
    MUST(open("a.txt"));
    fs::remove(folder + "/a.txt");
    EXPECT_EQ(open("a.txt").code(), Errc::not_found);
    EXPECT_EQ(files.size(), 0U);
}

// Its inode has not changed, so only the check by path finds out.
TEST_F(OpenFilesTest, ForgetsAFileInARenamedFolder) {
    fs::create_directories(folder + "/sub");
    write("sub/b.txt", "below");
    MUST(open("sub/b.txt"));
    fs::rename(folder + "/sub", folder + "/other");
    now += OpenFiles::kCheckedFor;
    EXPECT_EQ(open("sub/b.txt").code(), Errc::not_found);
    EXPECT_EQ(files.size(), 0U);
}

TEST_F(OpenFilesTest, KeepsContentsOfSettledFilesWithinBounds) {
    if (!keeps_open())
        GTEST_SKIP() << "opening without waiting is not supported here";
    const auto file = MUST(open("a.txt"));
    EXPECT_TRUE(file->content().empty()) << "requested once";
    const auto later = std::chrono::system_clock::now() + 1h;
    ServedFile settled(MUST(io::File::try_open_below(folder, "a.txt")));
    settled.keep_content(later, 4);
    EXPECT_TRUE(settled.content().empty()) << "too large";
    settled.keep_content(std::chrono::system_clock::time_point(settled.facts().changed + 500ms), 5);
    EXPECT_TRUE(settled.content().empty()) << "it may be written to in the same tick";
    settled.keep_content(later, 5);
    EXPECT_EQ(as_text(settled.content()), "hello");
    ServedFile stale(MUST(io::File::try_open_below(folder, "a.txt")));
    write("a.txt", "other");
    stale.keep_content(later, 5);
    EXPECT_TRUE(stale.content().empty()) << "it is not the file that was opened";
}

TEST_F(OpenFilesTest, ClosesTheLeastRecentlyRequestedBeyondItsBound) {
    if (!keeps_open())
        GTEST_SKIP() << "opening without waiting is not supported here";
    const auto first = MUST(open("a.txt"));
    for (std::size_t i = 0; i < OpenFiles::kFilesMax; ++i) {
        now += 1ms;
        write("f" + std::to_string(i), "x");
        MUST(open("f" + std::to_string(i)));
        EXPECT_LE(files.size(), OpenFiles::kFilesMax);
    }
    EXPECT_EQ(files.size(), OpenFiles::kFilesMax);
    EXPECT_EQ(first.use_count(), 1) << "it was the oldest";
}

TEST_F(OpenFilesTest, ReturnsFoldersAndLinksWithoutKeepingThem) {
    fs::create_directories(folder + "/sub");
    fs::create_symlink("a.txt", folder + "/link");
    fs::create_symlink("/etc/passwd", folder + "/out");
    EXPECT_TRUE(MUST(open("sub"))->facts().is_folder);
    EXPECT_EQ(text_of(*MUST(open("link"))), "hello");
    EXPECT_EQ(open("out").code(), Errc::denied);
    EXPECT_EQ(open("missing").code(), Errc::not_found);
    EXPECT_EQ(files.size(), 0U);
}

}  // namespace
}  // namespace live::session::content
