// The audio or the video of a publisher as one line of packets: of its RTP streams one is forwarded, with simulcast the best
// that is alive. A change happens at a key frame; numbers and times go on as if there were one stream.
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
#include "engine/rtp/key_requests.hpp"
#include "engine/rtp/media_types.hpp"
#include "engine/rtp/track_streams.hpp"
#include "wire/rtp_payload/key_start.hpp"

namespace live::engine::rtp {

class IncomingTrack {
public:
    static constexpr std::chrono::milliseconds kSilence = 1s;          // a layer that says nothing for so long is not alive
    static constexpr std::chrono::milliseconds kSilenceAlone = 300ms;  // without simulcast: another SSRC has taken its place

    explicit IncomingTrack(TrackFormat format);

    Kind kind() const { return format_.kind; }
    const TrackFormat& format() const { return format_; }
    const TrackStreams& streams() const { return streams_; }

    // A new stream. Where there are too many, the longest silent one gives way, the forwarded one never.
    ReceiveStream& add(TimePoint now, std::uint32_t ssrc, std::string_view rid, std::chrono::microseconds round_trip);
    // BYE: the stream of that SSRC is over. False when there is none.
    bool end(std::uint32_t ssrc);
    bool has_ended() const { return has_ended_; }

    // A packet of a stream of this track. One of another payload type takes its number and is nothing else.
    void receive(TimePoint now, ReceiveStream& stream, const wire::rtp::Packet& packet, ReceiveStream::Origin origin,
                 std::size_t bytes);
    std::optional<MediaPacket> poll(TimePoint now);

    // Bits a second that the forwarded layer may have; nothing: any.
    void limit_layers(std::optional<std::uint64_t> bits_per_second) { limit_ = bits_per_second; }
    // Asks until one comes, as requests are lost like anything else and a player may show nothing before; once only where key
    // frames cannot be told from others.
    void want_key() { video_ ? keys_.need() : keys_.want(); }
    // The SSRC to ask for a key frame, when it is time to.
    std::optional<std::uint32_t> take_key_request(TimePoint now);

    const ReceiveStream* current() const { return current_; }
    std::optional<TimePoint> next_timeout() const;
    std::optional<std::chrono::microseconds> time_of(std::uint32_t timestamp) const;
    std::uint64_t switches() const { return switches_; }

private:
    ReceiveStream::Use use_of(const ReceiveStream& stream) const;
    void remove(const ReceiveStream& stream);
    void choose(TimePoint now);
    void aim_at(ReceiveStream* stream);
    bool is_key(const JitterBuffer::Ordered& packet) const;
    void try_switch(TimePoint now);
    void adopt(ReceiveStream& stream, const JitterBuffer::Ordered& first);
    // The time of the first packet of a stream on our line.
    std::uint32_t continued_time(const ReceiveStream& stream, const JitterBuffer::Ordered& first) const;
    std::optional<MediaPacket> forward(JitterBuffer::Ordered packet, std::uint64_t gap);

    struct Last {
        std::uint32_t timestamp = 0;  // on our line
        TimePoint came;
        bool marker = false;
    };

    TrackFormat format_;
    std::optional<wire::rtp_payload::VideoFormat> video_;  // of a codec whose key frames can be told from others
    TrackStreams streams_;
    ReceiveStream* current_ = nullptr;           // forwarded
    ReceiveStream* target_ = nullptr;            // to be forwarded from its next key frame on
    std::optional<JitterBuffer::Ordered> held_;  // that frame's first packet
    TimePoint next_choice_;
    std::optional<std::uint64_t> limit_;  // bits a second of the layer to forward
    KeyRequests keys_;
    std::uint64_t next_sequence_ = 1;
    std::uint32_t offset_ = 0;                                       // of our line's times over the stream's
    std::optional<std::pair<std::uint32_t, std::uint32_t>> nudged_;  // but this time of the stream's is that of ours
    std::optional<Last> last_;
    std::optional<std::uint32_t> key_timestamp_;
    bool has_loss_ = false;  // the next packet follows one
    bool has_ended_ = false;
    std::uint64_t switches_ = 0;
};

}  // namespace live::engine::rtp
