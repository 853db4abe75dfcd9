#include "io/net/fan_sender.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "io/net/socket_pair_fixture.hpp"

namespace live::io {
namespace {

// Connected pairs: one end is sent to, the other is read.
class Pairs {
public:
    explicit Pairs(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const auto [sender, reader] = socket_pair();
            senders.push_back(sender);
            readers.push_back(reader);
        }
    }
    ~Pairs() {
        for (const auto* ends : {&senders, &readers})
            for (const int fd : *ends)
                if (fd >= 0)
                    ::close(fd);
    }
    Pairs(const Pairs&) = delete;
    Pairs& operator=(const Pairs&) = delete;

    std::string read(std::size_t i) const {
        std::string text(1 << 16, '\0');
        const ::ssize_t count = ::recv(readers[i], text.data(), text.size(), MSG_DONTWAIT);
        text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
        return text;
    }
    void fill(std::size_t i) const {
        const std::string block(4096, 'x');
        while (::send(senders[i], block.data(), block.size(), MSG_DONTWAIT) > 0) {
        }
    }

    std::vector<int> senders;
    std::vector<int> readers;
};

::iovec part_of(const std::string& text) { return {const_cast<char*>(text.data()), text.size()}; }

class FanSenderTest : public testing::TestWithParam<FanSender::Use> {
protected:
    void SetUp() override {
        if (GetParam() == FanSender::Use::io_uring && !sender_.uses_io_uring())
            GTEST_SKIP() << "no io_uring in this build or kernel";
    }
    FanSender sender_{GetParam()};
    std::vector<ShortSend> missed_;
};

TEST_P(FanSenderTest, SendsTheSameBytesToAll) {
    const std::size_t counts[] = {1, FanSender::kBatchMin, 40};
    for (const std::size_t count : counts) {
        const Pairs pairs(count);
        const std::string first = "one ";
        const std::string second = "and two";
        const std::array parts{part_of(first), part_of(second)};
        sender_.send(pairs.senders, std::span(parts).first(1), first.size(), missed_);
        sender_.send(pairs.senders, parts, first.size() + second.size(), missed_);
        EXPECT_TRUE(missed_.empty());
        for (std::size_t i = 0; i < count; ++i)
            EXPECT_EQ(pairs.read(i), "one one and two");
    }
}

TEST_P(FanSenderTest, SendsMoreThanTheRingHoldsInTurns) {
    const Pairs pairs(FanSender::kRingEntries / 4);
    // The same descriptor many times is as good as many descriptors.
    std::vector<int> many;
    for (int i = 0; i < 6; ++i)
        many.insert(many.end(), pairs.senders.begin(), pairs.senders.end());
    ASSERT_GT(many.size(), FanSender::kRingEntries);
    const std::string text = "x";
    const std::array parts{part_of(text)};
    sender_.send(many, parts, 1, missed_);
    EXPECT_TRUE(missed_.empty());
    for (std::size_t i = 0; i < pairs.senders.size(); ++i)
        EXPECT_EQ(pairs.read(i), "xxxxxx");
}

TEST_P(FanSenderTest, ReportsPartialSendsAndClosedPeers) {
    Pairs pairs(8);
    pairs.fill(2);
    ::close(std::exchange(pairs.readers[5], -1));
    const std::string text(300, 'y');
    const std::array parts{part_of(text)};
    sender_.send(pairs.senders, parts, text.size(), missed_);
    ASSERT_EQ(missed_.size(), 2U);
    std::ranges::sort(missed_, {}, &ShortSend::index);
    EXPECT_EQ(missed_[0].index, 2U);
    EXPECT_EQ(missed_[0].error, 0);
    EXPECT_LT(missed_[0].sent, text.size());
    EXPECT_EQ(missed_[1].index, 5U);
    EXPECT_EQ(missed_[1].error, EPIPE);
    EXPECT_EQ(pairs.read(7), text);
}

TEST_P(FanSenderTest, AClosedDescriptorIsAnError) {
    const Pairs pairs(4);
    std::vector<int> descriptors = pairs.senders;
    descriptors.push_back(-1);
    const std::string text = "z";
    const std::array parts{part_of(text)};
    sender_.send(descriptors, parts, 1, missed_);
    ASSERT_EQ(missed_.size(), 1U);
    EXPECT_EQ(missed_[0].index, 4U);
    EXPECT_EQ(missed_[0].error, EBADF);
}

INSTANTIATE_TEST_SUITE_P(BothWays, FanSenderTest, testing::Values(FanSender::Use::plain_sends, FanSender::Use::io_uring),
                         [](const auto& way) { return way.param == FanSender::Use::io_uring ? "IoUring" : "PlainSends"; });

}  // namespace
}  // namespace live::io
