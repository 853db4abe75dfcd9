// Retention of a source against a naive model: a reader that never falls behind the bounds gets every packet; one that does loses
// packets in one step to a place where decoding can start, and reports how many. Covers combinations of options, sizes and speeds
// chosen by a seed.
#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/rounds_fixture.hpp"
#include "media/source/cursor.hpp"
#include "media/source/wire_cursor.hpp"
#include "media/source/wire_log_fixture.hpp"
#include "wire/rtmp/chunk_reader.hpp"

namespace live::media {
namespace {

// A source always keeps this much: it drops a sixteenth above its limit.
constexpr std::size_t kSureBytes = Retention::kRingBytesMax / 16 * 15 - (2U << 20);

// A publisher with random habits: numbers its packets, keeps a list of them, and returns the possible places of a reader.
struct Broadcast {
    explicit Broadcast(std::uint32_t seed) : random(seed), stage(options_for(random)) {
        gop = std::array{10U, 50U, 400U, 3'000U}[random() % 4];
        size_max = std::array{300U, 20'000U, 20'000U, 1'500'000U}[random() % 4];
        step_ms = static_cast<std::uint32_t>(5 + random() % 60);
    }

    static PlayOptions options_for(std::mt19937& random) {
        PlayOptions options;
        options.gop_cache = random() % 2 == 0;
        options.gop_cache_frames_max = random() % 3 == 0 ? 200 : 0;
        options.queue_length = std::chrono::seconds(1 + random() % 30);
        options.history_min = random() % 3 == 0 ? 2s : 0s;
        return options;
    }
    void packet() {
        const std::uint32_t number = stage.number;
        Slice payload = Slice::allocate(4 + random() % size_max);
        for (std::size_t i = 0; i < 4; ++i)
            payload.mutable_bytes()[i] = static_cast<std::uint8_t>(number >> (8 * i));
        time += std::chrono::milliseconds(step_ms);
        const bool is_video = random() % 3 != 0;
        const bool key = is_video && pictures++ % gop == 0;
        bytes_until.push_back((bytes_until.empty() ? 0 : bytes_until.back()) + payload.size());
        stage.send(is_video ? MediaKind::video : MediaKind::audio, key, false, time, std::move(payload));
    }
    // Bytes of the packets from `number` on.
    std::size_t bytes_from(std::size_t number) const {
        return bytes_until.empty() ? 0 : bytes_until.back() - (number == 0 ? 0 : bytes_until[number - 1]);
    }

    std::mt19937 random;
    Stage stage;
    std::uint32_t gop = 0;
    std::uint32_t size_max = 0;
    std::uint32_t step_ms = 0;
    std::uint32_t pictures = 0;
    MediaTime time{};
    std::vector<std::size_t> bytes_until;
};

// One reader and what it must have received.
struct Reader {
    virtual ~Reader() = default;
    // Reads up to `room` packets or bytes.
    virtual void read(std::size_t room) = 0;
    virtual std::uint64_t dropped() const = 0;
    virtual std::size_t room_for(std::mt19937& random) const = 0;

    void got(std::uint32_t number) {
        const bool is_later = numbers.empty() || number > numbers.back();
        EXPECT_TRUE(is_later) << number;
        numbers.push_back(number);
    }
    // After each packet: checks whether the reader is within the bounds and so must not lose anything.
    void look(const Broadcast& broadcast) {
        const std::size_t next = numbers.empty() ? joined : numbers.back() + 1;
        if (next >= broadcast.stage.sent.size())
            return;
        const bool in_time = broadcast.time - broadcast.stage.sent[next].dts <= broadcast.stage.source->options().queue_length;
        was_within = was_within && in_time && broadcast.bytes_from(next) < kSureBytes;
    }
    void expect_right(const Broadcast& broadcast) const {
        EXPECT_EQ(numbers.size() + dropped(), broadcast.stage.number - joined) << "what it did not get is counted";
        const bool has_last = !numbers.empty() && numbers.back() + 1 == broadcast.stage.number;
        EXPECT_TRUE(has_last || dropped() > 0) << "it ends at the head, or has jumped there";
        EXPECT_TRUE(!was_within || dropped() == 0) << "it was never out of bounds and lost " << dropped();
    }

    std::vector<std::uint32_t> numbers;
    std::size_t joined = 0;
    bool was_within = true;
};

struct PacketWise final : Reader {
    explicit PacketWise(Broadcast& broadcast) : cursor(broadcast.stage.source, WakeMode::batched) { joined = cursor.next(); }
    void read(std::size_t room) override {
        for (; room > 0; --room) {
            const auto packet = cursor.take();
            if (!packet)
                return;
            got(number_of(packet->payload));
        }
    }
    std::uint64_t dropped() const override { return cursor.dropped(); }
    std::size_t room_for(std::mt19937& random) const override { return random() % 3; }
    Cursor cursor;
};

struct Bytewise final : Reader {
    explicit Bytewise(Broadcast& broadcast) : size_max(broadcast.size_max), cursor(broadcast.stage.source, WireFormat()) {
        joined = broadcast.stage.source->retention().join_point();
        parser.set_chunk_size(4096);
        parser.set_limits({.message_bytes = 1U << 24, .pending_bytes = 1U << 25});
    }
    void read(std::size_t room) override {
        std::array<::iovec, 16> spans;
        for (;;) {
            const auto batch = cursor.take(spans);
            std::size_t count = std::min(room, batch.bytes);
            cursor_takes(std::span(spans).first(batch.spans), count);
            cursor.advance(count);
            room -= count;
            if (batch.bytes == 0 || count < batch.bytes)
                return;
        }
    }
    void cursor_takes(std::span<::iovec> spans, std::size_t count) {
        for (const ::iovec& span : spans) {
            const std::size_t part = std::min(count, span.iov_len);
            Bytes input(static_cast<const std::uint8_t*>(span.iov_base), part);
            while (!input.empty())
                if (auto message = parser.read(input).value())
                    got(number_of(message->payload));
            count -= part;
        }
    }
    std::uint64_t dropped() const override { return cursor.dropped(); }
    std::size_t room_for(std::mt19937& random) const override { return random() % (2 * size_max); }
    std::uint32_t size_max;
    WireCursor cursor;
    wire::rtmp::ChunkReader parser;
};

// Whether other users need the memory now and then.
enum class Memory : bool { enough, scarce };

void watch(std::uint32_t seed, Memory memory) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Broadcast broadcast(seed);
    std::vector<std::unique_ptr<Reader>> readers;
    std::vector<int> habits;  // 0 reads everything, 1 as it arrives, 2 almost nothing, 3 sleeps long, then reads everything
    // Enough large packets to fill the ring twice; copying them takes most of the time.
    const std::size_t packets = broadcast.size_max > 1'000'000 ? 180 : 1'500;
    const std::size_t joins_every = std::min<std::size_t>(packets / 2, 200);
    for (std::size_t i = 0; i < packets; ++i) {
        if (i % joins_every == 0) {
            for (const int habit : {0, 1, 2, 3}) {
                if (broadcast.random() % 2 == 0)
                    readers.push_back(std::make_unique<PacketWise>(broadcast));
                else
                    readers.push_back(std::make_unique<Bytewise>(broadcast));
                habits.push_back(habit);
            }
        }
        broadcast.packet();
        if (memory == Memory::scarce && broadcast.random() % 100 == 0) {
            broadcast.stage.source->retention().release_oldest(broadcast.random() % (broadcast.stage.source->ring().bytes() + 1));
            for (const auto& reader : readers)
                reader->was_within = false;
        }
        for (std::size_t r = 0; r < readers.size(); ++r) {
            readers[r]->look(broadcast);
            if (habits[r] == 0 || (habits[r] == 3 && broadcast.random() % 300 == 0))
                readers[r]->read(std::size_t{1} << 30);
            else if (habits[r] == 1 || (habits[r] == 2 && broadcast.random() % 20 == 0))
                readers[r]->read(readers[r]->room_for(broadcast.random));
        }
        ASSERT_LE(broadcast.stage.source->ring().bytes(), Retention::kRingBytesMax + Retention::kTrimBytesMax / 2);
    }
    std::uint64_t dropped = 0;
    for (const auto& reader : readers) {
        reader->read(std::size_t{1} << 30);
        reader->expect_right(broadcast);
        dropped += reader->dropped();
    }
    EXPECT_EQ(broadcast.stage.source->counters().dropped_packets, dropped);
}

TEST(Retention, ReadersWithinBoundsLoseNothingAndLossIsCounted) {
    for (std::uint32_t seed = 0; seed < rounds(12U, 60U); ++seed)
        watch(seed, Memory::enough);
}

TEST(Retention, CountsReleasedPacketsAndReadersContinue) {
    for (std::uint32_t seed = 100; seed < rounds(106U, 130U); ++seed)
        watch(seed, Memory::scarce);
}

// A forward or a recording on a slow disk, with gop_cache off and sparse key frames: the place where it resumes must be kept too.
TEST(Retention, SlowReaderOfLongGopsContinuesWithoutGopCache) {
    for (const int gop : {300, 1'000, 100'000}) {
        PlayOptions options;
        options.gop_cache = false;
        options.queue_length = 12s;
        Stage stage(options);
        stage.send(MediaKind::video, true, false, 0ms, payload_of(0, 10));
        Cursor slow(stage.source, WakeMode::batched);
        stage.send(MediaKind::video, false, false, 40ms, payload_of(1, 10));
        for (int i = 2; i < 2'000; ++i)
            stage.send(MediaKind::video, i % gop == 0, false, std::chrono::milliseconds(40 * i),
                       payload_of(static_cast<std::uint32_t>(i), 10));
        EXPECT_GT(slow.dropped(), 0U);
        const auto next = slow.take();
        if (gop == 300) {
            ASSERT_TRUE(next.has_value());
            EXPECT_TRUE(next->key) << "every " << gop;
        }
        std::uint64_t taken = next ? 1 : 0;
        while (slow.take())
            ++taken;
        EXPECT_EQ(taken + slow.dropped(), 1'999U);
    }
}

TEST(Retention, RingOverItsByteLimitDropsOnlyTheOldest) {
    PlayOptions options;
    options.gop_cache = false;
    Stage stage(options);
    Cursor slow(stage.source, WakeMode::batched);
    WireCursor quick(stage.source, WireFormat());
    std::array<::iovec, 64> spans;
    for (std::uint32_t i = 0; i < 200; ++i) {
        Slice payload = Slice::allocate(1U << 20);
        stage.send(MediaKind::video, false, false, std::chrono::milliseconds(40 * i), std::move(payload));
        if (i % 20 != 0)
            continue;
        for (auto batch = quick.take(spans); batch.bytes > 0; batch = quick.take(spans))
            quick.advance(batch.bytes);
    }
    EXPECT_EQ(quick.dropped(), 0U) << "20 MiB behind is within the bound";
    EXPECT_GT(slow.dropped(), 0U);
    EXPECT_LE(stage.source->ring().bytes(), Retention::kRingBytesMax + (16U << 20));
}

}  // namespace
}  // namespace live::media
