#include "supervisor/process/started_as.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace live::supervisor {
namespace {

TEST(StartedAs, HasTheCommandLineOfThisProcess) {
    const StartedAs started = started_as();
    ASSERT_FALSE(started.arguments.empty());
    EXPECT_NE(started.arguments[0].find("test"), std::string::npos) << started.arguments[0];
    ::close(started.folder);
}

TEST(StartedAs, FolderIsTheWorkingFolderOfTheCall) {
    struct ::stat here {};
    struct ::stat noted {};
    ASSERT_EQ(::stat(".", &here), 0);
    const StartedAs started = started_as();
    ASSERT_GE(started.folder, 0);
    EXPECT_EQ(::fstat(started.folder, &noted), 0);
    EXPECT_EQ(noted.st_ino, here.st_ino);
    EXPECT_EQ(noted.st_dev, here.st_dev);
    ::close(started.folder);
}

TEST(StartedAs, ChildStartsTheSameWay) {
    const auto options = MUST(child_options({{"srs", "-c", "x.conf"}, 7}));
    EXPECT_EQ(options.arguments, (std::vector<std::string>{"srs", "-c", "x.conf"}));
    EXPECT_EQ(options.folder, 7);
    EXPECT_TRUE(options.inherits_output);
}

TEST(StartedAs, ChildNeedsACommandLine) { EXPECT_EQ(child_options({}).code(), Errc::system); }

}  // namespace
}  // namespace live::supervisor
