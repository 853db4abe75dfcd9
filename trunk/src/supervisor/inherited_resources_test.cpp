#include "supervisor/inherited_resources.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include "base/net/endpoint.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/udp_socket.hpp"

namespace live::supervisor {
namespace {

using engine::workers::Kind;
using engine::workers::Worker;

class InheritedResourcesTest : public testing::Test {
protected:
    InheritedResourcesTest() {
        auto [one, other] = MUST(io::MessageSocket::pair());
        old_ = std::make_unique<MasterLine>(WorkerIdentity{}, std::move(one));
        new_ = std::make_unique<MasterLine>(WorkerIdentity{}, std::move(other));
    }
    ~InheritedResourcesTest() override { io::drop_inherited(); }

    void give(const std::string& name, Worker worker = 0) {
        auto [here, there] = MUST(io::stream_pair());
        EXPECT_TRUE(old_->send({Kind::gift, 0, worker, 0, 0, name}, std::move(there)));
        kept_.push_back(std::move(here));
    }
    void begin(std::uint8_t flag = 0, Worker number = 0, std::uint32_t workers = 0) {
        EXPECT_TRUE(old_->send({Kind::begin, flag, number, workers, 0, ""}));
    }
    Result<InheritedResources> receive() { return receive_inherited(*new_, io::Deadline::after(io::kSoon)); }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    std::unique_ptr<MasterLine> old_;
    std::unique_ptr<MasterLine> new_;
    std::vector<io::Socket> kept_;
};

TEST_F(InheritedResourcesTest, ProcessWithoutWorkersInheritsItsSockets) {
    const auto socket = MUST(io::UdpSocket::bind({"127.0.0.1", 0}, 0));
    const auto more = MUST(io::UdpSocket::bind({"127.0.0.1", 0}, 0));
    for (io::BoundSocket& bound : io::copies_of_bound_sockets())
        EXPECT_TRUE(old_->send({Kind::gift, 0, 0, 0, 0, bound.name}, std::move(bound.copy)));
    begin(1, 7);
    const auto inherited = MUST(receive());
    EXPECT_EQ(inherited.number, 7);
    EXPECT_EQ(inherited.workers, 1U);
    EXPECT_TRUE(inherited.parent_stays);
    EXPECT_TRUE(inherited.sockets.empty());
    EXPECT_LT(inherited.pid_file, 0);
    EXPECT_EQ(io::drop_inherited(), 2U) << "the loop has them";
}

TEST_F(InheritedResourcesTest, MasterReceivesTheSocketsOfEachWorker) {
    give("tcp 127.0.0.1:19350", 1);
    give("udp 127.0.0.1:8000", 3);
    give("udp 127.0.0.1:8002", 3);
    begin(0, 4, 3);
    const auto inherited = MUST(receive());
    EXPECT_EQ(inherited.number, 4);
    EXPECT_EQ(inherited.workers, 3U);
    EXPECT_FALSE(inherited.parent_stays);
    ASSERT_EQ(inherited.sockets.size(), 3U);
    ASSERT_EQ(inherited.sockets[0].size(), 1U);
    EXPECT_TRUE(inherited.sockets[1].empty());
    ASSERT_EQ(inherited.sockets[2].size(), 2U);
    EXPECT_EQ(inherited.sockets[2][1].name, "udp 127.0.0.1:8002");
    EXPECT_TRUE(inherited.sockets[2][1].copy.is_open());
    EXPECT_EQ(io::drop_inherited(), 0U) << "they are for its workers";
}

TEST_F(InheritedResourcesTest, PassedSocketIsTheSame) {
    give("tcp 127.0.0.1:19350", 1);
    begin(0, 0, 1);
    const auto inherited = MUST(receive());
    ASSERT_EQ(::write(inherited.sockets[0][0].copy.fd(), "x", 1), 1);
    char text = 0;
    EXPECT_EQ(::read(kept_[0].fd(), &text, 1), 1);
    EXPECT_EQ(text, 'x');
}

TEST_F(InheritedResourcesTest, PidFileComesWithItsPath) {
    give(std::string(kPidGift) + "/run/live.pid");
    give(std::string(kPidGift) + "/run/other.pid");
    begin();
    const auto inherited = MUST(receive());
    EXPECT_EQ(inherited.pid_path, "/run/live.pid") << "the first one counts";
    ASSERT_GE(inherited.pid_file, 0);
    EXPECT_NE(::fcntl(inherited.pid_file, F_GETFD) & FD_CLOEXEC, 0);
    ::close(inherited.pid_file);
}

TEST_F(InheritedResourcesTest, LineToTheStayingProcess) {
    give(std::string(kParentGift));
    begin(1);
    EXPECT_TRUE(MUST(receive()).parent.is_open());
}

TEST_F(InheritedResourcesTest, SocketsOfOneWorkerAreBounded) {
    for (std::size_t i = 0; i < io::kBoundSocketsMax + 5; ++i) {
        auto [here, there] = MUST(io::stream_pair());
        EXPECT_TRUE(old_->send({Kind::gift, 0, 1, 0, 0, "udp 127.0.0.1:" + std::to_string(1'000 + i)}, std::move(there)));
    }
    begin(0, 0, 1);
    io::Scope fibers("test");
    MUST(fibers.start("sender", [this](io::Deadline) { MUST(old_->flush_all(io::Deadline::after(io::kSoon))); }));
    EXPECT_EQ(MUST(receive()).sockets[0].size(), io::kBoundSocketsMax);
    MUST(fibers.join(io::Deadline::after(io::kSoon)));
}

TEST_F(InheritedResourcesTest, OtherMessagesAreIgnored) {
    EXPECT_TRUE(old_->send({Kind::members, 0, 0, 0, 0, "\x01"}));
    EXPECT_TRUE(old_->send({Kind::gift, 0, 0, 0, 0, "tcp 127.0.0.1:1"})) << "without a descriptor";
    begin();
    EXPECT_EQ(MUST(receive()).workers, 1U);
    EXPECT_EQ(io::drop_inherited(), 0U);
}

TEST_F(InheritedResourcesTest, SocketOfAnUnknownKindIsRefused) {
    give("carrier pigeon");
    begin();
    EXPECT_EQ(receive().code(), Errc::malformed);
}

TEST_F(InheritedResourcesTest, SocketOfAnotherAddressIsRefused) {
    give("tcp 127.0.0.1:19350");
    begin();
    EXPECT_EQ(receive().code(), Errc::malformed);
}

TEST_F(InheritedResourcesTest, RunningProcessThatDies) {
    give("tcp 127.0.0.1:19350", 1);
    old_->close();
    EXPECT_EQ(receive().code(), Errc::closed);
}

TEST_F(InheritedResourcesTest, RunningProcessThatSendsNothing) {
    EXPECT_EQ(receive_inherited(*new_, io::Deadline::after(5ms)).code(), Errc::timed_out);
}

}  // namespace
}  // namespace live::supervisor
