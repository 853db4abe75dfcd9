// The RTP streams of one incoming track: one per SSRC, several with simulcast or when the sender changes its SSRC; at most
// kStreamsMax at a time. It finds and creates them, and keeps the totals of removed ones. IncomingTrack selects the one to
// forward.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "engine/rtp/receive/receive_stream.hpp"

namespace live::engine::rtp {

class TrackStreams {
public:
    static constexpr std::size_t kStreamsMax = 8;

    TrackStreams(std::uint32_t clock_rate, bool has_nack) : clock_rate_(clock_rate), has_nack_(has_nack) {}

    ReceiveStream* find(std::uint32_t ssrc) const;
    ReceiveStream* find_rtx(std::uint32_t rtx_ssrc) const;
    // The latest, if a layer has changed its SSRC.
    ReceiveStream* find_rid(std::string_view rid) const;
    // The only stream, if there is exactly one.
    ReceiveStream* only() const { return streams_.size() == 1 ? streams_.front().get() : nullptr; }
    // The stream other than `kept` that has been silent for longest; nullptr while there is room for one more.
    const ReceiveStream* surplus(const ReceiveStream* kept) const;

    ReceiveStream& add(TimePoint now, std::uint32_t ssrc, std::string_view rid, std::chrono::microseconds round_trip);
    void remove(const ReceiveStream& stream);

    std::size_t size() const { return streams_.size(); }
    bool empty() const { return streams_.empty(); }
    ReceiveStream& operator[](std::size_t index) const { return *streams_[index]; }
    template <class Visit>
    void for_each(Visit visit) const {
        for (const auto& stream : streams_)
            visit(*stream);
    }

    // Including removed streams.
    std::uint64_t given_up() const;
    std::int64_t lost() const;
    std::uint64_t requested() const;

private:
    std::uint32_t clock_rate_;
    bool has_nack_;
    std::vector<std::unique_ptr<ReceiveStream>> streams_;
    std::uint64_t given_up_before_ = 0;  // of removed streams, like the next two
    std::int64_t lost_before_ = 0;
    std::uint64_t requested_before_ = 0;
};

}  // namespace live::engine::rtp
