// Both ends over a simulated link: what is lost is recovered, what is late is dropped, and numbers may wrap.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ostream>

#include "base/rounds_fixture.hpp"
#include "engine/srt/handshake/connection_setup.hpp"
#include "engine/srt/link_fixture.hpp"
#include "engine/srt/transfer/sequence.hpp"

namespace live::engine::srt {
namespace {

Caller::Encryption encryption_of(std::string_view passphrase, std::size_t key_bytes) {
    const Salt salt = random_salt();
    return {.salt = salt, .kek = derive_key(passphrase, salt, key_bytes).value()};
}

ConnectionOptions with_latency(std::chrono::milliseconds latency) {
    ConnectionOptions options;
    options.receive_latency = latency;
    options.peer_latency = latency;
    return options;
}

std::uint32_t seed() {
    const char* const text = std::getenv("SRT_SEED");
    return text == nullptr ? 7 : static_cast<std::uint32_t>(std::atoi(text));
}

struct Case {
    std::chrono::milliseconds one_way;
    std::chrono::milliseconds jitter;
    unsigned loss;
    std::chrono::milliseconds latency;
};

// Without it gtest prints the bytes, padding too.
void PrintTo(const Case& link, std::ostream* out) {
    *out << link.one_way.count() << " ms, " << link.loss << " % lost, latency " << link.latency.count() << " ms";
}

class LossyLink : public testing::TestWithParam<Case> {};

// 60 s of 200 packets per second.
TEST_P(LossyLink, LosesNothingForGoodAndKeepsTheLatency) {
    const Case& with = GetParam();
    Pair pair({.delay = with.one_way, .jitter = with.jitter, .loss_percent = with.loss, .seed = seed()});
    ASSERT_TRUE(pair.connect({.connect_timeout = 20s, .connection = with_latency(with.latency)}, with_latency(with.latency)));
    pair.stream(0, 5ms, 60s, 1'316);
    pair.run_until(pair.now + 3s);
    const Pair::End& end = pair.ends[1];
    EXPECT_EQ(pair.sent_numbers[0], 12'000U);
    EXPECT_EQ(end.received_count, 12'000U);
    EXPECT_EQ(end.wrong, 0U);
    EXPECT_EQ(end.skipped, 0U);
    const Figures sent = pair.ends[0].connection->figures();
    const Figures got = end.connection->figures();
    EXPECT_EQ(sent.sent, 12'000U);
    EXPECT_EQ(sent.send_dropped, 0U);
    EXPECT_EQ(sent.send_buffer_packets, 0U);
    EXPECT_EQ(got.received, 12'000U);
    EXPECT_EQ(got.receive_dropped, 0U);
    EXPECT_EQ(got.malformed + sent.malformed, 0U);
    EXPECT_EQ(got.receive_latency, with.latency);
    // Retransmissions are asked for at most a few times over.
    EXPECT_GE(sent.retransmitted, pair.to_listener.lost / 3);
    EXPECT_LE(sent.retransmitted, 12'000U / 2);
    const auto round_trip = 2 * with.one_way + with.jitter;
    EXPECT_GE(got.rtt, round_trip * 8 / 10);
    EXPECT_LE(got.rtt, round_trip * 12 / 10 + 1ms);
    // Payloads come out as they went in: evenly.
    for (std::size_t i = 1; i < end.received.size(); ++i) {
        const auto gap = end.received[i].at - end.received[i - 1].at;
        ASSERT_LE(gap, 40ms) << "before " << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Links, LossyLink,
                         testing::Values(Case{25ms, 0ms, 0, 120ms}, Case{25ms, 0ms, 5, 400ms}, Case{25ms, 0ms, 10, 400ms},
                                         Case{25ms, 10ms, 10, 400ms}, Case{100ms, 0ms, 5, 1500ms},
                                         Case{100ms, 20ms, 10, 2000ms}));

// Many streams of 20 s with 200 packets per second, each over a link with a different seed. SRT_PACKETS=N for more.
class ManyLossyLinks : public testing::TestWithParam<Case> {};

TEST_P(ManyLossyLinks, LoseNothingForGood) {
    const char* const text = std::getenv("SRT_PACKETS");
    const std::uint64_t packets =
        text == nullptr ? rounds<std::uint64_t>(12'000, 40'000) : static_cast<std::uint64_t>(std::atoll(text));
    const Case& with = GetParam();
    std::uint64_t sent = 0, lost = 0, resent = 0, datagrams = 0;
    for (std::uint32_t at = seed(); sent < packets; at += 2) {
        Pair pair({.delay = with.one_way, .jitter = with.jitter, .loss_percent = with.loss, .seed = at});
        pair.keeps_received = false;
        if (!pair.connect({.connect_timeout = 20s, .connection = with_latency(with.latency)}, with_latency(with.latency)))
            continue;
        pair.stream(0, 5ms, 20s);
        pair.run_until(pair.now + 3s);
        const Pair::End& end = pair.ends[1];
        EXPECT_EQ(end.wrong, 0U);
        sent += pair.sent_numbers[0];
        lost += pair.sent_numbers[0] - end.received_count;
        resent += pair.ends[0].connection->figures().retransmitted;
        datagrams += pair.to_listener.lost;
    }
    EXPECT_EQ(lost, 0U) << "of " << sent << "; " << datagrams << " lost by the links, " << resent << " retransmitted";
    EXPECT_LE(resent, datagrams * 3 / 2);
}

INSTANTIATE_TEST_SUITE_P(SimulatedSrt, ManyLossyLinks,
                         testing::Values(Case{25ms, 0ms, 10, 400ms}, Case{25ms, 10ms, 10, 400ms}, Case{50ms, 0ms, 10, 400ms},
                                         Case{50ms, 10ms, 10, 400ms}));

TEST(SimulatedSrt, DropsLatePayloadsAtTheReceiver) {
    Pair pair({.delay = 100ms, .loss_percent = 10, .seed = seed()});
    // Less than a round trip: no retransmission comes in time.
    ASSERT_TRUE(pair.connect({.connect_timeout = 20s, .connection = with_latency(120ms)}, with_latency(120ms)));
    pair.stream(0, 5ms, 10s);
    pair.run_until(pair.now + 3s);
    const Pair::End& end = pair.ends[1];
    const Figures got = end.connection->figures();
    EXPECT_EQ(end.wrong, 0U);
    EXPECT_GT(got.receive_dropped, 50U);
    EXPECT_EQ(got.receive_dropped, end.skipped);
    EXPECT_EQ(end.received_count + end.skipped, end.next_number);
    EXPECT_GE(end.next_number, 1'990U);
}

TEST(SimulatedSrt, BothDirectionsAtOnceAndEncrypted) {
    for (const std::size_t key_bytes : {16U, 24U, 32U}) {
        Pair pair({.delay = 10ms, .loss_percent = 5, .seed = seed()});
        ASSERT_TRUE(pair.connect(
            {.encryption = encryption_of(kPassphrase, key_bytes), .connect_timeout = 20s, .connection = with_latency(300ms)},
            with_latency(300ms), kPassphrase));
        for (int i = 0; i < 500; ++i) {
            pair.stream(0, 5ms, 5ms);
            pair.stream(1, 5ms, 5ms, 300);
        }
        pair.run_until(pair.now + 2s);
        for (const Pair::End& end : pair.ends) {
            EXPECT_EQ(end.received_count, 500U);
            EXPECT_EQ(end.wrong, 0U);
            EXPECT_EQ(end.connection->figures().key_bytes, key_bytes);
            EXPECT_EQ(end.connection->figures().undecrypted, 0U);
        }
    }
}

TEST(SimulatedSrt, RefusesAWrongPassphrase) {
    Pair pair({});
    EXPECT_FALSE(pair.connect({.encryption = encryption_of("another passphrase", 16)}, {}, kPassphrase));
    EXPECT_EQ(pair.caller->state(), Caller::State::refused);
    EXPECT_EQ(pair.caller->reason(), RejectReason::bad_secret);
    ASSERT_TRUE(pair.accept_error.has_value());
    EXPECT_EQ(pair.accept_error->code(), Errc::denied);
}

TEST(SimulatedSrt, SendsTheReasonOfARefusalToTheCaller) {
    Pair pair({});
    pair.refuses_with = reject_reason_of_status(403);
    EXPECT_FALSE(pair.connect({.stream_id = "#!::r=live/a,m=publish"}, {}));
    EXPECT_EQ(pair.caller->state(), Caller::State::refused);
    EXPECT_EQ(pair.caller->reason(), RejectReason::forbidden);
}

TEST(SimulatedSrt, ACallerGivesUpWithoutAnswers) {
    Pair pair({.loss_percent = 100});
    EXPECT_FALSE(pair.connect({}, {}));
    EXPECT_EQ(pair.caller->state(), Caller::State::timed_out);
    EXPECT_EQ(pair.to_listener.sent, 12U);
}

TEST(SimulatedSrt, ClosesASilentPeerAfterItsTimeout) {
    Pair pair({});
    ConnectionOptions options;
    options.peer_idle_timeout = 5s;
    ASSERT_TRUE(pair.connect({.connection = options}, options));
    pair.run_until(pair.now + 20s);
    EXPECT_TRUE(pair.ends[0].connection->is_open());  // keepalives
    pair.to_listener.set_loss(100);
    pair.run_until(pair.now + 6s);
    EXPECT_EQ(pair.ends[1].connection->close_reason(), CloseReason::idle);
    EXPECT_EQ(pair.ends[0].connection->close_reason(), CloseReason::peer_shutdown);
}

TEST(SimulatedSrt, AShutdownKeepsArrivedPayloads) {
    Pair pair({});
    ASSERT_TRUE(pair.connect({}, {}));
    pair.stream(0, 5ms, 100ms);
    pair.ends[0].connection->close();
    pair.run_until(pair.now + 1s);
    EXPECT_EQ(pair.ends[1].connection->close_reason(), CloseReason::peer_shutdown);
    EXPECT_EQ(pair.ends[1].received_count, 20U);
    EXPECT_EQ(pair.ends[0].connection->send(pair.now, numbered_payload(0)), Connection::Sent::closed);
}

TEST(SimulatedSrt, DeliversAtOnceWithoutTimestamps) {
    Pair pair({.delay = 25ms});
    ConnectionOptions options;
    options.tsbpd = false;
    ASSERT_TRUE(pair.connect({.connection = options}, options));
    const TimePoint began = pair.now;
    pair.stream(0, 5ms, 100ms);
    ASSERT_FALSE(pair.ends[1].received.empty());
    EXPECT_EQ(pair.ends[1].received[0].at - began, 25ms);
}

TEST(SimulatedSrt, PacesToItsBandwidth) {
    Pair pair({.delay = 10ms});
    ConnectionOptions slow;
    slow.bandwidth_max = 136'000;  // 100 packets of 1,316 bytes per second
    ASSERT_TRUE(pair.connect({.connection = slow}, {}));
    for (std::uint64_t i = 0; i < 200; ++i)
        EXPECT_EQ(pair.ends[0].connection->send(pair.now, numbered_payload(i, 1'316)), Connection::Sent::queued);
    pair.run_until(pair.now + 500ms);
    const std::uint64_t sent = pair.ends[0].connection->figures().sent;
    EXPECT_GE(sent, 48U);
    EXPECT_LE(sent, 53U);
    // Late payloads are dropped here, and the peer skips them.
    pair.run_until(pair.now + 3s);
    const Figures figures = pair.ends[0].connection->figures();
    EXPECT_GT(figures.send_dropped, 80U);
    EXPECT_EQ(figures.send_buffer_packets, 0U);
    pair.stream(0, 50ms, 1s);
    pair.run_until(pair.now + 1s);
    EXPECT_EQ(pair.ends[1].connection->figures().receive_buffer_packets, 0U);
}

TEST(SimulatedSrt, AnOutageOfSecondsIsSkipped) {
    Pair pair({.delay = 25ms});
    ASSERT_TRUE(pair.connect({}, {}));
    pair.stream(0, 1ms, 1s);
    pair.to_listener.set_loss(100);
    pair.stream(0, 1ms, 5s);
    pair.to_listener.set_loss(0);
    pair.stream(0, 1ms, 2s);
    pair.run_until(pair.now + 2s);
    const Pair::End& end = pair.ends[1];
    EXPECT_EQ(end.wrong, 0U);
    EXPECT_EQ(end.next_number, pair.sent_numbers[0]);
    EXPECT_EQ(end.received_count + end.skipped, pair.sent_numbers[0]);
    EXPECT_LE(end.skipped, 5'000U);
    EXPECT_GE(end.skipped, 4'000U);
}

// The end of a burst has nothing after it that would show its loss.
TEST(SimulatedSrt, RecoversTheLastPacketOfABurst) {
    Pair pair({.delay = 5ms});
    ASSERT_TRUE(pair.connect({.connection = with_latency(600ms)}, with_latency(600ms)));
    pair.stream(0, 5ms, 100ms);
    pair.to_listener.set_loss(100);
    pair.stream(0, 1ms, 3ms);
    pair.to_listener.set_loss(0);
    pair.run_until(pair.now + 1s);
    EXPECT_EQ(pair.ends[1].received_count, 23U);
    EXPECT_EQ(pair.ends[1].skipped, 0U);
}

// Timestamps wrap 20 times (by day, in three hours, twice), sequence numbers once, keys change more than 100 times (13), and the
// peer's clock is wrong by nothing.
TEST(SimulatedSrt, ADayAcrossAllWraps) {
    const char* const text = std::getenv("SRT_HOURS");
    const int hours = text == nullptr ? rounds(3, 24) : std::atoi(text);
    Pair pair({.delay = 25ms, .jitter = 5ms, .loss_percent = 2, .seed = seed()});
    pair.keeps_received = false;
    Connection::Setup calling;
    calling.options = with_latency(2s);
    calling.options.key_refresh_packets = 1'600;
    calling.options.key_announce_packets = 64;
    calling.peer_capabilities = Capabilities{.flags = flag::kTsbpdSend | flag::kTsbpdReceive | flag::kTooLateDrop};
    calling.send_initial_sequence = kSequenceMask - 50'000;
    const Salt salt{9, 8, 7};
    calling.key = StreamKey{.flag = KeyFlag::odd,
                            .salt = salt,
                            .kek = derive_key(kPassphrase, salt, 32).value(),
                            .key = std::vector<std::uint8_t>(32, 0xA5)};
    Connection::Setup listening = calling;
    listening.receive_initial_sequence = calling.send_initial_sequence;
    listening.send_initial_sequence = calling.receive_initial_sequence;
    pair.connect_directly(std::move(calling), std::move(listening));
    pair.stream(0, 500ms, std::chrono::hours(hours));
    pair.run_until(pair.now + 5s);
    const Pair::End& end = pair.ends[1];
    const auto expected = static_cast<std::uint64_t>(hours) * 7'200;
    EXPECT_EQ(end.received_count, expected);
    EXPECT_EQ(end.wrong, 0U);
    EXPECT_EQ(end.skipped, 0U);
    EXPECT_GE(pair.ends[0].connection->figures().key_refreshes, expected / 1'600 - 1);
    // This connection began without a handshake, and so without the time that a packet takes.
    EXPECT_GT(end.connection->figures().drift, 24ms);
    EXPECT_LT(end.connection->figures().drift, 31ms);
    EXPECT_LT(end.connection->held_bytes(), 64U << 10);
    EXPECT_LT(pair.ends[0].connection->held_bytes(), 64U << 10);
}

}  // namespace
}  // namespace live::engine::srt
