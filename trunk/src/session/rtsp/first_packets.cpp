#include "session/rtsp/first_packets.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "wire/rtp/packet.hpp"
#include "wire/rtsp/message_reader.hpp"

namespace live::session::rtsp {

namespace {

class SpanReader {
public:
    explicit SpanReader(std::span<const ::iovec> spans) : spans_(spans) {}

    // False if the spans have fewer bytes.
    bool copy(std::span<std::uint8_t> out) {
        for (std::uint8_t& byte : out) {
            if (!find_byte())
                return false;
            byte = static_cast<const std::uint8_t*>(spans_.front().iov_base)[at_++];
        }
        return true;
    }
    bool skip(std::size_t count) {
        while (count > 0) {
            if (!find_byte())
                return false;
            const std::size_t step = std::min(count, spans_.front().iov_len - at_);
            at_ += step;
            count -= step;
        }
        return true;
    }

private:
    bool find_byte() {
        while (!spans_.empty() && at_ == spans_.front().iov_len) {
            spans_ = spans_.subspan(1);
            at_ = 0;
        }
        return !spans_.empty();
    }

    std::span<const ::iovec> spans_;
    std::size_t at_ = 0;
};

}  // namespace

std::vector<FirstPacket> first_packets(std::span<const ::iovec> spans, std::size_t tracks) {
    constexpr std::uint8_t kSenderReport = 200;
    constexpr std::size_t kReportBytes = 20;  // up to its RTP timestamp
    std::vector<FirstPacket> found;
    SpanReader in(spans);
    std::array<std::uint8_t, wire::rtsp::kInterleavedHeadBytes> head;
    std::array<std::uint8_t, kReportBytes> start;
    std::size_t complete = 0;
    while (complete < tracks && in.copy(head) && head[0] == wire::rtsp::kInterleavedMark) {
        const std::size_t length = std::size_t{head[2]} << 8 | head[3];
        const bool is_report = head[1] % 2 != 0;
        const std::size_t needed = is_report ? kReportBytes : wire::rtp::kHeaderBytes;
        const auto channel = static_cast<std::uint8_t>(head[1] & 0xFEU);
        auto track = std::ranges::find(found, channel, &FirstPacket::channel);
        const bool is_known = track != found.end() && (is_report || track->sequence);
        if (is_known || length < needed) {
            if (!in.skip(length))
                break;
            continue;
        }
        if (!in.copy(std::span(start).first(needed)) || !in.skip(length - needed))
            break;
        if (is_report && start[1] != kSenderReport)
            continue;
        const bool is_new = track == found.end();
        if (is_new)
            track = found.insert(found.end(), FirstPacket{.channel = channel});
        if (is_new) {
            const std::size_t at = needed - (is_report ? 4 : 8);
            track->timestamp = std::uint32_t{start[at]} << 24 | std::uint32_t{start[at + 1]} << 16 |
                               std::uint32_t{start[at + 2]} << 8 | start[at + 3];
        }
        if (!is_report) {
            track->sequence = static_cast<std::uint16_t>(start[2] << 8 | start[3]);
            ++complete;
        }
    }
    return found;
}

}  // namespace live::session::rtsp
