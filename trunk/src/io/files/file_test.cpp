#include "io/files/file.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::io {
namespace {

namespace fs = std::filesystem;

struct FileTest : ::testing::Test {
    FileTest() {
        char name[] = "/tmp/live_file_test.XXXXXX";
        base = ::mkdtemp(name);
        root = base + "/root";
        fs::create_directories(root + "/sub");
        write(root + "/a.txt", "hello");
        write(root + "/sub/b.txt", "below");
        write(base + "/secret.txt", "secret");
        write(base + "/root2.txt", "beside");
    }
    ~FileTest() override { fs::remove_all(base); }
    static void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
    Result<File> open(const std::string& path) const { return File::open_below(root, path, Deadline::after(kSoon)); }
    static std::string read(const File& file, std::uint64_t offset = 0, std::size_t count = 100) {
        const auto bytes = MUST(file.read(offset, count, Deadline::after(kSoon)));
        return std::string(as_text(bytes));
    }

    std::unique_ptr<Loop> loop = *Loop::create();
    std::string base;
    std::string root;
};

TEST_F(FileTest, OpensFilesBelowTheFolder) {
    for (const char* path : {"a.txt", "/a.txt", "//a.txt", "sub/../a.txt"}) {
        const auto file = open(path);
        ASSERT_TRUE(file.ok()) << path << ": " << file.error().text();
        EXPECT_EQ(file->facts().size, 5U);
        EXPECT_FALSE(file->facts().is_folder);
        EXPECT_GT(file->facts().modified, std::chrono::hours(24 * 365 * 50));
        EXPECT_EQ(read(*file), "hello");
    }
    EXPECT_EQ(read(MUST(open("sub/b.txt"))), "below");
}

TEST_F(FileTest, ReportsChangesOfAnOpenFile) {
    const auto file = MUST(open("a.txt"));
    EXPECT_TRUE(file.is_unchanged());
    fs::permissions(root + "/a.txt", fs::perms::owner_read);
    EXPECT_FALSE(file.is_unchanged()) << "its rights";
    const auto again = MUST(open("a.txt"));
    EXPECT_TRUE(again.is_unchanged());
    fs::remove(root + "/a.txt");
    EXPECT_FALSE(again.is_unchanged()) << "removed";
}

TEST_F(FileTest, ReportsCachedBytes) {
    const auto file = MUST(open("a.txt"));
    EXPECT_EQ(read(file), "hello");
    EXPECT_TRUE(file.is_cached(0, 5));
    EXPECT_TRUE(file.is_cached(4, 1));
    EXPECT_FALSE(file.is_cached(0, 6)) << "beyond its end";
    EXPECT_FALSE(file.is_cached(5, 1));
    EXPECT_FALSE(file.is_cached(0, 0));
    EXPECT_EQ(file.cached_bytes(0, 5), 5u);
    EXPECT_EQ(file.cached_bytes(4, 1), 1u);
    EXPECT_EQ(file.cached_bytes(0, 6), 0u) << "beyond its end";
}

TEST_F(FileTest, ReadsPiecesAndStopsAtTheEnd) {
    const auto file = MUST(open("a.txt"));
    EXPECT_EQ(read(file, 1, 3), "ell");
    EXPECT_EQ(read(file, 4), "o");
    EXPECT_EQ(read(file, 5), "");
    EXPECT_EQ(read(file, 1'000'000'000'000), "");
    std::array<std::uint8_t, 3> three{};
    const auto count = file.try_read(1, three);
    if (count.ok())
        EXPECT_EQ(as_text(Bytes(three).first(*count)), "ell");
    else
        EXPECT_EQ(count.code(), Errc::need_more);
}

TEST_F(FileTest, RecognisesFolders) {
    for (const char* path : {"", "/", "sub", "sub/", "."})
        EXPECT_TRUE(MUST(open(path)).facts().is_folder) << path;
}

TEST_F(FileTest, RefusesPathsThatLeaveTheFolder) {
    for (const char* path : {"../secret.txt", "sub/../../secret.txt", "../root2.txt", "..", "../root/../secret.txt"})
        EXPECT_EQ(open(path).code(), Errc::denied) << path;
    // A leading slash refers to the folder, not to the root of the file system.
    EXPECT_EQ(open(base + "/secret.txt").code(), Errc::not_found);
}

TEST_F(FileTest, OpensAtOnceOnlyFilesInMemory) {
    const auto at_once = [this](const std::string& path) { return File::try_open_below(root, path); };
    if (const auto plain = at_once("a.txt"); !plain.ok() && plain.code() == Errc::need_more)
        GTEST_SKIP() << "this kernel, or the file system of " << root << ", has no way to open only what is in memory";
    EXPECT_EQ(read(MUST(at_once("/sub/../a.txt"))), "hello");
    EXPECT_EQ(MUST(at_once("sub/b.txt")).facts().size, 5U);
    EXPECT_TRUE(MUST(at_once("")).facts().is_folder);
    fs::create_symlink("a.txt", root + "/link");
    ::mkfifo((root + "/fifo").c_str(), 0600);
    for (const char* path : {"link", "missing", "../secret.txt", "sub/../../secret.txt", "a.txt/x", ".."})
        EXPECT_EQ(at_once(path).code(), Errc::need_more) << path;
    EXPECT_EQ(at_once("fifo").code(), Errc::denied);
    EXPECT_EQ(File::try_open_below(base + "/missing", "a.txt").code(), Errc::need_more);
    EXPECT_EQ(File::try_open_below("/proc/self", "status").code(), Errc::need_more) << "made by the kernel when it is read";
}

TEST_F(FileTest, ALinkMayStayInsideButNotLeadOut) {
    fs::create_symlink("a.txt", root + "/inside");
    fs::create_symlink(root + "/sub/b.txt", root + "/inside_absolute");
    fs::create_symlink("../secret.txt", root + "/outside");
    fs::create_symlink("/etc", root + "/etc");
    fs::create_symlink("loop", root + "/loop");
    EXPECT_EQ(read(MUST(open("inside"))), "hello");
    EXPECT_EQ(read(MUST(open("inside_absolute"))), "below");
    EXPECT_EQ(open("outside").code(), Errc::denied);
    EXPECT_EQ(open("etc/passwd").code(), Errc::denied);
    EXPECT_EQ(open("etc").code(), Errc::denied);
    EXPECT_EQ(open("loop").code(), Errc::denied);
    // The folder itself may be a link.
    fs::create_symlink(root, base + "/link_to_root");
    EXPECT_EQ(read(MUST(File::open_below(base + "/link_to_root", "a.txt", Deadline::after(kSoon)))), "hello");
}

TEST_F(FileTest, RefusesNonRegularFiles) {
    EXPECT_EQ(open("missing").code(), Errc::not_found);
    EXPECT_EQ(open("a.txt/more").code(), Errc::not_found);
    EXPECT_EQ(open(std::string(5'000, 'a')).code(), Errc::not_found);
    EXPECT_EQ(File::open_below(base + "/nowhere", "a.txt", Deadline::after(kSoon)).code(), Errc::not_found);
    ASSERT_EQ(::mkfifo((root + "/pipe").c_str(), 0600), 0);
    EXPECT_EQ(open("pipe").code(), Errc::denied) << "and nobody waits for its writer";
}

}  // namespace
}  // namespace live::io
