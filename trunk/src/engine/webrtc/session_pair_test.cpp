// Two ends of a session over a bad network, with a simulated clock: properties that must hold whatever the network does.
#include <algorithm>
#include <ostream>

#include <gtest/gtest.h>

#include "engine/crypto/hmac_sha1.hpp"
#include "engine/webrtc/network_fixture.hpp"
#include "wire/stun/message.hpp"

namespace live::engine::webrtc {
namespace {

using wire::sdp::Purpose;
using wire::sdp::SetupRole;

struct Outcome {
    std::size_t audio = 0;
    std::size_t video = 0;
    std::size_t keys = 0;
    std::size_t holes = 0;   // reported to the receiver
    std::size_t before = 0;  // packets before the first one received
};

// Everything was received in order, once, as it was sent.
Outcome check_received(const SessionPair& pair) {
    Outcome outcome;
    std::map<MediaKind, std::uint64_t> last;
    std::map<MediaKind, std::uint32_t> last_index;
    std::map<MediaKind, std::vector<const TestRtpLog::Packet*>> sent;
    for (const auto& packet : pair.rtp_log.packets)
        sent[packet.kind].push_back(&packet);
    for (const rtp::MediaPacket& packet : pair.received) {
        const std::uint32_t index = TestRtpLog::index_of(packet.payload.bytes());
        if (index >= sent[packet.kind].size()) {
            ADD_FAILURE() << "nobody sent packet " << index;
            break;
        }
        const TestRtpLog::Packet& original = *sent[packet.kind][index];
        EXPECT_TRUE(std::ranges::equal(packet.payload.bytes(), original.payload));
        EXPECT_EQ(packet.timestamp, original.header.timestamp);
        EXPECT_EQ(packet.marker, original.header.marker);
        EXPECT_EQ(packet.begins_key, packet.kind == MediaKind::video && original.payload[0] == 0x65);
        if (!last.contains(packet.kind)) {
            outcome.before += index;
        } else {
            EXPECT_EQ(packet.sequence - last[packet.kind], index - last_index[packet.kind]) << "numbers tell what is missing";
            EXPECT_GT(packet.sequence, last[packet.kind]);
            EXPECT_EQ(packet.follows_loss, packet.sequence != last[packet.kind] + 1);
        }
        outcome.holes += packet.follows_loss ? 1 : 0;
        last[packet.kind] = packet.sequence;
        last_index[packet.kind] = index;
        ++(packet.kind == MediaKind::audio ? outcome.audio : outcome.video);
        outcome.keys += packet.begins_key ? 1 : 0;
    }
    return outcome;
}

TEST(SessionPair, HandshakesFinishAtTwentyPercentLoss) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        for (const SetupRole server : {SetupRole::passive, SetupRole::active}) {
            SessionPair pair({.network = {.seed = seed, .loss = 0.2, .doubled = 0.1, .delay_min = 20ms, .delay_max = 60ms},
                              .server_setup = server,
                              .client_setup = server == SetupRole::active ? SetupRole::passive : SetupRole::active});
            EXPECT_TRUE(pair.connect()) << "seed " << seed << ": " << pair.failure;
        }
    }
}

struct Way {
    const char* name;
    Purpose purpose;
    bool has_rtx;
    bool encrypt;

    // By default the test library also prints the padding bytes.
    friend void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }
};

class EveryWay : public testing::TestWithParam<Way> {};

// 5 % loss each way at a delay of 50 ms: no packet is lost for good.
TEST_P(EveryWay, NothingIsLostForGoodAtFivePercent) {
    for (unsigned seed = 0; seed < 3; ++seed) {
        SessionPair pair({.network = {.seed = seed, .loss = 0.05, .delay_min = 50ms, .delay_max = 50ms},
                          .purpose = GetParam().purpose,
                          .has_rtx = GetParam().has_rtx,
                          .encrypt = GetParam().encrypt});
        ASSERT_TRUE(pair.connect()) << pair.failure;
        pair.begin_media();
        pair.run(20s);
        pair.end_media();
        pair.run(2s);
        const Outcome outcome = check_received(pair);
        // Except before the first and after the last one received, whose loss cannot be detected.
        EXPECT_LE(pair.rtp_log.packets.size() - outcome.audio - outcome.video, 2U) << "seed " << seed;
        EXPECT_GE(outcome.keys, 9U);
        EXPECT_EQ(outcome.holes, 0U);
        const SessionFigures sent = pair.sender()->figures();
        const SessionFigures got = pair.receiver()->figures();
        EXPECT_GT(sent.repaired, 50U) << "the network did lose packets";
        EXPECT_EQ(got.given_up, 0U);
        EXPECT_EQ(got.not_authentic, 0U);
        EXPECT_NEAR(static_cast<double>(sent.round_trip.count()), 100'000, 10'000);
        EXPECT_LT(sent.repaired, pair.rtp_log.packets.size() / 5) << "no storm of repairs";
    }
}

INSTANTIATE_TEST_SUITE_P(, EveryWay,
                         testing::Values(Way{"PublishRtx", Purpose::publish, true, true},
                                         Way{"PublishResend", Purpose::publish, false, true},
                                         Way{"PlayRtx", Purpose::play, true, true}, Way{"PlayResend", Purpose::play, false, true},
                                         Way{"PlayPlain", Purpose::play, true, false}),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(SessionPair, DeliversInOrderOnABadNetwork) {
    for (unsigned seed = 0; seed < 12; ++seed) {
        std::mt19937 random(seed);
        const double loss = 0.05 * (seed % 5);
        const std::chrono::milliseconds delay(20 + random() % 280);
        const std::chrono::milliseconds spread(random() % 80);
        SessionPair pair(
            {.network = {.seed = seed, .loss = loss, .doubled = 0.05, .delay_min = delay, .delay_max = delay + spread},
             .purpose = seed % 2 == 0 ? Purpose::publish : Purpose::play});
        ASSERT_TRUE(pair.connect()) << "seed " << seed << ": " << pair.failure;
        pair.begin_media();
        pair.run(10s);
        pair.end_media();
        pair.run(3s);
        const Outcome outcome = check_received(pair);
        // Packets that wait for a lossy link were not sent; packets before the very first arrival are not missed.
        const auto sent = static_cast<double>(pair.rtp_log.packets.size() - pair.player.waiting(pair.rtp_log) - outcome.before);
        EXPECT_GT(static_cast<double>(outcome.audio + outcome.video), sent * (loss < 0.11 ? 0.999 : 0.97))
            << "seed " << seed << ", loss " << loss << ", delay " << delay.count();
        EXPECT_TRUE(pair.failure.empty()) << pair.failure;
    }
}

TEST(SessionPair, DropsReplayedPackets) {
    for (const Purpose purpose : {Purpose::publish, Purpose::play}) {
        SessionPair pair({.network = {.seed = 1, .doubled = 1, .delay_min = 10ms, .delay_max = 15ms}, .purpose = purpose});
        ASSERT_TRUE(pair.connect());
        pair.begin_media();
        pair.run(3s);
        pair.end_media();
        pair.run(100ms);
        const Outcome outcome = check_received(pair);
        EXPECT_EQ(outcome.audio + outcome.video + outcome.before, pair.rtp_log.packets.size());
        EXPECT_GE(pair.receiver()->figures().not_authentic, outcome.audio + outcome.video);
        EXPECT_EQ(pair.receiver()->figures().packets_in, pair.rtp_log.packets.size());
    }
}

TEST(SessionPair, ReportsUnrepairedGapsAndRequestsAKeyFrame) {
    SessionPair pair({.network = {.seed = 1, .loss = 0.02, .delay_min = 20ms, .delay_max = 20ms}, .has_rtx = false});
    ASSERT_TRUE(pair.connect());
    pair.begin_media();
    pair.run(3s);
    pair.player.answers_nacks = false;
    pair.network.is_cut = true;
    pair.run(3s);
    pair.network.is_cut = false;
    pair.run(3s);
    const Outcome outcome = check_received(pair);
    EXPECT_GE(outcome.holes, 2U) << "in both kinds";
    EXPECT_GE(pair.player.key_requests, 2U) << "at the start and behind the hole";
    EXPECT_GT(pair.receiver()->figures().given_up, 100U);
}

// A source that follows the estimate, like an encoder.
void follow_the_estimate(SessionPair& pair) {
    if (pair.sender() != nullptr && pair.sender()->estimated_rate() > 0)
        pair.rtp_log.video_rate = std::max<std::uint64_t>(50'000, pair.sender()->estimated_rate());
}

double mean_estimate(SessionPair& pair) {
    double sum = 0;
    for (int i = 0; i < 20; ++i) {
        pair.run(100ms);
        sum += static_cast<double>(pair.sender()->estimated_rate());
    }
    return sum / 20;
}

TEST(SessionPair, TheEstimateSettlesNearTheLinkWithinFiveSeconds) {
    for (const double rate : {600'000.0, 2'000'000.0, 6'000'000.0})
        for (unsigned seed = 0; seed < 3; ++seed) {
            SessionPair pair(
                {.network =
                     {.seed = seed, .loss = seed == 2 ? 0.01 : 0, .delay_min = 25ms, .delay_max = 25ms, .bits_per_second = rate},
                 .purpose = Purpose::play});
            ASSERT_TRUE(pair.connect());
            pair.rtp_log.has_audio = false;
            pair.at_step = follow_the_estimate;
            pair.begin_media();
            pair.run(5s);
            const double mean = mean_estimate(pair);
            EXPECT_GT(mean, 0.8 * rate) << "seed " << seed << ", " << rate;
            EXPECT_LT(mean, 1.2 * rate) << "seed " << seed << ", " << rate;
        }
}

TEST(SessionPair, TheEstimateFollowsALinkThatBecomesSlower) {
    SessionPair pair(
        {.network = {.seed = 7, .delay_min = 25ms, .delay_max = 25ms, .bits_per_second = 4'000'000}, .purpose = Purpose::play});
    ASSERT_TRUE(pair.connect());
    pair.rtp_log.has_audio = false;
    pair.at_step = follow_the_estimate;
    pair.begin_media();
    pair.run(6s);
    pair.network.options.bits_per_second = 1'000'000;
    pair.run(3s);
    EXPECT_LT(mean_estimate(pair), 1'200'000);
    // It falls at once, and probes upwards from below.
    pair.run(5s);
    const double mean = mean_estimate(pair);
    EXPECT_GT(mean, 800'000);
    EXPECT_LT(mean, 1'200'000);
}

// A stream of 1.5 Mbps over 800 kbps: the excess queues at the server, where it is visible, and audio is unaffected.
TEST(SessionPair, TooMuchForTheLinkWaitsHereAndAudioDoesNot) {
    SessionPair pair(
        {.network = {.seed = 3, .delay_min = 25ms, .delay_max = 25ms, .bits_per_second = 800'000}, .purpose = Purpose::play});
    ASSERT_TRUE(pair.connect());
    pair.rtp_log.video_rate = 1'500'000;
    pair.begin_media();
    pair.run(10s);
    EXPECT_GT(pair.player.waiting(pair.rtp_log), 200U);
    std::size_t late = 0;
    std::size_t audio = 0;
    const TimePoint begin = pair.now() - 10s;
    for (const rtp::MediaPacket& packet : pair.received) {
        if (packet.kind != MediaKind::audio)
            continue;
        ++audio;
        const TimePoint made = begin + 20ms * static_cast<int>(TestRtpLog::index_of(packet.payload.bytes()));
        late += packet.arrived - made > 400ms ? 1 : 0;
    }
    EXPECT_GT(audio, 450U);
    EXPECT_LT(late, 25U);
}

TEST(SessionPair, ReportsPutAudioAndVideoOnOneClock) {
    for (const Purpose purpose : {Purpose::publish, Purpose::play}) {
        SessionPair pair({.network = {.seed = 1, .delay_min = 30ms, .delay_max = 30ms}, .purpose = purpose});
        ASSERT_TRUE(pair.connect());
        EXPECT_FALSE(pair.receiver()->ntp_of(MediaKind::video, 0));
        pair.begin_media();
        pair.run(3s);
        // 1.5 s on each stream's own clock.
        const auto audio = pair.receiver()->ntp_of(MediaKind::audio, 72'000);
        const auto video = pair.receiver()->ntp_of(MediaKind::video, 135'000);
        ASSERT_TRUE(audio && video);
        EXPECT_LT(std::chrono::abs(*audio - *video), 1ms);
        EXPECT_NEAR(pair.receiver()->figures().loss, 0, 0.001);
        EXPECT_LT(pair.receiver()->figures().jitter, 5ms);
        EXPECT_NEAR(static_cast<double>(pair.sender()->figures().round_trip.count()), 60'000, 3'000);
    }
}

TEST(SessionPair, AWrongFingerprintEndsTheSession) {
    const std::string wrong = "00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF";
    {
        SessionPair pair({.server_print = wrong});
        EXPECT_FALSE(pair.connect());
        EXPECT_EQ(pair.failure_code, Errc::denied) << pair.failure;
        EXPECT_EQ(pair.server->state(), Session::State::closed);
        EXPECT_NE(pair.server->end_reason().find("certificate"), std::string_view::npos);
    }
    SessionPair pair({.client_print = wrong});
    EXPECT_FALSE(pair.connect());
    EXPECT_EQ(pair.failure_code, Errc::denied) << "the client, too, looks whom it talks to";
}

TEST(SessionPair, AWrongRoleEndsInATimeout) {
    SessionPair pair({.client_setup = SetupRole::passive});
    EXPECT_FALSE(pair.connect(40s));
    EXPECT_EQ(pair.failure_code, Errc::timed_out) << "both wait: " << pair.failure;
    SessionPair both({.server_setup = SetupRole::active});
    EXPECT_FALSE(both.connect(40s)) << "both begin";
    EXPECT_NE(both.server->state(), Session::State::established);
}

TEST(SessionPair, CloseNotifyEndsAPublisher) {
    SessionPair pair({});
    ASSERT_TRUE(pair.connect());
    pair.begin_media();
    pair.run(1s);
    EXPECT_FALSE(pair.publisher_side().has_ended(MediaKind::video));
    pair.client->close(pair.now());
    pair.client_is_gone = true;
    pair.run(100ms);
    EXPECT_EQ(pair.server->state(), Session::State::closed);
    EXPECT_EQ(pair.server->end_reason(), "close_notify");
    EXPECT_TRUE(pair.publisher_side().has_ended(MediaKind::video)) << "BYE came first";
    EXPECT_TRUE(pair.publisher_side().has_ended(MediaKind::audio));
    EXPECT_FALSE(pair.server->next_timeout());
}

// With either end as the DTLS server, and after the DTLS object was released: an alert that cannot be decrypted, then silence.
TEST(SessionPair, CloseNotifyEndsAPlayer) {
    for (const SetupRole server : {SetupRole::passive, SetupRole::active}) {
        SessionPair pair({.purpose = Purpose::play,
                          .server_setup = server,
                          .client_setup = server == SetupRole::active ? SetupRole::passive : SetupRole::active});
        ASSERT_TRUE(pair.connect());
        pair.begin_media();
        pair.run(2s);
        ASSERT_FALSE(pair.server->holds_dtls());
        pair.client->close(pair.now());
        pair.client_is_gone = true;
        pair.run(6'100ms);
        EXPECT_EQ(pair.server->state(), Session::State::closed);
        EXPECT_EQ(pair.server->end_reason(), "close_notify, and silence after it");
    }
}

// Though the object that writes it was released long before, with a handshake that was done here or in steps.
TEST(SessionPair, AServerSendsCloseNotifyToItsPlayers) {
    for (const bool lends : {false, true}) {
        for (const SetupRole server : {SetupRole::passive, SetupRole::active}) {
            SessionPair pair({.purpose = Purpose::play,
                              .server_setup = server,
                              .client_setup = server == SetupRole::active ? SetupRole::passive : SetupRole::active,
                              .step_time = lends ? std::optional(5ms) : std::nullopt});
            ASSERT_TRUE(pair.connect());
            pair.begin_media();
            pair.run(2s);
            ASSERT_FALSE(pair.server->holds_dtls());
            pair.server->close(pair.now());
            pair.run(100ms);
            EXPECT_EQ(pair.client->session()->end_reason(), "close_notify") << "lends=" << lends;
        }
    }
}

// An unencrypted alert, or one that is not from the peer, which keeps sending.
TEST(SessionPair, IgnoresForgedCloseNotifyOfAPlayer) {
    SessionPair pair({.purpose = Purpose::play});
    ASSERT_TRUE(pair.connect());
    pair.begin_media();
    pair.run(2s);
    ASSERT_FALSE(pair.server->holds_dtls());
    Octets forged{21, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 2, 0};
    EXPECT_TRUE(pair.server->handle_datagram(pair.now(), forged, kClientAddress).ok());
    forged[4] = 1;
    forged[12] = 26;
    forged.resize(13 + 26);
    for (int i = 0; i < 30; ++i) {
        EXPECT_TRUE(pair.server->handle_datagram(pair.now(), forged, kClientAddress).ok());
        pair.run(500ms);
        ASSERT_EQ(pair.server->state(), Session::State::established) << i;
    }
}

TEST(SessionPair, DetectsADisconnectedPeer) {
    SessionPair pair({.purpose = Purpose::play});
    ASSERT_TRUE(pair.connect());
    pair.begin_media();
    pair.run(1s);
    pair.client_is_gone = true;
    pair.run(26s);
    EXPECT_EQ(pair.server->state(), Session::State::established);
    pair.run(5s);
    EXPECT_EQ(pair.server->state(), Session::State::closed);
    const std::size_t before = pair.datagrams_to_client;
    pair.run(5s);
    EXPECT_EQ(pair.datagrams_to_client, before) << "a closed session says nothing";
}

TEST(SessionPair, FreesThePlayersDtlsAndKeepsThePublishers) {
    SessionPair play({.purpose = Purpose::play});
    ASSERT_TRUE(play.connect());
    EXPECT_FALSE(play.server->holds_dtls()) << "though nothing has arrived from it since";
    SessionPair publish({});
    ASSERT_TRUE(publish.connect());
    publish.begin_media();
    publish.run(2s);
    EXPECT_TRUE(publish.server->holds_dtls());
}

// The server's last flight is lost for a while; media starts only when the client has its keys, and then it does.
TEST(SessionPair, RetransmitsFinalFlightUnderLoss) {
    for (unsigned seed = 0; seed < 10; ++seed) {
        SessionPair pair(
            {.network = {.seed = seed, .loss = 0.3, .delay_min = 30ms, .delay_max = 30ms}, .purpose = Purpose::play});
        pair.begin_media();
        ASSERT_TRUE(pair.connect()) << "seed " << seed << ": " << pair.failure;
        pair.network.options.loss = 0;
        pair.run(2s);
        EXPECT_FALSE(pair.received.empty()) << "seed " << seed;
    }
}

// The server's DTLS object is already released when it is lost.
TEST(SessionPair, RetransmitsLostFinalFlight) {
    SessionPair pair({.purpose = Purpose::play});
    for (int i = 0; i < 5'000 && pair.server->state() != Session::State::established; ++i)
        pair.run(1ms);
    for (int i = 0; i < 4; ++i) {
        ASSERT_FALSE(pair.server->holds_dtls());
        ASSERT_FALSE(pair.client->is_established());
        pair.network.lose_all();
        const std::size_t before = pair.datagrams_to_client;
        for (int ms = 0; ms < 5'000 && pair.datagrams_to_client == before; ++ms)
            pair.run(1ms);
    }
    EXPECT_TRUE(pair.connect(20ms)) << pair.failure;
    pair.begin_media();
    pair.run(1s);
    EXPECT_FALSE(pair.received.empty());
}

TEST(SessionPair, MediaFollowsThePairThatWasNominated) {
    SessionPair pair({.purpose = Purpose::play});
    ASSERT_TRUE(pair.connect());
    pair.begin_media();
    pair.run(1s);
    EXPECT_EQ(pair.server->selected(), kClientAddress);
    const TransportAddress moved{parse_ip("203.0.113.9").value(), 50'000};
    pair.client_address = moved;
    pair.run(500ms);
    EXPECT_EQ(pair.server->selected(), kClientAddress) << "reports alone move nothing";
    EXPECT_GT(pair.server->figures().unknown_address, 0U);
    pair.run(3s);
    EXPECT_EQ(pair.server->selected(), moved) << "a check with USE-CANDIDATE does, and the answer to ours";
    EXPECT_TRUE(pair.server->is_checked(kClientAddress));
    const std::size_t before = pair.received.size();
    pair.run(1s);
    EXPECT_GT(pair.received.size(), before);
}

// An attacker that has the password and spoofs another source address, or replays captured packets from elsewhere.
const TransportAddress kVictim{parse_ip("203.0.113.66").value(), 666};
void nominate_victim(SessionPair& pair) {
    wire::stun::MessageWriter out(wire::stun::Kind::request, {7});
    out.username("server:client").ice_controlling(1).use_candidate().priority(1);
    ASSERT_TRUE(out.sign(as_bytes(std::string(32, 's')), crypto::hmac_sha1).ok());
    Octets check = out.fingerprint().release();
    ASSERT_TRUE(pair.server->handle_datagram(SessionPair::now(), check, kVictim).ok());
}
// The limit for bytes of checks to that address: an answer and seven checks of ours, each no larger than a check with all
// attributes.
constexpr std::size_t kOneNomination = 8 * 128;

TEST(SessionPair, SendsMediaOnlyToAddressesThatAnswerChecks) {
    for (const bool dtls_on : {true, false}) {
        SessionPair pair({.purpose = Purpose::play, .dtls_on = dtls_on});
        ASSERT_TRUE(pair.connect());
        pair.begin_media();
        for (int i = 0; i < 20; ++i) {
            nominate_victim(pair);
            pair.run(2s);
        }
        EXPECT_EQ(pair.server->selected(), kClientAddress);
        EXPECT_LE(pair.bytes_elsewhere, 20 * kOneNomination);
        pair.end_media();
        pair.run(1s);
        const Outcome outcome = check_received(pair);
        EXPECT_EQ(outcome.audio + outcome.video, pair.rtp_log.packets.size());
    }
}

TEST(SessionPair, ReplayedChecksDoNotKeepASilentClientAlive) {
    SessionPair pair({.purpose = Purpose::play});
    ASSERT_TRUE(pair.connect());
    pair.begin_media();
    pair.client_is_gone = true;
    for (int i = 0; i < 15; ++i) {
        nominate_victim(pair);
        pair.run(2s);
    }
    EXPECT_EQ(pair.server->state(), Session::State::closed);
    EXPECT_LE(pair.bytes_elsewhere, 15 * kOneNomination);
}

TEST(SessionPair, HandshakeSentToTwoAddressesProvesNeither) {
    SessionPair pair({.purpose = Purpose::play});
    // Once the handshake has begun, the victim gets a flight; the client nominates again, and gets it, too.
    while (!pair.server->selected())
        pair.run(1ms);
    nominate_victim(pair);
    ASSERT_TRUE(pair.connect(10s)) << pair.failure;
    EXPECT_GT(pair.bytes_elsewhere, 200U);
    pair.begin_media();
    const std::size_t before = pair.bytes_elsewhere;
    pair.run(2s);
    EXPECT_EQ(pair.server->selected(), pair.client_address);
    EXPECT_EQ(pair.bytes_elsewhere, before);
    EXPECT_FALSE(pair.received.empty());
}

TEST(SessionPair, PlainMediaForLoadTests) {
    SessionPair pair({.purpose = Purpose::play, .dtls_on = false});
    ASSERT_TRUE(pair.connect());
    EXPECT_FALSE(pair.server->holds_dtls());
    pair.begin_media();
    pair.run(2s);
    pair.end_media();
    pair.run(200ms);
    const Outcome outcome = check_received(pair);
    EXPECT_EQ(outcome.audio + outcome.video, pair.rtp_log.packets.size());
}

// A player that skips to a key frame sees no gap, and can still request missing packets from either side of the jump.
TEST(SessionPair, AJumpInTheLogIsNoHoleForThePlayer) {
    SessionPair pair({.network = {.seed = 5, .loss = 0.05, .delay_min = 20ms, .delay_max = 20ms}, .purpose = Purpose::play});
    ASSERT_TRUE(pair.connect());
    pair.rtp_log.has_audio = false;
    pair.begin_media();
    pair.run(3s);
    // The RTP log continues a thousand numbers later.
    pair.rtp_log.first_sequence = static_cast<std::uint16_t>(pair.rtp_log.first_sequence + 1'000);
    pair.run(3s);
    pair.network.options.loss = 0;  // the loss of the last packet cannot be detected
    pair.run(100ms);
    pair.end_media();
    pair.run(2s);
    const Outcome outcome = check_received(pair);
    EXPECT_EQ(outcome.before + outcome.video, pair.rtp_log.packets.size()) << "before the first that came nobody knows of any";
    EXPECT_EQ(outcome.holes, 0U);
    EXPECT_EQ(pair.receiver()->figures().given_up, 0U);
}

}  // namespace
}  // namespace live::engine::webrtc
