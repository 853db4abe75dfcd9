#include "io/files/read_at.hpp"

#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/bytes/bytes.hpp"
#include "base/files/scratch_folder_fixture.hpp"

namespace live::io {
namespace {

TEST(ReadAt, ReadsUpToTheEndAndNamesTheFileInErrors) {
    const ScratchFolder folder;
    const std::string path = folder.file("a");
    std::ofstream(path) << "0123456789";
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(file, 0);
    EXPECT_EQ(as_text(MUST(read_at(file, path, 2, 3))), "234");
    EXPECT_EQ(as_text(MUST(read_at(file, path, 8, 100))), "89");
    EXPECT_TRUE(MUST(read_at(file, path, 10, 1)).empty());
    ::close(file);
    const auto closed = read_at(-1, path, 0, 1);
    EXPECT_EQ(closed.code(), Errc::system);
    EXPECT_NE(closed.error().text().find(path), std::string::npos);
}

}  // namespace
}  // namespace live::io
