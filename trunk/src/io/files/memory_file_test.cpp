#include "io/files/memory_file.hpp"

#include <array>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/tcp_listener.hpp"

namespace live::io {
namespace {

std::string pattern(std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i)
        text[i] = static_cast<char>(i * 31 + i / 251);
    return text;
}

class MemoryFileTest : public testing::Test {
protected:
    void SetUp() override {
        auto listener = MUST(TcpListener::listen({"127.0.0.1", 0}));
        near_ = MUST(TcpStream::connect(listener->endpoint(), Deadline::after(kSoon)));
        far_ = MUST(listener->accept(Deadline::after(kSoon)));
    }
    static std::shared_ptr<const MemoryFile> file_of(std::string_view text, std::size_t cut = 0) {
        return MUST(MemoryFile::copy_of(std::array{as_part(as_bytes(text.substr(0, cut))), as_part(as_bytes(text.substr(cut)))}));
    }
    std::string read(std::size_t count) {
        std::string text;
        std::array<std::uint8_t, 8192> buffer;
        while (text.size() < count)
            text += as_text(Bytes(buffer).first(MUST(far_->read_some(buffer, Deadline::after(kSoon)))));
        return text;
    }

    std::unique_ptr<Loop> loop_ = MUST(Loop::create());
    std::unique_ptr<TcpStream> near_;
    std::unique_ptr<TcpStream> far_;
};

TEST_F(MemoryFileTest, SendingBeyondTheEndOfAFileIsAnError) {
    const auto file = file_of("0123456789");
    EXPECT_EQ(MUST(near_->try_send_file(file->native_handle(), 8, 100)), 2U);
    EXPECT_EQ(near_->try_send_file(file->native_handle(), 10, 1).code(), Errc::not_found);
    EXPECT_EQ(read(2), "89");
}

// epoll does not watch a connection whose requests have all been read without a wait.
TEST_F(MemoryFileTest, AFullSocketThatIsNotWatchedIsNotTheEndOfTheFile) {
    const auto file = file_of(pattern(20 << 20));
    near_->forget();
    std::uint64_t offset = 0;
    for (std::size_t sent = 1; sent > 0; offset += sent)
        sent = MUST(near_->try_send_file(file->native_handle(), offset, static_cast<std::size_t>(file->size() - offset)));
    EXPECT_LT(offset, file->size());
}

TEST_F(MemoryFileTest, IsSentWholeOrInPart) {
    const std::string text = pattern(10'000);
    const auto file = file_of(text, 4'000);
    EXPECT_EQ(file->size(), 10'000U);
    const auto limit = Deadline::after(kSoon);
    MUST(write_with_file(*near_, as_bytes("head"), *file, 0, 10'000, limit));
    EXPECT_EQ(read(10'004), "head" + text);
    MUST(write_with_file(*near_, {}, *file, 3'990, 20, limit));
    EXPECT_EQ(read(20), text.substr(3'990, 20));
    MUST(write_with_file(*near_, as_bytes("alone"), *file, 10'000, 0, limit));
    EXPECT_EQ(read(5), "alone");
}

TEST_F(MemoryFileTest, ContinuesWhenThePeerReads) {
    const std::string text = pattern(20 << 20);
    const auto file = file_of(text);
    Scope scope("writer");
    MUST(scope.start("writer",
                     [&](Deadline deadline) { MUST(write_with_file(*near_, as_bytes("h"), *file, 0, text.size(), deadline)); }));
    EXPECT_TRUE(read(text.size() + 1) == "h" + text);
    MUST(scope.join(Deadline::after(kSoon)));
}

TEST_F(MemoryFileTest, TimesOutOnAStalledPeerAndReportsAClosedOne) {
    const std::string text = pattern(20 << 20);
    const auto file = file_of(text);
    const auto late = write_with_file(*near_, {}, *file, 0, text.size(), Deadline::after(std::chrono::milliseconds(50)));
    EXPECT_EQ(late.code(), Errc::timed_out);
    far_->close();
    const auto gone = write_with_file(*near_, {}, *file, 0, text.size(), Deadline::after(kSoon));
    EXPECT_EQ(gone.code(), Errc::closed);
    near_->close();
    EXPECT_EQ(write_with_file(*near_, as_bytes("x"), *file, 0, 1, Deadline::after(kSoon)).code(), Errc::closed);
}

TEST_F(MemoryFileTest, GrowsUntilItIsSealed) {
    const auto file = MUST(MemoryFile::create());
    ASSERT_TRUE(file->append(as_part(as_bytes("one"))).ok());
    MUST(write_with_file(*near_, {}, *file, 0, 3, Deadline::after(kSoon)));
    ASSERT_TRUE(file->append(as_part(as_bytes("two"))).ok());
    MUST(write_with_file(*near_, {}, *file, 3, 3, Deadline::after(kSoon)));
    EXPECT_EQ(read(6), "onetwo");
    file->seal();
    EXPECT_FALSE(file->append(as_part(as_bytes("three"))).ok());
    EXPECT_EQ(file->size(), 6U);
}

TEST_F(MemoryFileTest, LastOwnerClosesTheDescriptor) {
    auto first = file_of("abc");
    const int fd = first->native_handle();
    auto second = first;
    first.reset();
    EXPECT_GE(::fcntl(fd, F_GETFD), 0);
    second.reset();
    EXPECT_LT(::fcntl(fd, F_GETFD), 0);
}

}  // namespace
}  // namespace live::io
