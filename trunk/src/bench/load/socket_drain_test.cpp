#include "bench/load/socket_drain.hpp"

#include <array>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/net/tcp_listener.hpp"
#include "io/net/tcp_stream.hpp"
#include "io/net/udp_socket.hpp"

namespace live::bench {
namespace {

constexpr std::chrono::seconds kSoon{10};

class Member final : public DrainMember {
public:
    void on_bytes(std::size_t count) override { bytes += count; }
    void on_end(int error) override {
        has_ended = true;
        ended_by = error;
    }

    std::size_t bytes = 0;
    bool has_ended = false;
    int ended_by = -1;
};

class SocketDrainTest : public testing::Test {
protected:
    struct Pair {
        std::unique_ptr<io::TcpStream> near, far;
        Member member;
    };

    SocketDrainTest() {
        MUST(scope_.start("drain", [this](io::Deadline forever) { drain_.run(forever); }));
        for (Pair& pair : pairs_) {
            pair.near = MUST(io::TcpStream::connect(listener_->endpoint(), io::Deadline::after(kSoon)));
            pair.far = MUST(listener_->accept(io::Deadline::after(kSoon)));
            MUST(drain_.join(pair.near->native_handle(), pair.member));
        }
    }
    ~SocketDrainTest() override {
        for (Pair& pair : pairs_)
            drain_.leave(pair.near->native_handle());
        MUST(scope_.stop(io::Deadline::after(kSoon)));
    }

    static void send(Pair& pair, std::size_t count) {
        const std::string bytes(count, 'x');
        const std::array parts{io::as_part(as_bytes(bytes))};
        MUST(pair.far->write_all(parts, io::Deadline::after(kSoon)));
    }
    template <class Condition>
    static bool wait_until(const Condition& condition) {
        const auto limit = io::Deadline::after(kSoon);
        while (!condition() && !limit.expired())
            MUST(io::sleep(io::Deadline::after(std::chrono::milliseconds(2))));
        return condition();
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    std::unique_ptr<io::TcpListener> listener_ = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
    io::Scope scope_{"test"};
    SocketDrain drain_;
    std::array<Pair, 3> pairs_;
};

TEST_F(SocketDrainTest, CountsBytesPerConnection) {
    send(pairs_[0], 100);
    send(pairs_[1], 8'000'000);
    EXPECT_TRUE(wait_until([&] { return pairs_[1].member.bytes == 8'000'000; }));
    send(pairs_[0], 23);
    EXPECT_TRUE(wait_until([&] { return pairs_[0].member.bytes == 123; }));
    EXPECT_EQ(pairs_[2].member.bytes, 0U);
    EXPECT_FALSE(pairs_[0].member.has_ended);
}

TEST_F(SocketDrainTest, ReportsTheEndAfterTheLastBytes) {
    send(pairs_[0], 5'000);
    pairs_[0].far->close();
    EXPECT_TRUE(wait_until([&] { return pairs_[0].member.has_ended; }));
    EXPECT_EQ(pairs_[0].member.bytes, 5'000U);
    EXPECT_EQ(pairs_[0].member.ended_by, 0);
    EXPECT_FALSE(pairs_[1].member.has_ended);
}

TEST_F(SocketDrainTest, DoesNotNotifyAMemberThatHasLeft) {
    drain_.leave(pairs_[0].near->native_handle());
    send(pairs_[0], 5'000);
    send(pairs_[1], 100);
    EXPECT_TRUE(wait_until([&] { return pairs_[1].member.bytes == 100; }));
    EXPECT_EQ(pairs_[0].member.bytes, 0U);
    std::array<std::uint8_t, 8'000> rest;
    EXPECT_EQ(MUST(pairs_[0].near->read_some(rest, io::Deadline::after(kSoon))), 5'000U);
}

TEST_F(SocketDrainTest, CountsDatagramsOfAnyLength) {
    const auto near = MUST(io::UdpSocket::bind({"127.0.0.1", 0}, 1U << 20));
    const io::Socket far(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(near->endpoint().port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* const address = static_cast<const sockaddr*>(static_cast<const void*>(&to));
    Member member;
    MUST(drain_.join(near->native_handle(), member, SocketDrain::Kind::datagrams));
    const std::string bytes(1'400, 'x');
    for (const std::size_t count : {1'400U, 0U, 7U})
        ASSERT_EQ(::sendto(far.fd(), bytes.data(), count, 0, address, sizeof to), static_cast<ssize_t>(count));
    EXPECT_TRUE(wait_until([&] { return member.bytes == 1'407; }));
    EXPECT_FALSE(member.has_ended) << "an empty datagram is no end";
    drain_.leave(near->native_handle());
}

}  // namespace
}  // namespace live::bench
