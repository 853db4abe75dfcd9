#include "supervisor/process/pid_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/scratch_folder_fixture.hpp"

namespace live::supervisor {
namespace {

TEST(PidFile, HoldsThePidWithoutANewline) {
    const ScratchFolder folder;
    folder.write("srs.pid", "a much longer text than any pid\n");
    const auto pid = MUST(PidFile::create(folder.file("srs.pid")));
    EXPECT_EQ(folder.read("srs.pid"), std::to_string(::getpid()));
}

TEST(PidFile, SecondInstanceIsAConflictAndChangesNothing) {
    const ScratchFolder folder;
    const auto first = MUST(PidFile::create(folder.file("srs.pid")));
    const auto second = PidFile::create(folder.file("srs.pid"));
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.code(), Errc::conflict);
    EXPECT_EQ(second.error().sentence(),
              "the server is already running: pid " + std::to_string(::getpid()) + " holds " + folder.file("srs.pid"));
    EXPECT_EQ(folder.read("srs.pid"), std::to_string(::getpid()));
}

TEST(PidFile, StaysBehindAndCanBeTakenAgain) {
    const ScratchFolder folder;
    MUST(PidFile::create(folder.file("srs.pid"))).reset();
    EXPECT_EQ(folder.read("srs.pid"), std::to_string(::getpid()));
    EXPECT_TRUE(PidFile::create(folder.file("srs.pid")).ok());
}

TEST(PidFile, ReadingItElsewhereInTheProcessKeepsTheLock) {
    const ScratchFolder folder;
    const auto first = MUST(PidFile::create(folder.file("srs.pid")));
    folder.read("srs.pid");
    EXPECT_EQ(PidFile::create(folder.file("srs.pid")).code(), Errc::conflict);
}

TEST(PidFile, AdoptedFileKeepsTheLockAndIsWrittenLater) {
    const ScratchFolder folder;
    auto old = MUST(PidFile::create(folder.file("srs.pid")));
    folder.write("srs.pid", "123456789");
    const auto heir = PidFile::adopt(::dup(old->native_handle()));
    old.reset();
    EXPECT_EQ(PidFile::create(folder.file("srs.pid")).code(), Errc::conflict);
    EXPECT_EQ(folder.read("srs.pid"), "123456789");
    MUST(heir->write());
    EXPECT_EQ(folder.read("srs.pid"), std::to_string(::getpid()));
}

TEST(PidFile, HasItsModeAndReportsErrors) {
    const ScratchFolder folder;
    const auto pid = MUST(PidFile::create(folder.file("srs.pid")));
    struct stat about {};
    ASSERT_EQ(::stat(folder.file("srs.pid").c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0644U);
    EXPECT_EQ(PidFile::create("/nonexistent/srs.pid").error().sentence(),
              "cannot open the pid file /nonexistent/srs.pid: No such file or directory (2)");
}

}  // namespace
}  // namespace live::supervisor
