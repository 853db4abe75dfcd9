#include "io/files/replace_file.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/files/scratch_folder_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::io {
namespace {

Block block(std::string_view text) { return std::make_shared<const std::vector<std::uint8_t>>(text.begin(), text.end()); }

TEST(ReplaceFile, WritesAllBlocksMakesFoldersAndReplaces) {
    const auto loop = MUST(Loop::create());
    const ScratchFolder folder;
    const std::string path = folder.file("a/b/c.ts");
    ASSERT_TRUE(replace_file(path, {block("one "), block(""), block("two")}, Deadline::after(kSoon)).ok());
    EXPECT_EQ(folder.read("a/b/c.ts"), "one two");
    ASSERT_TRUE(replace_file(path, {block("three")}, Deadline::after(kSoon)).ok());
    EXPECT_EQ(folder.read("a/b/c.ts"), "three");
    EXPECT_FALSE(std::filesystem::exists(path + kTemporarySuffix));
}

TEST(ReplaceFile, KeepsTheExistingFileWhenAWriteFails) {
    const auto loop = MUST(Loop::create());
    const ScratchFolder folder;
    folder.write("file", "old");
    EXPECT_FALSE(replace_file(folder.file("file") + "/below", {block("x")}, Deadline::after(kSoon)).ok());
    std::filesystem::create_directory(folder.file("full"));
    EXPECT_FALSE(replace_file(folder.file("full"), {block("x")}, Deadline::after(kSoon)).ok()) << "a folder is in the way";
    EXPECT_FALSE(std::filesystem::exists(folder.file("full") + kTemporarySuffix));
    // Writing there always fails for lack of space.
    const auto full = replace_file("/dev/full/x", {block("x")}, Deadline::after(kSoon));
    EXPECT_FALSE(full.ok());
    EXPECT_EQ(folder.read("file"), "old");
}

TEST(ReplaceFile, RemovesAnExistingFile) {
    const auto loop = MUST(Loop::create());
    const ScratchFolder folder;
    folder.write("a", "1");
    folder.write("b", "22");
    const std::vector<std::string> paths = {folder.file("a"), folder.file("none"), folder.file("b")};
    using Sizes = std::vector<std::optional<std::uint64_t>>;
    EXPECT_EQ(MUST(file_sizes(paths, Deadline::after(kSoon))), (Sizes{1, std::nullopt, 2}));
    ASSERT_TRUE(remove_files(paths, Deadline::after(kSoon)).ok());
    EXPECT_EQ(MUST(file_sizes(paths, Deadline::after(kSoon))), Sizes(3));
    std::filesystem::create_directory(folder.file("folder"));
    EXPECT_EQ(MUST(file_sizes({folder.file("folder")}, Deadline::after(kSoon))), Sizes(1));
    EXPECT_FALSE(remove_files({folder.file("folder")}, Deadline::after(kSoon)).ok());
}

}  // namespace
}  // namespace live::io
