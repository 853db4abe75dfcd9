// A receiver that reads payloads on arrival, beside one that does not: the same payloads, at the same times, and the same
// answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/rounds_fixture.hpp"
#include "engine/srt/link_fixture.hpp"

namespace live::engine::srt {
namespace {

struct Delivery {
    TimePoint at;
    std::uint64_t position;
    std::uint64_t skipped;
    std::vector<std::uint8_t> bytes;

    bool operator==(const Delivery&) const = default;
};

class Receiver {
public:
    Receiver(TimePoint now, Connection::Setup setup, bool reads) : connection(now, std::move(setup)), reads_(reads) {
        connection.read_on_arrival(reads);
    }

    void take(TimePoint now, Bytes datagram) {
        connection.handle_datagram(now, datagram);
        while (const auto arrived = connection.next_arrived()) {
            EXPECT_TRUE(reads_);
            // In order, and each before it is delivered.
            EXPECT_TRUE(read_.empty() || read_.rbegin()->first < arrived->position);
            EXPECT_TRUE(deliveries.empty() || deliveries.back().position < arrived->position);
            read_[arrived->position] = {arrived->bytes.begin(), arrived->bytes.end()};
        }
    }
    std::vector<std::vector<std::uint8_t>> advance(TimePoint now) {
        connection.handle_timeout(now);
        while (const auto payload = connection.next_payload(now)) {
            Delivery one{
                now, payload->position, payload->skipped, {payload->bytes.bytes().begin(), payload->bytes.bytes().end()}};
            if (payload->was_read) {
                EXPECT_TRUE(one.bytes.empty());
                one.bytes = read_.at(one.position);
                ++were_read;
            }
            EXPECT_EQ(one.bytes.size(), payload->size);
            deliveries.push_back(std::move(one));
        }
        std::vector<std::vector<std::uint8_t>> output;
        std::vector<std::uint8_t> buffer(kDatagramBytesMax);
        while (const std::size_t size = connection.write_next(now, buffer))
            output.emplace_back(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(size));
        return output;
    }

    Connection connection;
    std::vector<Delivery> deliveries;
    std::uint64_t were_read = 0;

private:
    bool reads_;
    std::map<std::uint64_t, std::vector<std::uint8_t>> read_;
};

struct Link {
    LinkOptions options;
    ConnectionOptions connection{};
    bool is_encrypted = false;
};

struct Totals {
    std::uint64_t sent = 0;
    std::uint64_t delivered = 0;
    std::uint64_t were_read = 0;
};

// Ten seconds of a payload each millisecond, over a link that loses, delays and reorders.
Totals run(const Link& link) {
    const TimePoint start{1h};
    Connection::Setup setup;
    setup.peer = kCallerAddress;
    setup.began_at = setup.peer_received_at = start;
    setup.options = link.connection;
    setup.peer_capabilities = own_capabilities(link.connection);
    if (link.is_encrypted)
        setup.key =
            StreamKey{.salt = {1}, .kek = derive_key(kPassphrase, {1}, 16).value(), .key = std::vector<std::uint8_t>(16, 7)};
    Connection::Setup sending = setup;
    sending.socket_id = setup.peer_socket_id = kCallerSocket;
    setup.socket_id = sending.peer_socket_id = kListenerSocket;
    Connection sender(start, sending);
    Receiver reading(start, setup, true);
    Receiver plain(start, setup, false);
    SimulatedLink to_receiver(link.options);
    std::vector<std::uint8_t> buffer(kDatagramBytesMax);
    std::uint64_t sent = 0;
    for (TimePoint now = start; now < start + 10s; now += 1ms) {
        if (now < start + 9s && sender.send(now, numbered_payload(sent)) == Connection::Sent::queued)
            ++sent;
        sender.handle_timeout(now);
        while (const std::size_t size = sender.write_next(now, buffer))
            to_receiver.send(now, Bytes(buffer).first(size));
        while (const auto datagram = to_receiver.arrived(now)) {
            reading.take(now, *datagram);
            plain.take(now, *datagram);
        }
        const auto answers = reading.advance(now);
        EXPECT_EQ(answers, plain.advance(now)) << "seed " << link.options.seed;
        EXPECT_EQ(reading.connection.next_timeout(now), plain.connection.next_timeout(now));
        for (const auto& answer : answers)
            sender.handle_datagram(now, answer);
    }
    EXPECT_EQ(reading.deliveries, plain.deliveries) << "seed " << link.options.seed;
    EXPECT_EQ(plain.were_read, 0U);
    const Figures figures = reading.connection.figures();
    EXPECT_EQ(figures.receive_dropped, plain.connection.figures().receive_dropped);
    EXPECT_EQ(figures.received, plain.connection.figures().received);
    return {sent, reading.deliveries.size(), reading.were_read};
}

TEST(SrtArrival, DeliversTheSameWhenNothingIsLost) {
    for (const Link& link : {Link{.options = {.delay = 5ms}}, Link{.options = {.delay = 5ms}, .is_encrypted = true},
                             Link{.options = {.delay = 5ms}, .connection = {.tsbpd = false}}}) {
        const Totals totals = run(link);
        EXPECT_EQ(totals.sent, 9'000U);
        EXPECT_EQ(totals.delivered, 9'000U);
        EXPECT_EQ(totals.were_read, 9'000U);
    }
}

TEST(SrtArrival, DeliversTheSameOverALinkThatLosesAndReorders) {
    for (std::uint32_t seed = 1; seed <= rounds(4U, 60U); ++seed) {
        const Totals good =
            run({.options = {.delay = 10ms, .jitter = 6ms, .loss_percent = 3, .seed = seed}, .is_encrypted = seed % 2 == 0});
        EXPECT_EQ(good.delivered, good.sent);
        EXPECT_EQ(good.were_read, good.sent) << "lost ones came in time, and what followed them was read then";
        // Lost ones come too late.
        const Totals bad = run({.options = {.delay = 70ms, .jitter = 30ms, .loss_percent = 10, .seed = seed}});
        EXPECT_LT(bad.delivered, bad.sent);
        EXPECT_LT(bad.were_read, bad.delivered);
    }
}

TEST(SrtArrival, DeliversTheSameWithoutDropsAndInASmallBuffer) {
    for (std::uint32_t seed = 1; seed <= rounds(3U, 30U); ++seed) {
        run({.options = {.delay = 10ms, .loss_percent = 3, .seed = seed}, .connection = {.too_late_drop = false}});
        run({.options = {.delay = 10ms, .jitter = 4ms, .loss_percent = 3, .seed = seed},
             .connection = {.receive_buffer_bytes = 100 * 188}});
    }
}

TEST(SrtArrival, CanBeEndedAndBegunAgain) {
    const TimePoint start{1h};
    Connection::Setup setup;
    setup.peer = kCallerAddress;
    setup.began_at = setup.peer_received_at = start;
    setup.socket_id = kListenerSocket;
    Receiver receiver(start, setup, true);
    const auto arrive = [&](std::uint32_t number) {
        std::vector<std::uint8_t> datagram(kHeaderBytes);
        write_header(DataHeader{.sequence = number, .timestamp = number, .to = kListenerSocket}, datagram);
        const Slice payload = numbered_payload(number);
        datagram.insert(datagram.end(), payload.bytes().begin(), payload.bytes().end());
        receiver.take(start, datagram);
    };
    arrive(0);
    receiver.connection.read_on_arrival(false);
    arrive(1);
    arrive(2);
    receiver.connection.read_on_arrival(true);
    arrive(3);
    receiver.advance(start + 1s);
    ASSERT_EQ(receiver.deliveries.size(), 4U);
    EXPECT_EQ(receiver.were_read, 4U) << "those between were read with the last one";
    receiver.connection.read_on_arrival(false);
    arrive(4);
    receiver.advance(start + 2s);
    EXPECT_EQ(receiver.were_read, 4U);
    ASSERT_EQ(receiver.deliveries.size(), 5U);
    EXPECT_EQ(receiver.deliveries.back().bytes.size(), 188U);
}

}  // namespace
}  // namespace live::engine::srt
