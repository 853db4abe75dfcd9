// A publisher's audio or video as one continuous sequence of packets: one of its RTP streams is forwarded, with simulcast the
// best active layer. Switches happen at a key frame; sequence numbers and timestamps continue as in a single stream. Beside that,
// each layer that is wanted is output by itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "engine/rtp/layer_state.hpp"
#include "engine/rtp/media_types.hpp"
#include "engine/rtp/receive/key_requests.hpp"
#include "engine/rtp/receive/layer_outputs.hpp"
#include "engine/rtp/receive/track_streams.hpp"
#include "wire/rtp_payload/key_start.hpp"

namespace live::engine::rtp {

class IncomingTrack {
public:
    static constexpr std::chrono::milliseconds kSilence = 1s;          // a layer silent for this long is inactive
    static constexpr std::chrono::milliseconds kSilenceAlone = 300ms;  // without simulcast: another SSRC has replaced it

    explicit IncomingTrack(TrackFormat format);

    MediaKind kind() const { return format_.kind; }
    const TrackFormat& format() const { return format_; }
    const TrackStreams& streams() const { return streams_; }

    // Adds a stream. If there are too many, the one silent for longest is removed, but never the forwarded one.
    ReceiveStream& add(TimePoint now, std::uint32_t ssrc, std::string_view rid, std::chrono::microseconds round_trip);
    // BYE: the stream of that SSRC has ended. False if there is none.
    bool end(std::uint32_t ssrc);
    bool has_ended() const { return has_ended_; }

    // A packet of one of this track's streams. A packet of another payload type only uses up its sequence number.
    void receive(TimePoint now, ReceiveStream& stream, const wire::rtp::Packet& packet, ReceiveStream::Origin origin,
                 std::size_t bytes);
    std::optional<MediaPacket> poll(TimePoint now);

    // The layers, by their index in TrackFormat::layers; none without simulcast.
    std::vector<LayerState> layer_states(TimePoint now) const;
    // Whether a layer is to be output by itself, which poll_layer() does after poll().
    void want_layer(std::size_t layer, bool is_wanted);
    void want_layer_key(std::size_t layer) { layers_.want_key(layer); }
    std::optional<LayerPacket> poll_layer(TimePoint now);
    // The SSRC of a layer to request a key frame from, if a request is due. Call until it returns nothing.
    std::optional<std::uint32_t> take_layer_key_request(TimePoint now);
    // Repeats the request until a key frame arrives, because requests can be lost and a player may show nothing before it; sent
    // only once if key frames cannot be recognized.
    void want_key() { video_ ? keys_.need() : keys_.want(); }
    // The SSRC to request a key frame from, if a request is due.
    std::optional<std::uint32_t> take_key_request(TimePoint now);

    const ReceiveStream* current() const { return current_; }
    std::optional<TimePoint> next_timeout() const;
    std::optional<std::chrono::microseconds> time_of(std::uint32_t timestamp) const;
    std::uint64_t switches() const { return switches_; }

private:
    ReceiveStream::Use use_of(const ReceiveStream& stream) const;
    bool is_forwarded(const ReceiveStream& stream) const { return &stream == current_ || &stream == target_; }
    bool is_wanted_layer(const ReceiveStream& stream) const;
    void stop_forwarding(ReceiveStream& stream);
    void take_for_layer(const ReceiveStream& stream, const JitterBuffer::Ordered& packet, std::uint64_t gap);
    std::uint32_t layer_offset(const ReceiveStream& stream, const JitterBuffer::Ordered& packet) const;
    std::optional<std::uint32_t> reported_offset(const ReceiveStream& stream, std::uint32_t timestamp) const;
    void remove(const ReceiveStream& stream);
    void choose(TimePoint now);
    void aim_at(ReceiveStream* stream);
    bool is_key(const JitterBuffer::Ordered& packet) const;
    void try_switch(TimePoint now);
    void adopt(ReceiveStream& stream, const JitterBuffer::Ordered& first);
    // The timestamp of a stream's first packet on the track's timeline.
    std::uint32_t continued_time(const ReceiveStream& stream, const JitterBuffer::Ordered& first) const;
    std::optional<MediaPacket> forward(JitterBuffer::Ordered packet, std::uint64_t gap);

    struct Last {
        std::uint32_t timestamp = 0;  // on the track's timeline
        TimePoint arrived;
        bool marker = false;
    };

    TrackFormat format_;
    std::optional<wire::rtp_payload::VideoFormat> video_;  // of a codec whose key frames can be recognized
    TrackStreams streams_;
    ReceiveStream* current_ = nullptr;           // forwarded
    ReceiveStream* target_ = nullptr;            // to be forwarded from its next key frame on
    std::optional<JitterBuffer::Ordered> held_;  // the first packet of that frame
    TimePoint next_choice_;
    KeyRequests keys_;
    LayerOutputs layers_;
    std::uint64_t next_sequence_ = 1;
    std::uint32_t offset_ = 0;                                       // added to the stream's timestamps
    std::optional<std::pair<std::uint32_t, std::uint32_t>> nudged_;  // exception: stream timestamp, track timestamp
    std::optional<Last> last_;
    std::optional<std::uint32_t> key_timestamp_;
    bool has_loss_ = false;  // the next packet follows a loss
    bool has_ended_ = false;
    std::uint64_t switches_ = 0;
};

}  // namespace live::engine::rtp
