#include "io/process/inheritance.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/tcp_listener.hpp"
#include "io/net/udp_socket.hpp"

namespace live::io {
namespace {

class InheritanceTest : public testing::Test {
protected:
    ~InheritanceTest() override {
        release_arrivals();
        drop_inherited();
    }
    // A copy of one that this process has bound.
    static Socket copy_of(const std::string& name) {
        auto bound = copies_of_bound_sockets();
        const auto found = std::ranges::find(bound, name, &BoundSocket::name);
        return found == bound.end() ? Socket() : std::move(found->copy);
    }

    std::unique_ptr<Loop> loop_ = MUST(Loop::create());
};

TEST_F(InheritanceTest, TheNewProcessAcceptsAWaitingConnection) {
    auto old = MUST(TcpListener::listen({"127.0.0.1", 0}));
    const Endpoint endpoint = old->endpoint();
    const std::string name = "tcp " + endpoint.text();
    const auto waiting = MUST(TcpStream::connect(endpoint, Deadline::after(kSoon)));
    MUST(inherit(name, copy_of(name)));
    EXPECT_EQ(TcpListener::listen({"127.0.0.2", endpoint.port}).ok(), true) << "another address is another socket";
    const auto heir = MUST(TcpListener::listen(endpoint));
    EXPECT_EQ(TcpListener::listen(endpoint).code(), Errc::conflict) << "it was inherited once";
    old->close();
    EXPECT_TRUE(heir->accept(Deadline::after(kSoon)).ok());
    const auto later = MUST(TcpStream::connect(endpoint, Deadline::after(kSoon)));
    EXPECT_TRUE(heir->accept(Deadline::after(kSoon)).ok());
}

TEST_F(InheritanceTest, UdpSocketsThatAreBoundArePassedOn) {
    const auto old = MUST(UdpSocket::bind({"127.0.0.1", 0}, 1 << 16));
    const std::string name = "udp " + old->endpoint().text();
    MUST(inherit(name, copy_of(name)));
    const auto heir = MUST(UdpSocket::bind(old->endpoint(), 1 << 16));
    EXPECT_EQ(heir->endpoint(), old->endpoint());
    EXPECT_EQ(drop_inherited(), 0U);
}

TEST_F(InheritanceTest, EachSocketIsCopiedOnce) {
    const auto first = MUST(TcpListener::listen({"127.0.0.1", 0}));
    const auto second = MUST(TcpListener::listen({"127.0.0.1", 0}));
    const auto connected = MUST(TcpStream::connect(first->endpoint(), Deadline::after(kSoon)));
    const auto bound = copies_of_bound_sockets();
    for (const auto& listener : {first.get(), second.get()})
        EXPECT_EQ(std::ranges::count(bound, "tcp " + listener->endpoint().text(), &BoundSocket::name), 1);
}

TEST_F(InheritanceTest, RefusesSocketsThatDoNotMatchTheirName) {
    const auto listener = MUST(TcpListener::listen({"127.0.0.1", 0}));
    const std::string name = "tcp " + listener->endpoint().text();
    EXPECT_EQ(inherit(name, Socket()).code(), Errc::malformed);
    EXPECT_EQ(inherit("tcp 127.0.0.1:1", copy_of(name)).code(), Errc::malformed);
    EXPECT_EQ(inherit("sctp 127.0.0.1:1", copy_of(name)).code(), Errc::malformed);
    EXPECT_EQ(drop_inherited(), 0U);
    MUST(inherit(name, copy_of(name)));
    EXPECT_EQ(drop_inherited(), 1U);
}

TEST_F(InheritanceTest, ArrivalsWaitWhileHeld) {
    const auto listener = MUST(TcpListener::listen({"127.0.0.1", 0}));
    const auto waiting = MUST(TcpStream::connect(listener->endpoint(), Deadline::after(kSoon)));
    hold_arrivals();
    EXPECT_EQ(listener->accept(Deadline::after(50ms)).code(), Errc::timed_out);
    release_arrivals();
    EXPECT_TRUE(listener->accept(Deadline::after(kSoon)).ok());
}

}  // namespace
}  // namespace live::io
