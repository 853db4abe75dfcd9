#include "io/files/output_file.hpp"

#include <csignal>
#include <ctime>
#include <filesystem>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/bytes/bytes.hpp"
#include "base/files/scratch_folder_fixture.hpp"
#include "io/fibers/loop.hpp"

namespace live::io {
namespace {

std::vector<std::uint8_t> octets_of(std::string_view text) {
    const Bytes bytes = as_bytes(text);
    return {bytes.begin(), bytes.end()};
}

class OutputFileTest : public testing::Test {
protected:
    std::unique_ptr<Loop> loop_ = MUST(Loop::create());
    ScratchFolder folder_;
    Deadline soon_ = Deadline::after(std::chrono::seconds(20));

    std::size_t files() const {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder_.file("")))
            count += entry.is_regular_file() ? 1 : 0;
        return count;
    }
};

TEST_F(OutputFileTest, HasItsNameWhenItIsWhole) {
    const auto file = MUST(OutputFile::create(folder_.file("a/b/x.flv"), soon_));
    MUST(file->append(octets_of("one "), soon_));
    MUST(file->append(octets_of("two "), soon_));
    EXPECT_EQ(file->bytes(), 8u);
    EXPECT_EQ(folder_.read("a/b/x.flv.tmp"), "one two ");
    EXPECT_FALSE(std::filesystem::exists(folder_.file("a/b/x.flv")));
    MUST(file->commit([] { return OutputFile::Ending{octets_of("end"), FilePatch{4, octets_of("TWO")}}; }, soon_));
    EXPECT_EQ(folder_.read("a/b/x.flv"), "one TWO end");
    EXPECT_FALSE(std::filesystem::exists(folder_.file("a/b/x.flv.tmp")));
    EXPECT_EQ(file->append(octets_of("more"), soon_).code(), Errc::closed);
}

TEST_F(OutputFileTest, ADiscardedFileLeavesNothing) {
    const auto file = MUST(OutputFile::create(folder_.file("x"), soon_));
    MUST(file->append(octets_of("one"), soon_));
    MUST(file->discard(soon_));
    EXPECT_EQ(files(), 0u);
}

TEST_F(OutputFileTest, NeverTouchesAFileThatExists) {
    folder_.write("x", "precious");
    EXPECT_EQ(OutputFile::create(folder_.file("x"), soon_).code(), Errc::conflict);
    EXPECT_EQ(files(), 1u);
    // It appears while ours is being written.
    const auto file = MUST(OutputFile::create(folder_.file("y"), soon_));
    MUST(file->append(octets_of("one"), soon_));
    folder_.write("y", "precious");
    EXPECT_EQ(file->commit([] { return OutputFile::Ending(); }, soon_).code(), Errc::conflict);
    EXPECT_EQ(folder_.read("y"), "precious");
    EXPECT_EQ(folder_.read("y.tmp"), "one");
}

TEST_F(OutputFileTest, TwoDoNotWriteOneFile) {
    const auto first = MUST(OutputFile::create(folder_.file("x"), soon_));
    EXPECT_EQ(OutputFile::create(folder_.file("x"), soon_).code(), Errc::conflict);
}

TEST_F(OutputFileTest, KeepsTheFileOfAKilledProcess) {
    folder_.write("x.tmp", "of yesterday");
    const auto file = MUST(OutputFile::create(folder_.file("x"), soon_));
    MUST(file->append(octets_of("today"), soon_));
    EXPECT_EQ(folder_.read("x.tmp"), "today");
    ASSERT_EQ(files(), 2u);
    for (const auto& entry : std::filesystem::directory_iterator(folder_.file("")))
        if (const std::string name = entry.path().filename(); name != "x.tmp") {
            EXPECT_EQ(folder_.read(name), "of yesterday");
        }
}

TEST_F(OutputFileTest, AFolderThatMayNotBeWrittenIsAnError) {
    folder_.write("file", "");
    EXPECT_FALSE(OutputFile::create(folder_.file("file/x"), soon_).ok());
}

TEST_F(OutputFileTest, KeepsTheFileOfAFullDisk) {
    const auto file = MUST(OutputFile::create(folder_.file("x"), soon_));
    MUST(file->append(octets_of("fits"), soon_));
    const auto before = std::signal(SIGXFSZ, SIG_IGN);
    struct rlimit old {};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
    const struct rlimit small = {64, old.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto appended = file->append(std::vector<std::uint8_t>(100, 'x'), soon_);
    EXPECT_EQ(appended.code(), Errc::system) << "a part of it went in before the limit";
    EXPECT_EQ(file->append(octets_of("more"), soon_).code(), Errc::closed);
    MUST(file->commit([] { return OutputFile::Ending{octets_of("!"), {}}; }, soon_));
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
    std::signal(SIGXFSZ, before);
    EXPECT_EQ(folder_.read("x"), "fits!");
}

}  // namespace
}  // namespace live::io
