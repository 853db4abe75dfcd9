#include "io/files/append_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/scratch_folder_fixture.hpp"

namespace live::io {
namespace {

void write(AppendFile& file, std::string_view text) {
    MUST(file.write(text));
    EXPECT_TRUE(text.empty());
}

TEST(AppendFile, AppendsToAnExistingFile) {
    const ScratchFolder folder;
    folder.write("log", "before\n");
    AppendFile file;
    EXPECT_FALSE(file.is_open());
    MUST(file.open(folder.file("log")));
    EXPECT_TRUE(file.is_open());
    write(file, "after\n");
    EXPECT_EQ(folder.read("log"), "before\nafter\n");
}

TEST(AppendFile, IsMadeReadableForAllAndWritableForTheGroup) {
    const ScratchFolder folder;
    AppendFile file;
    const mode_t before = ::umask(0);
    MUST(file.open(folder.file("log")));
    ::umask(before);
    struct stat about {};
    ASSERT_EQ(::stat(folder.file("log").c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0664U);
}

TEST(AppendFile, ReopensARenamedFile) {
    const ScratchFolder folder;
    AppendFile file;
    MUST(file.open(folder.file("log")));
    ASSERT_EQ(std::rename(folder.file("log").c_str(), folder.file("log.1").c_str()), 0);
    write(file, "old");
    MUST(file.open(folder.file("log")));
    write(file, "new");
    EXPECT_EQ(folder.read("log.1"), "old");
    EXPECT_EQ(folder.read("log"), "new");
}

TEST(AppendFile, KeepsTheFileWhenReopeningFails) {
    const ScratchFolder folder;
    AppendFile file;
    MUST(file.open(folder.file("log")));
    const auto opened = file.open(folder.file("absent/log"));
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().sentence(), "cannot open " + folder.file("absent/log") + ": No such file or directory (2)");
    write(file, "still here");
    EXPECT_EQ(folder.read("log"), "still here");
}

TEST(AppendFile, ReportsUnwrittenBytesOfAFullDisk) {
    AppendFile file;
    if (!file.open("/dev/full").ok())
        GTEST_SKIP() << "no /dev/full here";
    std::string_view text = "lost";
    EXPECT_EQ(file.write(text).code(), Errc::system);
    EXPECT_EQ(text, "lost");
}

TEST(AppendFile, LeavesAStandingDescriptorOpen) {
    const ScratchFolder folder;
    const int standing = ::open(folder.file("log").c_str(), O_WRONLY | O_CREAT, 0600);
    ASSERT_GE(standing, 0);
    {
        AppendFile file(standing);
        EXPECT_TRUE(file.is_open());
        write(file, "one ");
    }
    EXPECT_EQ(::write(standing, "two", 3), 3);
    ::close(standing);
    EXPECT_EQ(folder.read("log"), "one two");
}

}  // namespace
}  // namespace live::io
