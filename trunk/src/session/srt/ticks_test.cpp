// Publishers on ticks, over loopback.
#include <gtest/gtest.h>

#include "session/srt/session_fixture.hpp"
#include "wire/ts/read/early_reader.hpp"

namespace live::session::srt {
namespace {

// Counts the batches of packets that a source has appended.
class BatchCounter final : public media::PacketListener {
public:
    BatchCounter(Ref<media::Source> source, media::WakeMode mode) : source_(std::move(source)) {
        source_->readers().add_listener(*this, mode);
    }
    ~BatchCounter() { source_->readers().remove_listener(*this); }
    void on_packets() override { ++batches; }

    int batches = 0;

private:
    Ref<media::Source> source_;
};

// Sends a picture every few milliseconds.
class SrtTicks : public SrtSessions {
protected:
    void pump(Remote& encoder) {
        if (const TimePoint now = io::now(); now >= next_) {
            next_ = now + 4ms;
            encoder.send({Slice::copy_of(wire::ts::stream_of(2))});
        }
        encoder.pump();
    }

    TimePoint next_{};
};

TEST_F(SrtTicks, WhatNobodyWaitsForIsDeliveredOnTicks) {
    Remote encoder(socket(), "#!::r=live/cam,m=publish");
    ASSERT_TRUE(encoder.connect());
    const auto source = streams.find("/live/cam");
    BatchCounter counter(source, media::WakeMode::batched);
    const auto pictures = [&source] { return source->counters().packets[index_of(MediaKind::video)]; };
    // At their times, the ten payloads of twenty pictures are as many batches. A busy machine may need more than one attempt.
    const TimePoint limit = io::now() + io::kSoon;
    bool is_on_ticks = false;
    while (!is_on_ticks && io::now() < limit) {
        counter.batches = 0;
        const auto before = pictures();
        for (const TimePoint end = io::now() + 100ms; io::now() < end;)
            pump(encoder);
        is_on_ticks = pictures() - before >= 20 && counter.batches <= 4;
    }
    EXPECT_TRUE(is_on_ticks);
}

TEST_F(SrtTicks, WhatSomebodyWaitsForIsDeliveredAtItsTime) {
    Remote encoder(socket(), "#!::r=live/cam,m=publish");
    ASSERT_TRUE(encoder.connect());
    BatchCounter counter(streams.find("/live/cam"), media::WakeMode::at_once);
    // On ticks, 100 ms have two or three batches.
    const TimePoint limit = io::now() + io::kSoon;
    bool is_at_once = false;
    while (!is_at_once && io::now() < limit) {
        counter.batches = 0;
        for (const TimePoint end = io::now() + 100ms; io::now() < end;)
            pump(encoder);
        is_at_once = counter.batches > 5;
    }
    EXPECT_TRUE(is_at_once);
}

// Frames are read when they arrive. Their payloads are sent at a time, and due by the agreed latency later.
TEST_F(SrtTicks, FramesWaitUntilTheirPayloadsAreDue) {
    Remote encoder(socket(), "#!::r=live/cam,m=publish");
    ASSERT_TRUE(encoder.connect());
    const auto source = streams.find("/live/cam");
    const TransportLog* const stream = transports.find(*source);
    ASSERT_NE(stream, nullptr);
    const TimePoint sent_at = io::now();
    encoder.send(second_of_units());
    const auto held = [this] {
        std::size_t most = 0;
        for (const MemoryBudget::Use* use : places.memory().uses())
            most = std::max(most, places.memory().holding(*use).bytes);
        return most;
    };
    std::size_t most_held = 0;
    while (source->counters().packets[index_of(MediaKind::video)] == 0) {
        EXPECT_EQ(stream->end(), 0U);
        most_held = std::max(most_held, held());
        encoder.pump();
    }
    EXPECT_GE(io::now() - sent_at, 120ms);
    EXPECT_GT(stream->end(), 0U);
    // Slots, frames and the hidden bytes of the log.
    EXPECT_GT(most_held, media::SlabPool::kSlabBytes + 20 * wire::ts::EarlyReader::kFrameBytes);
    EXPECT_TRUE(encoder.pump_until([&] { return source->counters().packets[index_of(MediaKind::video)] >= 24; }));
    EXPECT_EQ(source->counters().key_frames, 1U);
}

// The frames that are not due are the end of the stream, and are not lost.
TEST_F(SrtTicks, WhatHasArrivedIsDeliveredAtTheEnd) {
    Remote encoder(socket(), "#!::r=live/cam,m=publish");
    ASSERT_TRUE(encoder.connect());
    const auto source = streams.find("/live/cam");
    encoder.send(second_of_units());
    const auto arrived = [this] {
        std::uint64_t bytes = 0;
        clients.for_each([&bytes](ClientEntry& entry) { bytes = entry.figures().received_bytes; });
        return bytes;
    };
    ASSERT_TRUE(encoder.pump_until([&] { return arrived() > 10'000; }));
    encoder.connection->close();
    encoder.pump();
    io::wait_until([this] { return !is_published(); });
    EXPECT_EQ(source->counters().packets[index_of(MediaKind::video)], 26U) << "with the configuration";
}

TEST_F(SrtTicks, AnswersACallerAlthoughAllPublishersWait) {
    Remote encoder(socket(), "#!::r=live/cam,m=publish");
    ASSERT_TRUE(encoder.connect());
    const auto source = streams.find("/live/cam");
    while (source->counters().packets[index_of(MediaKind::video)] < 10)
        pump(encoder);
    Remote second(socket(), "#!::r=live/two,m=publish");
    EXPECT_TRUE(second.connect());
    encoder.connection->close();
    encoder.pump();
    io::wait_until([this] { return !is_published(); });
}

}  // namespace
}  // namespace live::session::srt
