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

std::vector<FirstPacket> first_packets(std::span<const ::iovec> spans) {
    std::vector<FirstPacket> found;
    SpanReader in(spans);
    std::array<std::uint8_t, wire::rtsp::kInterleavedHeadBytes> head;
    std::array<std::uint8_t, wire::rtp::kHeaderBytes> packet;
    while (in.copy(head) && head[0] == wire::rtsp::kInterleavedMark) {
        const std::size_t length = std::size_t{head[2]} << 8 | head[3];
        const bool is_known = std::ranges::find(found, head[1], &FirstPacket::channel) != found.end();
        if (head[1] % 2 != 0 || is_known || length < packet.size()) {
            if (!in.skip(length))
                break;
            continue;
        }
        if (!in.copy(packet) || !in.skip(length - packet.size()))
            break;
        found.push_back(
            {head[1], static_cast<std::uint16_t>(packet[2] << 8 | packet[3]),
             std::uint32_t{packet[4]} << 24 | std::uint32_t{packet[5]} << 16 | std::uint32_t{packet[6]} << 8 | packet[7]});
    }
    return found;
}

}  // namespace live::session::rtsp
