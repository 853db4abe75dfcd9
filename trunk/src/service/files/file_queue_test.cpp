#include "service/files/file_queue.hpp"

#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "base/files/scratch_folder_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::service::files {
namespace {

class FileQueueTest : public testing::Test {
protected:
    void write(const std::string& name, std::size_t bytes) {
        constexpr std::size_t kBlock = 1 << 20;
        static const auto whole = std::make_shared<const std::vector<std::uint8_t>>(kBlock);
        std::vector<Block> blocks(bytes / kBlock, whole);
        if (bytes % kBlock > 0)
            blocks.push_back(std::make_shared<const std::vector<std::uint8_t>>(bytes % kBlock));
        queue_.write(folder_.file(name), std::move(blocks), [this](const Result<void>& written) { ended_ = written; });
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    ScratchFolder folder_;
    FileQueue queue_;
    std::optional<Result<void>> ended_;
};

TEST_F(FileQueueTest, AcceptsTheLargestFragmentBelowTheBound) {
    write("small", FileQueue::kQueuedBytesMax - 1);
    write("large", FileQueue::kQueuedBytesMax + 1'000);
    EXPECT_FALSE(ended_.has_value()) << "both wait";
    write("too much", 1);
    ASSERT_TRUE(ended_.has_value());
    EXPECT_EQ(ended_->code(), Errc::limit);
    queue_.remove({folder_.file("old")});
    EXPECT_EQ(queue_.waiting(), 3U) << "what frees room is never refused";
}

TEST_F(FileQueueTest, LimitsItsJobs) {
    for (std::size_t i = 0; i < FileQueue::kQueuedJobsMax; ++i)
        queue_.remove({});
    write("one more", 1);
    ASSERT_TRUE(ended_.has_value());
    EXPECT_EQ(ended_->code(), Errc::limit);
}

TEST_F(FileQueueTest, WritesQueuedFilesAndAcceptsMore) {
    write("first", 10);
    io::Scope writer("writer");
    MUST(writer.start("writer", [this](io::Deadline forever) { queue_.run(forever); }));
    io::wait_until([this] { return ended_.has_value(); });
    EXPECT_TRUE(ended_->ok());
    EXPECT_EQ(folder_.read("first").size(), 10U);
    queue_.close();
    MUST(writer.join(io::Deadline::after(std::chrono::seconds(20))));
}

TEST_F(FileQueueTest, WritesAndRemovesNothingWhileItIsOff) {
    queue_.set_off(true);
    write("another worker's", 10);
    queue_.write_list(folder_.file("list"), std::make_shared<const std::vector<std::uint8_t>>(1), {});
    EXPECT_FALSE(ended_.has_value()) << "nobody is told that it was written";
    bool removed = false;
    queue_.remove({folder_.file("old")}, [&removed](const Result<void>& done) { removed = done.ok(); });
    EXPECT_TRUE(removed) << "a fiber may wait for this";
    EXPECT_EQ(queue_.waiting(), 0U);
    queue_.set_off(false);
    write("ours", 10);
    EXPECT_EQ(queue_.waiting(), 1U);
}

}  // namespace
}  // namespace live::service::files
