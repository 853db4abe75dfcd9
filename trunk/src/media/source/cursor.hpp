// Cursor: a reader's place in a source's ring, packet by packet. For readers that process each packet themselves (forwarding,
// recording); players of a wire format use WireCursor. No queue and no copy: only a sequence number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/ref.hpp"
#include "base/signal.hpp"
#include "media/source/source.hpp"

namespace live::media {

class Cursor final : private PacketReader {
public:
    // At the source's join point; at an earlier one (kOverlap), for packets that a previous reader may not have delivered; or
    // after everything published so far.
    enum class Start : std::uint8_t { join_point, overlapping, now };
    static constexpr std::chrono::milliseconds kOverlap{500};

    using Tracks = TrackSelection;

    using Audience = media::Audience;

    explicit Cursor(Ref<Source> source, WakeMode mode = WakeMode::at_once, Start start = Start::join_point,
                    Tracks tracks = Tracks::defaults, Audience audience = Audience::some);
    ~Cursor();
    Cursor(const Cursor&) = delete;
    Cursor& operator=(const Cursor&) = delete;

    // Returns the next packet, or nullopt if this reader has caught up. Metadata and sequence headers that changed since the
    // last packet taken (and before the first one) precede it, stamped with its time.
    std::optional<Packet> take();
    // Payload size of the packet that take() would return; zero if missing.
    std::size_t next_bytes();
    // The ring position of the next take(), ignoring metadata and sequence headers, after skipping packets it drops.
    Sequence next() {
        skip_left_out();
        return next_;
    }
    // Raised after every batch of packets.
    Signal& readable() { return readable_; }
    std::uint64_t dropped() const { return dropped_; }
    void set_audience(Audience audience);
    Source& source() { return *source_; }

private:
    void on_packets() override { readable_.raise(); }
    Sequence sequence() const override { return next_; }
    void jump(Sequence to) override;
    bool is_watched() const override { return audience_ == Audience::some; }
    void introduce();
    void skip_left_out();

    Ref<Source> source_;
    Signal readable_;
    std::vector<Packet> first_;  // metadata and sequence headers still to be returned, in reverse order
    Sequence next_;
    std::uint64_t dropped_ = 0;
    Tracks tracks_;
    Audience audience_;
};

}  // namespace live::media
