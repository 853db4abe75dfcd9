// Packets that any kind of peer may send to a connection, one by one; the simulation has the rest.
#include "engine/srt/connection.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "engine/srt/handshake/connection_setup.hpp"
#include "engine/srt/link_fixture.hpp"
#include "engine/srt/transfer/send_budget.hpp"

namespace live::engine::srt {
namespace {

const Salt kSalt{4, 5, 6};

KeyEncryptingKey kek_of(const Salt& salt, std::string_view passphrase = kPassphrase) {
    return derive_key(passphrase, salt, 16).value();
}

// A connection whose peer is the test.
struct OneEnd {
    explicit OneEnd(std::uint32_t handshake_version = 5, ConnectionOptions options = {}, bool has_key = false) {
        Connection::Setup setup;
        setup.peer = kCallerAddress;
        setup.socket_id = kListenerSocket;
        setup.peer_socket_id = kCallerSocket;
        setup.handshake_version = handshake_version;
        setup.began_at = setup.peer_received_at = now;
        setup.send_initial_sequence = 100;
        setup.receive_initial_sequence = 100;
        setup.options = options;
        if (handshake_version == 5)
            setup.peer_capabilities = Capabilities{.flags = 0xBF};
        if (has_key)
            setup.key = StreamKey{.salt = kSalt, .kek = kek_of(kSalt), .key = std::vector<std::uint8_t>(16, 1)};
        connection = std::make_unique<Connection>(now, std::move(setup));
    }

    void give(ControlType type, std::uint32_t information, Bytes contents, std::uint16_t subtype = 0) {
        connection->handle_datagram(
            now,
            write_control(
                {.type = type, .subtype = subtype, .information = information, .timestamp = timestamp(), .to = kListenerSocket},
                contents));
    }
    void give_data(std::uint32_t sequence, KeyFlag key = KeyFlag::none, std::size_t bytes = 188) {
        std::vector<std::uint8_t> datagram(kHeaderBytes + bytes);
        write_header(DataHeader{.sequence = sequence, .key = key, .timestamp = timestamp(), .to = kListenerSocket}, datagram);
        connection->handle_datagram(now, datagram);
    }
    std::uint32_t timestamp() const {
        return static_cast<std::uint32_t>(std::chrono::floor<std::chrono::microseconds>(now - TimePoint{1h}).count());
    }
    // Returns its output of this moment.
    std::vector<std::vector<std::uint8_t>> output() {
        std::vector<std::vector<std::uint8_t>> all;
        std::vector<std::uint8_t> buffer(kDatagramBytesMax);
        while (const std::size_t size = connection->write_next(now, buffer))
            all.emplace_back(buffer.begin(), buffer.begin() + static_cast<int>(size));
        return all;
    }
    // The control packets of one type among them.
    std::vector<std::vector<std::uint8_t>> controls(ControlType type) {
        std::vector<std::vector<std::uint8_t>> found;
        for (auto& datagram : output()) {
            const auto packet = parse_packet(datagram).value();
            const auto* const control = std::get_if<ControlPacket>(&packet);
            if (control != nullptr && control->header.type == type)
                found.push_back(std::move(datagram));
        }
        return found;
    }
    void pass(std::chrono::milliseconds time) {
        now += time;
        connection->handle_timeout(now);
    }

    TimePoint now{1h};
    std::unique_ptr<Connection> connection;
};

Bytes contents_of(const std::vector<std::uint8_t>& datagram) { return Bytes(datagram).subspan(kHeaderBytes); }

TEST(SrtConnection, IgnoresDatagramsForOtherSockets) {
    OneEnd end;
    end.connection->handle_datagram(end.now, write_control({.type = ControlType::shutdown, .to = SocketId{5}}, {}));
    EXPECT_TRUE(end.connection->is_open());
    EXPECT_TRUE(end.connection->is_peer(kCallerAddress));
    TransportAddress other = kCallerAddress;
    ++other.port;
    EXPECT_FALSE(end.connection->is_peer(other));
    end.give(ControlType::shutdown, 0, {});
    EXPECT_EQ(end.connection->close_reason(), CloseReason::peer_shutdown);
    EXPECT_TRUE(end.output().empty());
    EXPECT_EQ(end.connection->next_timeout(end.now), TimePoint::max());
}

TEST(SrtConnection, AcknowledgesEveryTenMilliseconds) {
    OneEnd end;
    end.give_data(100);
    end.pass(0ms);
    const auto first = end.controls(ControlType::ack);
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(parse_ack(contents_of(first[0]))->next_sequence, 101U);
    end.give_data(101);
    end.pass(9ms);
    EXPECT_TRUE(end.controls(ControlType::ack).empty());
    end.pass(1ms);
    const auto second = end.controls(ControlType::ack);
    ASSERT_EQ(second.size(), 1U);
    EXPECT_EQ(second[0][7], 2);  // its number
    // Confirmed: not repeated. The time until then is the round trip.
    end.now += 30ms;
    end.give(ControlType::ack_ack, 2, {});
    EXPECT_EQ(end.connection->figures().rtt, 30ms);
    end.pass(500ms);
    EXPECT_TRUE(end.controls(ControlType::ack).empty());
}

TEST(SrtConnection, PacketsWithoutContentsArePaddedInPlace) {
    OneEnd end;
    const Ack ack{
        .next_sequence = 100, .path = Ack::Path{.rtt_us = 1'000, .rtt_variance_us = 10, .buffer_packets = 100}, .rates = {}};
    end.give(ControlType::ack, 7, write_ack(ack));
    const auto confirmed = end.controls(ControlType::ack_ack);
    ASSERT_EQ(confirmed.size(), 1U);
    EXPECT_EQ(contents_of(confirmed[0]).size(), kNoContentsBytes);
    end.pass(1'100ms);
    const auto alive = end.controls(ControlType::keepalive);
    ASSERT_EQ(alive.size(), 1U);
    EXPECT_EQ(contents_of(alive[0]).size(), kNoContentsBytes);
    end.connection->close();
    const auto goodbye = end.controls(ControlType::shutdown);
    ASSERT_EQ(goodbye.size(), 1U);
    const Bytes last = contents_of(goodbye[0]);
    EXPECT_EQ(std::vector<std::uint8_t>(last.begin(), last.end()), std::vector<std::uint8_t>(4)) << "not what was in the buffer";
}

TEST(SrtConnection, SendsALightAckEach64Packets) {
    OneEnd end;
    end.give_data(100);
    end.pass(0ms);
    end.output();
    for (std::uint32_t i = 101; i <= 164; ++i)
        end.give_data(i);
    const auto acks = end.controls(ControlType::ack);
    ASSERT_EQ(acks.size(), 1U);
    EXPECT_EQ(acks[0].size(), kHeaderBytes + 4);
    EXPECT_EQ(parse_ack(contents_of(acks[0]))->next_sequence, 165U);
}

TEST(SrtConnection, RequestsMissingPacketsAtOnceAndAgain) {
    OneEnd end;
    end.give_data(100);
    end.give_data(104);
    auto naks = end.controls(ControlType::nak);
    ASSERT_EQ(naks.size(), 1U);
    EXPECT_EQ(parse_loss_list(contents_of(naks[0])).value(), (std::vector<SequenceRange>{{101, 103}}));
    end.give_data(102);
    end.pass(150ms);  // (100 ms + 4 * 50 ms) / 2
    naks = end.controls(ControlType::nak);
    ASSERT_EQ(naks.size(), 1U);
    EXPECT_EQ(parse_loss_list(contents_of(naks[0])).value(), (std::vector<SequenceRange>{{101, 101}, {103, 103}}));
    EXPECT_EQ(end.connection->figures().receive_lost, 3U);
    end.pass(150ms);
    EXPECT_EQ(end.controls(ControlType::nak).size(), 1U);
    // A whole round trip has not brought them: five times a round trip from here on.
    for (int i = 0; i < 5; ++i) {
        end.pass(10ms);
        EXPECT_EQ(end.controls(ControlType::nak).size(), 0U);
        end.pass(10ms);
        EXPECT_EQ(end.controls(ControlType::nak).size(), 1U);
    }
}

TEST(SrtConnection, RetransmitsOnceEachRoundTrip) {
    OneEnd end;
    for (std::uint64_t i = 0; i < 5; ++i)
        EXPECT_EQ(end.connection->send(end.now, numbered_payload(i)), Connection::Sent::queued);
    EXPECT_EQ(end.output().size(), 5U);
    const auto nak = write_loss_list(std::vector<SequenceRange>{{101, 102}, {101, 102}});
    for (int i = 0; i < 3; ++i)
        end.give(ControlType::nak, 0, nak);
    const auto again = end.output();
    ASSERT_EQ(again.size(), 2U);
    const auto packet = parse_packet(again[0]).value();
    EXPECT_EQ(std::get<DataPacket>(packet).header.sequence, 101U);
    EXPECT_TRUE(std::get<DataPacket>(packet).header.is_retransmitted);
    end.give(ControlType::nak, 0, nak);
    EXPECT_TRUE(end.output().empty());
    end.now += 100ms;
    end.give(ControlType::nak, 0, nak);
    EXPECT_EQ(end.output().size(), 2U);
    EXPECT_EQ(end.connection->figures().retransmitted, 4U);
}

// Sends the given number of packets, and answers requests for retransmissions.
struct Sender : OneEnd {
    Sender(std::uint32_t count, std::chrono::milliseconds latency) : OneEnd(5, {.peer_latency = latency}) {
        for (std::uint64_t i = 0; i < count; ++i)
            static_cast<void>(connection->send(now, numbered_payload(i)));
        EXPECT_EQ(output().size(), count);
    }
    std::size_t ask_for(std::uint32_t first, std::uint32_t last) {
        give(ControlType::nak, 0, write_loss_list(std::vector<SequenceRange>{{first, last}}));
        return output().size();
    }
    std::size_t after(std::chrono::milliseconds time) {
        pass(time);
        return output().size();
    }
};

TEST(SrtConnection, SendsCopiesOfRepeatedlyRequestedPackets) {
    Sender end(40, 0ms);
    EXPECT_EQ(end.ask_for(110, 110), 1U);
    EXPECT_EQ(end.after(50ms), 0U);
    EXPECT_EQ(end.after(50ms), 0U);
    EXPECT_EQ(end.ask_for(110, 110), 1U);
    EXPECT_EQ(end.connection->next_timeout(end.now), end.now + 5ms);
    EXPECT_EQ(end.after(4ms), 0U);
    EXPECT_EQ(end.ask_for(110, 110), 0U);
    EXPECT_EQ(end.after(1ms), 1U);
    EXPECT_EQ(end.after(5ms), 1U);
    EXPECT_EQ(end.after(90ms), 0U);
    EXPECT_EQ(end.ask_for(110, 110), 1U);
    EXPECT_EQ(end.after(5ms), 1U);
    EXPECT_EQ(end.after(5ms), 1U);
    EXPECT_EQ(end.after(50ms), 0U);
    EXPECT_EQ(end.connection->figures().retransmitted, 7U);
}

TEST(SrtConnection, SendsCopiesOfPacketsThatCannotBeRequestedAgain) {
    Sender end(40, 200ms);  // until it is measured, a round trip takes up to 300 ms
    EXPECT_EQ(end.ask_for(110, 110), 1U);
    EXPECT_EQ(end.after(5ms), 1U);
    EXPECT_EQ(end.after(5ms), 1U);
    EXPECT_EQ(end.after(5ms), 0U);
    end.pass(190ms);  // too late for copies
    EXPECT_EQ(end.ask_for(120, 120), 1U);
    EXPECT_EQ(end.after(10ms), 0U);
}

TEST(SrtConnection, ForgetsCopiesOfAcknowledgedPackets) {
    Sender end(40, 200ms);
    EXPECT_EQ(end.ask_for(110, 111), 2U);
    end.give(ControlType::ack, 0, write_ack({.next_sequence = 111, .path = {}, .rates = {}}));
    EXPECT_EQ(end.after(5ms), 1U);
    end.give(ControlType::ack, 0, write_ack({.next_sequence = 140, .path = {}, .rates = {}}));
    EXPECT_EQ(end.after(5ms), 0U);
}

TEST(SrtConnection, LimitsCopiesToAShareOfTheSentBytes) {
    Sender end(8, 200ms);
    EXPECT_EQ(end.ask_for(100, 107), 8U);
    EXPECT_EQ(end.after(5ms) + end.after(5ms), 2U);
    EXPECT_EQ(end.after(20ms), 0U);
    // An unused budget is kept for a while.
    Sender other(2'000, 200ms);
    EXPECT_EQ(other.after(15ms), 0U) << "all went at once, and the next is paced";
    EXPECT_EQ(other.ask_for(100, 199), 100U);
    EXPECT_EQ(other.after(5ms) + other.after(5ms), 64U);
    EXPECT_EQ(other.after(20ms), 0U);
}

// The player has a buffer of a minute, reports a round trip of 1 us, and requests every packet 50 times a second.
TEST(SrtConnection, LimitsRetransmissionsToAShareOfTheSentBytes) {
    OneEnd end(5, {.peer_latency = 65'000ms});
    std::uint64_t sent = 0;
    constexpr std::chrono::seconds kTime{20};
    for (const TimePoint until = end.now + kTime; end.now < until; end.now += 5ms) {
        end.connection->handle_timeout(end.now);
        EXPECT_EQ(end.connection->send(end.now, numbered_payload(sent++, 1'316)), Connection::Sent::queued);
        end.output();
        if (sent % 4 != 0)
            continue;
        end.give(ControlType::ack, static_cast<std::uint32_t>(sent),
                 write_ack({.next_sequence = 100, .path = Ack::Path{1, 1, 25'600}, .rates = {}}));
        const auto newest = 100 + static_cast<std::uint32_t>(sent) - 1;
        end.give(ControlType::nak, 0, write_loss_list(std::vector<SequenceRange>{{100, newest}}));
    }
    const Figures figures = end.connection->figures();
    EXPECT_EQ(figures.sent, sent) << "new packets come first";
    constexpr std::uint64_t kAtMost = ResendBudget::kSaved + kTime.count() * ResendBudget::kFloor;
    EXPECT_LE(figures.retransmitted_bytes, kAtMost + figures.sent_bytes / ResendBudget::kNewBytesPerByte + 2'000);
    EXPECT_GT(figures.retransmitted_bytes, 1'000'000U);
}

TEST(SrtConnection, BoundsTheRoundTripByItsAnswers) {
    OneEnd end(5, {.peer_latency = 10'000ms});
    std::uint32_t number = 0;
    const auto confirm = [&](std::uint32_t next, std::uint32_t rtt_us) {
        end.give(ControlType::ack, ++number, write_ack({.next_sequence = next, .path = Ack::Path{rtt_us, 1, 100}, .rates = {}}));
        end.output();
    };
    for (std::uint32_t i = 0; i < 20; ++i) {
        static_cast<void>(end.connection->send(end.now, numbered_payload(i)));
        end.output();
        end.pass(100ms);
        confirm(101 + i, 0);
    }
    for (int i = 0; i < 60; ++i)
        confirm(120, 1);
    for (std::uint64_t i = 20; i < 22; ++i)
        static_cast<void>(end.connection->send(end.now, numbered_payload(i)));
    end.output();
    // The connection may retransmit the last packet without a request.
    const auto ask = [&] {
        end.give(ControlType::nak, 0, write_loss_list(std::vector<SequenceRange>{{120, 120}}));
        return std::ranges::count_if(end.output(), [](const auto& datagram) {
            const auto packet = parse_packet(datagram).value();
            const auto* const data = std::get_if<DataPacket>(&packet);
            return data != nullptr && data->header.sequence == 120;
        });
    };
    EXPECT_EQ(ask(), 1);
    for (int i = 0; i < 8; ++i) {
        end.pass(5ms);
        EXPECT_EQ(ask(), 0) << i;
    }
    end.pass(60ms);
    EXPECT_EQ(ask(), 1);
}

TEST(SrtConnection, FollowsTheRateOfItsInput) {
    // A stream of 1.3 kB per frame has 10 Mbit/s, not 1 Gbit/s, for requested retransmissions.
    Sender end(1, 60'000ms);
    for (std::uint64_t i = 1; i < 200; ++i) {
        end.pass(40ms);
        static_cast<void>(end.connection->send(end.now, numbered_payload(i, 1'316)));
        EXPECT_EQ(end.output().size(), 1U);
    }
    EXPECT_LE(end.ask_for(100, 299), 12U) << "10 ms of it";
    EXPECT_LE(end.after(10ms), 12U);
}

TEST(SrtConnection, SendsADropRequestForDroppedPackets) {
    OneEnd end;
    for (std::uint64_t i = 0; i < 5; ++i)
        static_cast<void>(end.connection->send(end.now, numbered_payload(i)));
    end.output();
    end.give(ControlType::ack, 1, write_ack({.next_sequence = 103, .path = Ack::Path{1'000, 100, 50}, .rates = {}}));
    EXPECT_EQ(end.connection->figures().send_buffer_packets, 2U);
    EXPECT_EQ(end.controls(ControlType::ack_ack).size(), 1U);
    end.give(ControlType::nak, 0, write_loss_list(std::vector<SequenceRange>{{101, 103}}));
    const auto drops = end.controls(ControlType::drop_request);
    ASSERT_EQ(drops.size(), 1U);
    EXPECT_EQ(parse_drop_request(contents_of(drops[0])).value(), SequenceRange(101, 102));
}

TEST(SrtConnection, TracksAcknowledgedPacketsDespiteDrops) {
    OneEnd end;
    EXPECT_FALSE(end.connection->figures().is_owed_ack);
    for (std::uint64_t i = 0; i < 5; ++i)
        static_cast<void>(end.connection->send(end.now, numbered_payload(i)));
    EXPECT_FALSE(end.connection->figures().is_owed_ack) << "nothing is sent yet";
    end.output();
    EXPECT_TRUE(end.connection->figures().is_owed_ack);
    end.give(ControlType::ack, 1, write_ack({.next_sequence = 103, .path = Ack::Path{1'000, 100, 50}, .rates = {}}));
    end.give(ControlType::ack, 2, write_ack({.next_sequence = 102, .path = Ack::Path{1'000, 100, 50}, .rates = {}}));
    EXPECT_EQ(end.connection->figures().acknowledged, 3U);
    end.now += 3s;
    end.connection->handle_timeout(end.now);
    EXPECT_EQ(end.connection->figures().send_buffer_packets, 0U) << "too late";
    EXPECT_TRUE(end.connection->figures().is_owed_ack);
    EXPECT_EQ(end.connection->figures().acknowledged, 3U);
    end.give(ControlType::ack, 3, write_ack({.next_sequence = 105, .path = Ack::Path{1'000, 100, 50}, .rates = {}}));
    EXPECT_EQ(end.connection->figures().acknowledged, 5U);
    EXPECT_FALSE(end.connection->figures().is_owed_ack);
}

TEST(SrtConnection, RespectsThePeersWindow) {
    OneEnd end;
    end.give(ControlType::ack, 0, write_ack({.next_sequence = 100, .path = {}, .rates = {}}));
    for (std::uint64_t i = 0; i < 50; ++i)
        static_cast<void>(end.connection->send(end.now, numbered_payload(i)));
    EXPECT_EQ(end.output().size(), 50U);
    end.give(ControlType::ack, 1, write_ack({.next_sequence = 110, .path = Ack::Path{1'000, 100, 45}, .rates = {}}));
    end.output();
    for (std::uint64_t i = 0; i < 50; ++i)
        static_cast<void>(end.connection->send(end.now, numbered_payload(i)));
    EXPECT_EQ(end.output().size(), 5U);
}

TEST(SrtConnection, IgnoresReportsOfPacketsNeverSent) {
    OneEnd end;
    static_cast<void>(end.connection->send(end.now, numbered_payload(0)));
    end.output();
    end.give(ControlType::ack, 1, write_ack({.next_sequence = 102, .path = Ack::Path{1, 1, 1}, .rates = {}}));
    end.give(ControlType::nak, 0, write_loss_list(std::vector<SequenceRange>{{100, 500}, {7, 3}}));
    end.give(ControlType::nak, 0, hex("80000001"));
    end.give(ControlType::drop_request, 0, hex("00"));
    end.give(ControlType::user, 0, hex("00"), 1);
    end.connection->handle_datagram(end.now, hex("00"));
    EXPECT_EQ(end.connection->figures().malformed, 6U);
    EXPECT_EQ(end.connection->figures().send_buffer_packets, 1U);
    EXPECT_TRUE(end.connection->is_open());
    EXPECT_TRUE(end.output().empty());
}

TEST(SrtConnection, BoundsBothBuffers) {
    ConnectionOptions options;
    options.send_buffer_bytes = options.receive_buffer_bytes = 100'000;
    OneEnd end(5, options);
    std::size_t queued = 0;
    for (std::uint64_t i = 0; i < 1'000; ++i)
        queued += end.connection->send(end.now, numbered_payload(i, 1'000)) == Connection::Sent::queued ? 1 : 0;
    EXPECT_LE(queued, 100U);
    EXPECT_GE(queued, 60U);
    EXPECT_EQ(end.connection->send(end.now, numbered_payload(0, 1'317)), Connection::Sent::too_long);
    for (std::uint32_t i = 0; i < 10'000; ++i)
        end.give_data(100 + i * 2, KeyFlag::none, 1'456);
    EXPECT_LT(end.connection->held_bytes(), 400'000U);
    EXPECT_LE(end.connection->figures().receive_buffer_bytes, 100'000U);
    EXPECT_LE(end.output().size(), 110U);
}

TEST(SrtConnection, TakesNoPlainPayloadsWhenItHasAKey) {
    OneEnd end(5, {}, true);
    end.give_data(100);
    end.give_data(101, KeyFlag::odd);   // a key that was never announced
    end.give_data(102, KeyFlag::even);  // one that it has: any bytes are a ciphertext
    end.now += 200ms;
    auto payload = end.connection->next_payload(end.now);
    ASSERT_TRUE(payload.has_value());
    EXPECT_EQ(payload->skipped, 2U);
    EXPECT_EQ(end.connection->figures().undecrypted, 2U);
}

std::vector<std::uint8_t> key_message(const Salt& salt, std::uint8_t fill, KeyFlag flag = KeyFlag::odd) {
    return write_key_message({.keys = flag,
                              .key_bytes = 16,
                              .salt = salt,
                              .wrapped = wrap_keys(kek_of(salt), std::vector<std::uint8_t>(16, fill)).value()});
}

TEST(SrtConnection, TakesANewKeyOfTheSamePassphrase) {
    OneEnd end(5, {}, true);
    const auto message = key_message(kSalt, 9);
    end.give(ControlType::user, 0, message, 3);
    const auto answers = end.controls(ControlType::user);
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0][3], 4);
    EXPECT_EQ(std::vector<std::uint8_t>(answers[0].begin() + kHeaderBytes, answers[0].end()), message);
    end.give_data(100, KeyFlag::odd);
    EXPECT_EQ(end.connection->figures().undecrypted, 0U);
    auto broken = message;
    broken.back() ^= 1;
    end.give(ControlType::user, 0, broken, 3);
    const auto refusals = end.controls(ControlType::user);
    ASSERT_EQ(refusals.size(), 1U);
    EXPECT_EQ(parse_key_state(contents_of(refusals[0])), KeyState::bad_secret);
}

TEST(SrtConnection, AsksForTheKeyOfAnotherSaltAFewTimes) {
    OneEnd end(5, {}, true);
    unsigned questions = 0;
    for (std::uint8_t i = 0; i < 20; ++i) {
        const Salt salt{i, 9, 9, 9};
        end.give(ControlType::user, 0, key_message(salt, 3), 3);
        const auto question = end.connection->key_question();
        if (!question)
            continue;
        ++questions;
        EXPECT_EQ(question->salt, salt);
        EXPECT_EQ(end.connection->answer_key(kek_of(salt, "another passphrase")).code(), Errc::denied);
        EXPECT_FALSE(end.connection->key_question().has_value());
    }
    EXPECT_EQ(questions, 8U);
    EXPECT_TRUE(end.connection->answer_key(std::nullopt).ok());
}

// Version 4: after the handshake the sender sends its capabilities and its key.
TEST(SrtConnection, AVersion4PublisherMayEncrypt) {
    ConnectionOptions options;
    options.requires_encryption = true;
    OneEnd end(4, options);
    const auto capabilities =
        write_capabilities({.version = 0x01'02'00, .flags = 0x2F, .receiver_delay_ms = 0, .sender_delay_ms = 300});
    end.give(ControlType::user, 0, capabilities, 1);
    const auto answers = end.controls(ControlType::user);
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0][3], 2);
    EXPECT_EQ(parse_capabilities(Bytes(answers[0]).subspan(kHeaderBytes)).value().sender_delay_ms, 300U);
    EXPECT_EQ(end.connection->figures().peer_version, 0x01'02'00U);
    EXPECT_EQ(end.connection->figures().receive_latency, 300ms);
    end.give_data(100, KeyFlag::even);  // the sender waits for nothing
    end.give(ControlType::user, 0, key_message(kSalt, 3, KeyFlag::even), 3);
    ASSERT_TRUE(end.connection->key_question().has_value());
    end.give_data(101, KeyFlag::even);
    EXPECT_EQ(end.connection->figures().received, 0U);
    EXPECT_TRUE(end.connection->answer_key(kek_of(end.connection->key_question()->salt)).ok());
    EXPECT_EQ(end.controls(ControlType::user).size(), 1U);
    end.give_data(102, KeyFlag::even);
    EXPECT_EQ(end.controls(ControlType::nak).size(), 1U) << "what came too early is asked for again";
    end.give_data(100, KeyFlag::even);
    end.give_data(101, KeyFlag::even);
    end.give_data(103);  // not encrypted
    EXPECT_EQ(end.connection->figures().undecrypted, 1U);
    EXPECT_EQ(end.connection->figures().received, 4U);
    end.now += 400ms;
    EXPECT_TRUE(end.connection->next_payload(end.now).has_value());
    EXPECT_EQ(end.connection->send(end.now, numbered_payload(1)), Connection::Sent::no_key);
}

TEST(SrtConnection, SendsItsCapabilitiesToAVersion4Player) {
    OneEnd end(4);
    static_cast<void>(end.connection->send(end.now, numbered_payload(1)));
    const auto first = end.controls(ControlType::user);
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(first[0][3], 1);
    const auto ours = parse_capabilities(Bytes(first[0]).subspan(kHeaderBytes)).value();
    EXPECT_LT(ours.version, 0x01'03'00U) << "libsrt takes no later one in version 4";
    EXPECT_EQ(ours.receiver_delay_ms, 0U);
    end.pass(250ms);
    EXPECT_EQ(end.controls(ControlType::user).size(), 1U);
    end.give(ControlType::user, 0, write_capabilities({.version = 0x01'02'00, .flags = 0x2F, .sender_delay_ms = 700}), 2);
    EXPECT_EQ(end.connection->figures().send_latency, 700ms) << "the player's, in the only place that there is";
    end.pass(250ms);
    EXPECT_TRUE(end.controls(ControlType::user).empty());
}

// The sender has the key and sends it after the handshake in version 4: no data before the player has it.
TEST(SrtConnection, AVersion4PlayerIsGivenAKey) {
    ConnectionOptions options;
    options.requires_encryption = true;
    options.key_refresh_packets = 4;
    options.key_announce_packets = 1;
    OneEnd end(4, options, true);
    EXPECT_EQ(end.connection->send(end.now, numbered_payload(1)), Connection::Sent::no_key);
    auto messages = end.controls(ControlType::user);
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_EQ(messages[0][3], 1) << "what it can comes first";
    end.give(ControlType::user, 0, write_capabilities({.version = 0x01'02'00, .flags = 0x2F}), 2);
    EXPECT_LE(end.connection->next_timeout(end.now), end.now);
    messages = end.controls(ControlType::user);
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_EQ(messages[0][3], 3);
    const Bytes contents = Bytes(messages[0]).subspan(kHeaderBytes);
    const auto message = parse_key_message(contents).value();
    EXPECT_EQ(message.keys, KeyFlag::even);
    EXPECT_EQ(open_key_message(message, kek_of(message.salt)).value().even, std::vector<std::uint8_t>(16, 1));
    end.pass(1s);
    EXPECT_EQ(end.controls(ControlType::user).size(), 1U) << "until it is confirmed";
    EXPECT_EQ(end.connection->send(end.now, numbered_payload(1)), Connection::Sent::no_key);
    end.give(ControlType::user, 0, contents, 4);
    end.pass(1s);
    EXPECT_TRUE(end.controls(ControlType::user).empty());
    for (unsigned sent = 0; sent < 4; ++sent) {
        EXPECT_EQ(end.connection->send(end.now, numbered_payload(sent)), Connection::Sent::queued);
        const auto output = end.output();
        ASSERT_FALSE(output.empty());
        EXPECT_EQ(std::get<DataPacket>(parse_packet(output.back()).value()).header.key, KeyFlag::even);
    }
    EXPECT_EQ(end.connection->figures().sent, 4U);
    EXPECT_EQ(end.connection->figures().key_bytes, 16U);
    end.pass(1s);
    messages = end.controls(ControlType::user);
    ASSERT_EQ(messages.size(), 1U) << "the next key";
    end.give(ControlType::user, 0, Bytes(messages[0]).subspan(kHeaderBytes), 4);
    EXPECT_EQ(end.connection->send(end.now, numbered_payload(5)), Connection::Sent::queued);
    const auto last = end.output();
    ASSERT_EQ(last.size(), 1U);
    EXPECT_EQ(std::get<DataPacket>(parse_packet(last[0]).value()).header.key, KeyFlag::odd);
}

TEST(SrtConnection, AVersion4PlayerWithAnotherPassphraseIsLeft) {
    for (const bool knows_none : {false, true}) {
        ConnectionOptions options;
        options.requires_encryption = true;
        OneEnd end(4, options, true);
        end.give(ControlType::user, 0, write_capabilities({.version = 0x01'02'00, .flags = 0x2F}), 2);
        EXPECT_EQ(end.controls(ControlType::user).size(), 1U);
        const std::array<std::uint8_t, 4> answer{0, 0, 0, static_cast<std::uint8_t>(knows_none ? 3 : 4)};
        end.give(ControlType::user, 0, answer, 4);
        EXPECT_EQ(end.connection->close_reason(), CloseReason::peer_rejected);
        EXPECT_EQ(end.controls(ControlType::shutdown).size(), 1U);
    }
}

TEST(SrtConnection, AVersion4PlayerThatDoesNotConfirmItsKeyIsLeft) {
    ConnectionOptions options;
    options.requires_encryption = true;
    OneEnd end(4, options, true);
    end.give(ControlType::user, 0, write_capabilities({.version = 0x01'02'00, .flags = 0x2F}), 2);
    std::size_t announced = 0;
    for (int i = 0; i < 200 && end.connection->is_open(); ++i) {
        announced += end.controls(ControlType::user).size();
        end.give(ControlType::keepalive, 0, {});
        end.pass(100ms);
    }
    EXPECT_EQ(announced, SendKeys::kFirstAnnouncementsMax);
    EXPECT_EQ(end.connection->close_reason(), CloseReason::peer_rejected);
}

TEST(SrtConnection, ClosesForAVersion4PlayerWithoutCapabilities) {
    for (const bool has_key : {false, true}) {
        ConnectionOptions options;
        options.requires_encryption = has_key;
        OneEnd end(4, options, has_key);
        static_cast<void>(end.connection->send(end.now, numbered_payload(1)));
        std::size_t asked = 0;
        for (int i = 0; i < 200 && end.connection->is_open(); ++i) {
            asked += end.controls(ControlType::user).size();
            end.give(ControlType::keepalive, 0, {});
            end.pass(100ms);
        }
        EXPECT_EQ(asked, 20U);
        EXPECT_EQ(end.connection->close_reason(), has_key ? CloseReason::peer_rejected : CloseReason::none)
            << "without a key it can play all the same";
    }
}

TEST(SrtConnection, SendsAKeepaliveEverySecond) {
    OneEnd end;
    end.pass(999ms);
    EXPECT_TRUE(end.output().empty());
    EXPECT_EQ(end.connection->next_timeout(end.now), end.now + 1ms);
    end.pass(1ms);
    EXPECT_EQ(end.controls(ControlType::keepalive).size(), 1U);
    end.pass(500ms);
    EXPECT_TRUE(end.output().empty());
}

}  // namespace
}  // namespace live::engine::srt
