// The sound or the picture of a publisher as one line of packets: of its RTP streams one is forwarded, with simulcast the best
// that is alive. A change happens at a key picture; numbers and times go on as if there were one stream.
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
#include "engine/rtc/key_requests.hpp"
#include "engine/rtc/receive_stream.hpp"
#include "engine/rtc/session_types.hpp"
#include "wire/rtp_payload/key_start.hpp"
#include "wire/sdp/answer.hpp"

namespace live::engine::rtc {

class IncomingTrack {
public:
    // RTP streams at a time; the longest silent one gives way, the forwarded one never.
    static constexpr std::size_t kStreamsMax = 8;
    static constexpr std::chrono::milliseconds kSilence = 1s;          // a layer that says nothing for so long is not alive
    static constexpr std::chrono::milliseconds kSilenceAlone = 300ms;  // without simulcast: another SSRC has taken its place

    enum class Nack : bool { off, on };
    IncomingTrack(const wire::sdp::Accepted& accepted, Nack nack);

    Kind kind() const { return accepted_.kind; }
    const wire::sdp::Accepted& accepted() const { return accepted_; }

    ReceiveStream* find(std::uint32_t ssrc);
    ReceiveStream* find_rtx(std::uint32_t rtx_ssrc);
    ReceiveStream* find_rid(std::string_view rid);
    // The only stream, if it is one.
    ReceiveStream* only();
    ReceiveStream& add(TimePoint now, std::uint32_t ssrc, std::string_view rid, std::chrono::microseconds round_trip);
    // BYE: the stream of that SSRC is over. False when there is none.
    bool end(std::uint32_t ssrc);
    bool has_ended() const { return has_ended_; }

    // A packet of a stream of this track. One of another payload type takes its number and is nothing else.
    void receive(TimePoint now, ReceiveStream& stream, const wire::rtp::Packet& packet, ReceiveStream::Origin origin,
                 std::size_t bytes);
    std::optional<MediaPacket> poll(TimePoint now);

    // See Session::limit_layers.
    void limit_layers(std::optional<std::uint64_t> bits_per_second) { limit_ = bits_per_second; }
    // Asks until one comes, as requests are lost like anything else and a player may show nothing before; once only where key
    // pictures cannot be told from others.
    void want_key() { format_ ? keys_.need() : keys_.want(); }
    // The SSRC to ask for a key picture, when it is time to.
    std::optional<std::uint32_t> take_key_request(TimePoint now);

    template <class Visit>
    void for_each(Visit visit) const {
        for (const auto& stream : streams_)
            visit(*stream);
    }
    template <class Visit>
    void for_each(Visit visit) {
        for (const auto& stream : streams_)
            visit(*stream);
    }
    const ReceiveStream* current() const { return current_; }
    std::optional<TimePoint> next_timeout() const;
    std::optional<std::chrono::microseconds> time_of(std::uint32_t timestamp) const;
    std::uint64_t switches() const { return switches_; }
    std::uint64_t given_up() const;
    std::int64_t lost() const;
    std::uint64_t requested() const;

private:
    ReceiveStream::Use use_of(const ReceiveStream& stream) const;
    void remove(std::size_t index);
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

    wire::sdp::Accepted accepted_;
    std::optional<wire::rtp_payload::VideoFormat> format_;
    bool has_nack_ = false;
    std::vector<std::unique_ptr<ReceiveStream>> streams_;
    ReceiveStream* current_ = nullptr;           // forwarded
    ReceiveStream* target_ = nullptr;            // to be forwarded from its next key picture on
    std::optional<JitterBuffer::Ordered> held_;  // that picture's first packet
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
    std::uint64_t given_up_before_ = 0;  // of streams that are gone, as the next two
    std::int64_t lost_before_ = 0;
    std::uint64_t requested_before_ = 0;
};

}  // namespace live::engine::rtc
