// AudioFrames: collects the frames of an audio format whose packets have several whole frames, one after the other, or a part of
// one frame (AC-3, MPEG audio).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/rtp_payload/frame.hpp"

namespace live::wire::rtp_payload {

class AudioFrames {
public:
    explicit AudioFrames(std::uint32_t clock_rate) : clock_rate_(clock_rate) {}

    // Takes whole frames. `parse` returns the header at the front of its argument: frame_bytes, samples and sample_rate.
    // Errc::need_more: the last frame is cut; the frames before it are taken.
    template <class Parse>
    Result<void> take(std::uint32_t timestamp, Bytes data, Parse&& parse) {
        while (!data.empty()) {
            const auto header = TRY(parse(data));
            if (header.frame_bytes == 0 || header.frame_bytes > data.size())
                return Error(Errc::need_more, "audio in RTP: a frame is cut");
            const Bytes bytes = data.first(header.frame_bytes);
            frames_.push_back({.timestamp = timestamp, .is_key = true, .data = {bytes.begin(), bytes.end()}});
            data = data.subspan(header.frame_bytes);
            timestamp += static_cast<std::uint32_t>(std::uint64_t{header.samples} * clock_rate_ / header.sample_rate);
        }
        return {};
    }

    // The frame in several packets, so far.
    Bytes open() const { return open_; }
    // Whether a packet of this number follows those of the open frame.
    bool continues(std::uint64_t sequence) const { return !open_.empty() && next_sequence_ == sequence; }
    // Errc::limit, which drops the frame, if it gets more than `bytes_max`.
    Result<void> extend(std::uint64_t sequence, Bytes part, std::size_t bytes_max) {
        if (open_.size() + part.size() > bytes_max) {
            open_.clear();
            return Error(Errc::limit, "audio in RTP: a frame of too many bytes");
        }
        open_.insert(open_.end(), part.begin(), part.end());
        next_sequence_ = sequence + 1;
        return {};
    }
    std::vector<std::uint8_t> take_open() { return std::exchange(open_, {}); }

    // The next frame; its sequence numbers are not set.
    std::optional<Frame> poll() {
        if (frames_.empty())
            return std::nullopt;
        Frame frame = std::move(frames_.front());
        frames_.pop_front();
        return frame;
    }

private:
    std::uint32_t clock_rate_;
    std::deque<Frame> frames_;
    std::vector<std::uint8_t> open_;
    std::uint64_t next_sequence_ = 0;
};

}  // namespace live::wire::rtp_payload
