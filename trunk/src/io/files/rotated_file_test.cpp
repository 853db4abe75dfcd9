#include "io/files/rotated_file.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "base/files/scratch_folder_fixture.hpp"

namespace live::io {
namespace {

struct RotatedFileTest : testing::Test {
    void write(RotatedFile& file, std::string_view text) {
        ASSERT_TRUE(file.write(text).ok());
        ASSERT_TRUE(text.empty());
    }

    ScratchFolder folder;
    std::string path = folder.file("log");
};

TEST_F(RotatedFileTest, FitsWholeLinesOnly) {
    RotatedFile file(path, -1, {10, 2});
    ASSERT_TRUE(file.open().ok());
    EXPECT_EQ(file.fitting("one\ntwo\nthree\n"), 8U);
    EXPECT_EQ(file.fitting("longer than a file\nx\n"), 19U) << "a file has at least one line";
    write(file, "one\ntwo\n");
    EXPECT_EQ(file.fitting("three\n"), 0U);
    write(file, "th");
    EXPECT_TRUE(file.is_within_line());
    EXPECT_EQ(file.fitting("ree\nfour\n"), 4U) << "the rest of the line";
}

TEST_F(RotatedFileTest, MovesBackups) {
    RotatedFile file(path, -1, {4, 2});
    ASSERT_TRUE(file.open().ok());
    for (const char* line : {"1\n", "2\n", "3\n", "4\n"}) {
        write(file, line);
        const auto moved = file.move_away();
        ASSERT_TRUE(moved.ok() && *moved);
        ASSERT_TRUE(file.open().ok());
    }
    EXPECT_EQ(folder.read("log"), "");
    EXPECT_EQ(folder.read("log.1"), "4\n");
    EXPECT_EQ(folder.read("log.2"), "3\n");
    EXPECT_FALSE(std::ifstream(path + ".3").good());
}

TEST_F(RotatedFileTest, ContinuesAFileThatWasTruncated) {
    RotatedFile file(path, -1, {4, 1});
    ASSERT_TRUE(file.open().ok());
    write(file, "full\n");
    EXPECT_EQ(file.fitting("x\n"), 0U);
    std::ofstream(path, std::ios::trunc).close();
    const auto moved = file.move_away();
    ASSERT_TRUE(moved.ok());
    EXPECT_FALSE(*moved);
    EXPECT_EQ(file.fitting("x\n"), 2U);
}

TEST_F(RotatedFileTest, PostponesARotationThatFails) {
    RotatedFile file(path, -1, {4, 0});
    ASSERT_TRUE(file.open().ok());
    write(file, "full\n");
    EXPECT_EQ(file.fitting("x\n"), 0U);
    file.postpone_rotation();
    EXPECT_EQ(file.fitting("x\n"), 2U);
}

}  // namespace
}  // namespace live::io
