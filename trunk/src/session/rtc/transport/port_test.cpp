#include "session/rtc/transport/port.hpp"

#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/spin_fixture.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "wire/stun/message.hpp"

namespace live::session::rtc {
namespace {

namespace stun = wire::stun;

// A session that echoes what it receives; a check that nominates proves its client's address.
class FakePeer final : public Peer {
public:
    FakePeer(Port& port, std::string ufrag, TimePoint due) : Peer(std::move(ufrag)), port_(port), due_(due) {}
    ~FakePeer() override { ++*gone; }

    void take_datagram(TimePoint now, MutBytes datagram, const TransportAddress& from) override {
        for (const auto began = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - began < takes;) {
        }
        taken.emplace_back(datagram.begin(), datagram.end());
        const auto message = stun::parse_message(datagram);
        if (message.ok() && message->use_candidate) {
            checked.push_back(from);
            checked_at_ = now;
        }
        if (message.ok() && !message->use_candidate && !answers_strangers)
            return;
        port_.output().append(from, datagram);
    }
    void finish_batch(TimePoint) override { ++batches; }
    bool is_checked(const TransportAddress& address) const override {
        return std::ranges::find(checked, address) != checked.end();
    }
    bool is_half_open() const override { return checked.empty(); }
    std::optional<TimePoint> next_timeout() const override { return patience ? checked_at_ + *patience : due_; }
    std::size_t engine_bytes() const override { return 1'000; }
    bool may_go(TimePoint) const override { return is_done; }
    bool holds_dtls() const override { return checked.empty(); }
    void on_due(TimePoint) override {
        if (patience)
            taken_when_due.push_back(taken.size());
        else
            port_.retire(*this);
    }

    std::vector<std::vector<std::uint8_t>> taken;
    std::vector<TransportAddress> checked;
    Duration takes{};                  // time per datagram, as for a handshake
    std::optional<Duration> patience;  // due after so long without a check, instead of at a given time
    std::vector<std::size_t> taken_when_due;
    bool answers_strangers = false;
    bool is_done = true;
    int batches = 0;
    std::shared_ptr<int> gone = std::make_shared<int>(0);

private:
    Port& port_;
    TimePoint due_;
    TimePoint checked_at_{};
};

// A client's check for `name`; the fake takes it as proof if it nominates.
std::vector<std::uint8_t> check_for(std::string_view name, bool is_proved) {
    stun::MessageWriter writer(stun::Kind::request, stun::TransactionId{1, 2, 3});
    writer.username(std::string(name) + ":them");
    if (is_proved)
        writer.use_candidate();
    return writer.release();
}

struct PortFixture : ::testing::Test {
    PortFixture() {
        loop = io::Loop::create().value();
        port = std::make_unique<Port>(io::now(), log);
        EXPECT_TRUE(port->listen({"127.0.0.1", 0}).ok());
        EXPECT_TRUE(port->start(scope).ok());
        to.ip = parse_ip("127.0.0.1").value();
        to.port = port->sockets().front()->endpoint().port;
        for (auto& client : clients)
            client = io::UdpSocket::bind({"127.0.0.1", 0}, 1 << 16).value();
    }
    ~PortFixture() override {
        EXPECT_TRUE(scope.stop(io::Deadline::after(io::kSoon)).ok());
        port->clear();
    }
    FakePeer& add(const std::string& name, Duration life = 1h) {
        auto peer = std::make_unique<FakePeer>(*port, name, io::now() + life);
        FakePeer& added = *peer;
        EXPECT_TRUE(port->add(std::move(peer)).ok());
        return added;
    }
    void send(std::size_t client, const std::vector<std::uint8_t>& bytes) {
        const io::GsoBatch gso{bytes, bytes.size(), to, {}};
        EXPECT_EQ(clients[client]->send({&gso, 1}), 1U);
    }
    // The size of the next datagram; 0 when none arrives.
    std::size_t receive(std::size_t client, std::chrono::milliseconds limit = 2s) {
        const auto got = clients[client]->receive(io::Deadline::after(limit));
        return got.ok() ? got->front().bytes.size() : 0;
    }

    Log log;
    std::unique_ptr<io::Loop> loop;
    std::unique_ptr<Port> port;
    io::Scope scope{"test"};
    TransportAddress to;
    std::array<std::unique_ptr<io::UdpSocket>, 2> clients;
};

using RtcPort = PortFixture;
const std::vector<std::uint8_t> kMedia(40, 0x80);
constexpr auto kSilence = 50ms;

// Another process's sessions.
struct Elsewhere final : DatagramForwarding {
    void pass(const ForwardedDatagram& forwarded, Bytes datagram) override {
        headers.push_back(forwarded);
        datagrams.emplace_back(datagram.begin(), datagram.end());
    }
    std::vector<ForwardedDatagram> headers;
    std::vector<std::vector<std::uint8_t>> datagrams;
};

TEST_F(RtcPort, ForwardsUnknownDatagramsAndTakesForwardedOnes) {
    Elsewhere elsewhere;
    port->set_forwarding(&elsewhere);
    send(0, check_for("theirs", true));
    send(0, kMedia);
    EXPECT_EQ(receive(0, kSilence), 0U);
    ASSERT_EQ(elsewhere.headers.size(), 2U);
    const ForwardedDatagram forwarded = elsewhere.headers.front();
    EXPECT_TRUE(forwarded.came_by(port->sockets().front()->endpoint()));
    EXPECT_EQ(forwarded.from.port, clients[0]->endpoint().port);
    EXPECT_EQ(forwarded.protocol, ForwardedDatagram::Protocol::webrtc);
    // As the other process does, which has the same socket.
    FakePeer& peer = add("theirs");
    port->take_forwarded(forwarded, io::now(), elsewhere.datagrams[0]);
    port->take_forwarded(forwarded, io::now(), elsewhere.datagrams[1]);
    EXPECT_EQ(peer.taken.size(), 2U);
    EXPECT_GT(receive(0), 0U) << "it answers by the socket";
    // A datagram for no known session is not forwarded again.
    std::vector<std::uint8_t> check = check_for("nobody", true);
    port->take_forwarded(forwarded, io::now(), check);
    ForwardedDatagram other = forwarded;
    ++other.port;
    port->take_forwarded(other, io::now(), elsewhere.datagrams[1]);
    EXPECT_EQ(elsewhere.headers.size(), 2U);
    EXPECT_EQ(peer.taken.size(), 2U) << "it came to a port that is not here";
    port->sockets().stop_receiving();
    send(0, kMedia);
    static_cast<void>(receive(0, kSilence));
    EXPECT_EQ(peer.taken.size(), 2U) << "what comes is another process's now";
}

TEST_F(RtcPort, FindsASessionByTheNameInACheckThenByTheAddress) {
    FakePeer& peer = add("abcd1234");
    add("efgh5678");
    const auto check = check_for("abcd1234", true);
    send(0, check);
    EXPECT_EQ(receive(0), check.size());
    send(0, kMedia);
    EXPECT_EQ(receive(0), kMedia.size());
    EXPECT_EQ(peer.taken.size(), 2U);
    EXPECT_GE(peer.batches, 2);
    EXPECT_EQ(port->half_open(), 1U);
}

TEST_F(RtcPort, IgnoresAddressesWithoutAProvedCheck) {
    FakePeer& peer = add("abcd1234");
    send(0, kMedia);
    send(0, check_for("nobody00", true));
    send(0, check_for("abcd1234", false));
    send(0, kMedia);
    EXPECT_EQ(receive(0, kSilence), 0U);
    EXPECT_EQ(peer.taken.size(), 1U);  // The check, which proved nothing.
    EXPECT_EQ(port->figures().strangers, 3U);
    EXPECT_EQ(port->figures().sent, 0U);
}

TEST_F(RtcPort, SendsErrorForUnknownClientToItsAddress) {
    add("abcd1234").answers_strangers = true;
    const auto check = check_for("abcd1234", false);
    send(1, check);
    EXPECT_EQ(receive(1), check.size());
    send(1, kMedia);
    EXPECT_EQ(receive(1, kSilence), 0U);
}

TEST_F(RtcPort, AnAddressIsNotTakenFromASessionThatLivesThere) {
    FakePeer& first = add("abcd1234");
    FakePeer& second = add("efgh5678");
    send(0, check_for("abcd1234", true));
    EXPECT_GT(receive(0), 0U);
    send(0, check_for("efgh5678", true));
    EXPECT_EQ(receive(0, kSilence), 0U);
    send(0, kMedia);
    EXPECT_EQ(receive(0), kMedia.size());
    EXPECT_EQ(first.taken.size(), 2U);
    EXPECT_EQ(second.taken.size(), 0U);
}

TEST_F(RtcPort, AnAddressThatIsSilentMovesToTheSessionThatProvesIt) {
    struct Link final : PortLink {
        void send(Bytes, std::size_t) override {}
    } link;
    FakePeer& first = add("abcd1234");
    FakePeer& second = add("efgh5678");
    const TransportAddress from{parse_ip("192.0.2.1").value(), 9};
    TimePoint now = io::now();
    const auto give = [&](std::vector<std::uint8_t> bytes) { port->take_from(link, from, now, bytes); };
    give(check_for("abcd1234", true));
    now += Port::kHolds - 1s;
    give(kMedia);
    now += Port::kHolds - 1ms;
    give(check_for("efgh5678", true));
    EXPECT_EQ(second.taken.size(), 0U) << "media holds it, too";
    now += 1ms;
    give(check_for("efgh5678", true));
    give(kMedia);
    EXPECT_EQ(first.taken.size(), 2U);
    EXPECT_EQ(second.taken.size(), 2U);
    port->forget(link);
}

TEST_F(RtcPort, AnAnswerToACheckOfOursFindsItsSessionByTheAddress) {
    FakePeer& peer = add("abcd1234");
    const auto answer = stun::MessageWriter(stun::Kind::success, stun::TransactionId{1}).release();
    send(0, answer);
    send(0, check_for("abcd1234", true));
    EXPECT_GT(receive(0), 0U);
    send(0, answer);
    while (peer.taken.size() < 2)
        ASSERT_TRUE(io::sleep(io::Deadline::after(10ms)).ok());
    EXPECT_EQ(port->figures().strangers, 1U) << "before there was a session";
}

TEST_F(RtcPort, ASessionIsDestroyedWhenItsTimeIsOverAndItsAddressIsForgotten) {
    FakePeer& peer = add("abcd1234", 100ms);
    const auto gone = peer.gone;
    send(0, check_for("abcd1234", true));
    EXPECT_GT(receive(0), 0U);
    while (*gone == 0)
        ASSERT_TRUE(io::sleep(io::Deadline::after(10ms)).ok());
    EXPECT_EQ(port->sessions(), 0U);
    send(0, kMedia);
    EXPECT_EQ(receive(0, kSilence), 0U);
    EXPECT_EQ(port->figures().strangers, 1U);
}

TEST_F(RtcPort, EndedSessionRemainsUntilReleased) {
    FakePeer& peer = add("abcd1234");
    peer.is_done = false;
    const auto gone = peer.gone;
    port->retire(peer);
    EXPECT_EQ(port->find("abcd1234"), nullptr);
    MUST(io::sleep(io::Deadline::after(5 * TimerWheel::kTick)));
    EXPECT_EQ(*gone, 0);
    peer.is_done = true;
    MUST(io::sleep(io::Deadline::after(5 * TimerWheel::kTick)));
    EXPECT_EQ(*gone, 1);
}

// Each takes a while, and whoever has a thousand sessions may end them all at once.
TEST_F(RtcPort, SessionsThatEndTogetherAreDestroyedInPortions) {
    constexpr std::size_t kSessions = 3 * Port::kReapedAtOnce + 1;
    std::vector<FakePeer*> peers;
    for (std::size_t i = 0; i < kSessions; ++i)
        peers.push_back(&add("n" + std::to_string(i)));
    for (FakePeer* peer : peers)
        port->retire(*peer);
    EXPECT_EQ(port->find("n0"), nullptr);
    for (std::size_t left = kSessions; left > 0; left = port->sessions()) {
        port->end_batch(io::now());
        ASSERT_EQ(port->sessions(), left - std::min(left, Port::kReapedAtOnce));
    }
}

TEST_F(RtcPort, TimersWaitForTheWholeBatchThatArrivedInAPause) {
    FakePeer& peer = add("a");
    send(0, check_for("a", true));
    ASSERT_GT(receive(0), 0U);
    peer.patience = 1s;
    peer.takes = 20ms;  // a turn, after which the fiber that receives gives way
    for (int i = 0; i < 3; ++i)
        send(0, kMedia);
    send(0, check_for("a", true));
    io::spin(1'500ms);
    io::wait_until([&peer] { return peer.taken.size() >= 5 || !peer.taken_when_due.empty(); });
    EXPECT_TRUE(peer.taken_when_due.empty()) << "due after " << peer.taken_when_due.front() << " of 5 datagrams";
}

TEST_F(RtcPort, HalfOpenSessionsAreCountedAndExpire) {
    for (std::size_t i = 0; i < 9; ++i)
        add("n" + std::to_string(i), 300ms);
    EXPECT_EQ(port->half_open(), 9U);
    send(0, check_for("n7", true));
    EXPECT_GT(receive(0), 0U);
    while (port->half_open() == 9)
        ASSERT_TRUE(io::sleep(io::Deadline::after(1ms)).ok());
    while (port->sessions() > 0)
        ASSERT_TRUE(io::sleep(io::Deadline::after(10ms)).ok());
    EXPECT_EQ(port->half_open(), 0U);
}

TEST_F(RtcPort, RefusesANameThatIsInUse) {
    add("abcd1234");
    const auto again = port->add(std::make_unique<FakePeer>(*port, "abcd1234", io::now() + 1h));
    ASSERT_FALSE(again.ok());
    EXPECT_EQ(again.code(), Errc::conflict);
}

TEST_F(RtcPort, ALinkCarriesItsSessionsOutput) {
    struct Link final : PortLink {
        void send(Bytes bytes, std::size_t) override { sent.emplace_back(bytes.begin(), bytes.end()); }
        std::vector<std::vector<std::uint8_t>> sent;
    } link;
    FakePeer& peer = add("abcd1234");
    const TransportAddress from{parse_ip("192.0.2.1").value(), 9};
    auto check = check_for("abcd1234", true);
    port->take_from(link, from, io::now(), check);
    auto media = kMedia;
    port->take_from(link, from, io::now(), media);
    port->end_batch(io::now());
    ASSERT_EQ(link.sent.size(), 2U);
    EXPECT_EQ(link.sent[1], kMedia);
    port->forget(link);
    port->take_from(link, from, io::now(), media);
    EXPECT_EQ(peer.taken.size(), 2U);
}

TEST_F(RtcPort, SeveralSocketsShareAPort) {
    ASSERT_TRUE(port->listen({"127.0.0.1", 0}, 3).ok());
    ASSERT_EQ(port->sockets().size(), 4U);
    for (std::size_t i = 2; i < 4; ++i)
        EXPECT_EQ(port->sockets()[i]->endpoint(), port->sockets()[1]->endpoint());
    EXPECT_EQ(io::UdpSocket::bind(port->sockets()[1]->endpoint(), 1 << 16).code(), Errc::conflict);
}

TEST_F(RtcPort, CountsMemoryOfSessions) {
    add("abcd1234");
    add("efgh5678");
    EXPECT_EQ(port->memory().engine_bytes, 2'000U);
    EXPECT_EQ(port->memory().dtls_objects, 2U);
    send(0, check_for("abcd1234", true));
    EXPECT_GT(receive(0), 0U);
    EXPECT_EQ(port->memory().dtls_objects, 1U);
    EXPECT_GT(port->memory().path_bytes, 0U);
    EXPECT_GT(port->memory().buffer_bytes, 0U);
    port->clear();
    EXPECT_EQ(port->memory().engine_bytes, 0U);
    EXPECT_EQ(port->memory().path_bytes, 0U);
}

TEST_F(RtcPort, OthersRunBetweenTwoLongPiecesOfWork) {
    add("abcd1234").takes = 10ms;
    add("efgh5678").takes = 10ms;
    send(0, check_for("abcd1234", true));
    send(1, check_for("efgh5678", true));
    EXPECT_TRUE(io::yield(io::Deadline::after(io::kSoon)).ok());
    EXPECT_EQ(port->figures().received, 1U);
    EXPECT_GT(receive(1), 0U);
    EXPECT_EQ(port->figures().received, 2U);
}

TEST_F(RtcPort, ReportsTrafficPerSecond) {
    PortFigures then;
    PortFigures now;
    now.received = 1'500;
    now.rtp = 1'400;
    now.stun = 1;
    now.sent = 20;
    engine::webrtc::SharedState before;
    engine::webrtc::SharedState after;
    after.rtp_out = 10;
    after.in = {.key_requests = 20, .arrival_reports = 30, .receiver_reports = 40, .nacked = 50};
    after.out = {.key_requests = 10, .arrival_reports = 10, .receiver_reports = 10, .nacked = 70};
    after.resent = 40;
    EXPECT_EQ(report_line({.sessions = 2, .port = now, .shared = after, .lost = 490, .unsent = 3},
                          {.sessions = 1, .port = then, .shared = before, .lost = 0, .unsent = 0}),
              "RTC: Server conns=2, rpkts=(150,rtp:140,stun:1,rtcp:0,dtls:0,unknown:0), spkts=(2,rtp:1,rtcp:0), "
              "rtcp=(pli:3,twcc:4,rr:5), snk=(7), rnk=(5,h:4,m:1), loss=(r:49,s:1)");
}

TEST_F(RtcPort, DoesNotAnswerAFloodOfUnknownChecks) {
    add("abcd1234");
    for (int i = 0; i < 500; ++i)
        send(0, check_for("flood" + std::to_string(i), true));
    EXPECT_EQ(receive(0, kSilence), 0U);
    EXPECT_EQ(port->figures().sent_bytes, 0U);
    send(1, check_for("abcd1234", true));
    EXPECT_GT(receive(1), 0U);
}

}  // namespace
}  // namespace live::session::rtc
