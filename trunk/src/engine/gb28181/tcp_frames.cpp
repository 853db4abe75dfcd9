#include "engine/gb28181/tcp_frames.hpp"

#include "wire/rtp/packet.hpp"

namespace live::engine::gb28181 {

namespace {

constexpr std::size_t kLengthBytes = 2;
constexpr std::size_t kSsrcAt = 8;

std::size_t u16_at(Bytes bytes, std::size_t at) { return std::size_t{bytes[at]} << 8 | bytes[at + 1]; }
std::uint32_t u32_at(Bytes bytes, std::size_t at) {
    return static_cast<std::uint32_t>(u16_at(bytes, at) << 16 | u16_at(bytes, at + 2));
}

// A report or one of its companions (RFC 3550, 12.1) whose own length fits. Receivers' SSRCs are not ours.
bool is_rtcp(Bytes packet, std::size_t length) {
    constexpr std::uint8_t kFirst = 200;
    constexpr std::uint8_t kLast = 207;
    constexpr std::size_t kBytesMax = 1'500;
    const std::size_t own = (u16_at(packet, 2) + 1) * 4;
    return packet[1] >= kFirst && packet[1] <= kLast && own <= length && length <= kBytesMax && length % 4 == 0;
}

}  // namespace

// Looks at as many bytes as are there: the version, then the SSRC.
TcpFrames::Found TcpFrames::packet_at(std::size_t at) const {
    const Bytes rest = Bytes(buffer_).subspan(at);
    if (rest.size() < kLengthBytes + kSsrcAt + 4)
        return rest.size() > kLengthBytes && rest[kLengthBytes] >> 6 != 2 ? Found::no : Found::unknown;
    const std::size_t length = u16_at(rest, 0);
    const Bytes packet = rest.subspan(kLengthBytes);
    if (!wire::rtp::looks_like_rtp(packet))
        return Found::no;
    // In a search it would be too little to go by.
    if (wire::rtp::looks_like_rtcp(packet))
        return skipped_ == 0 && is_rtcp(packet, length) ? Found::yes : Found::no;
    const bool is_ours = !ssrc_ || u32_at(packet, kSsrcAt) == *ssrc_;
    return is_ours && length >= wire::rtp::kHeaderBytes ? Found::yes : Found::no;
}

Result<void> TcpFrames::feed(Bytes input) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ = 0;
    buffer_.insert(buffer_.end(), input.begin(), input.end());
    return sync();
}

// Skips to where a packet begins. Every packet of the buffer is found by next(), which stops where none begins.
Result<void> TcpFrames::sync() {
    while (packet_at(at_) == Found::no) {
        if (!ssrc_)
            return Error(Errc::malformed, "a connection that does not carry RTP");
        if (skipped_++ == 0)
            ++counters_.resyncs;
        ++counters_.skipped_bytes;
        ++at_;
        if (skipped_ > kSkippedBytesMax)
            return Error(Errc::malformed, "no RTP packet in " + std::to_string(kSkippedBytesMax) + " bytes");
    }
    return {};
}

std::optional<Bytes> TcpFrames::next() {
    // Fewer bytes than kSkippedBytesMax may follow: feed() reports the error later.
    if (!sync().ok() || packet_at(at_) != Found::yes)
        return std::nullopt;
    const Bytes rest = Bytes(buffer_).subspan(at_);
    const std::size_t length = u16_at(rest, 0);
    if (rest.size() < kLengthBytes + length)
        return std::nullopt;
    at_ += kLengthBytes + length;
    follows_gap_ = skipped_ > 0;
    skipped_ = 0;
    ++counters_.packets;
    return rest.subspan(kLengthBytes, length);
}

}  // namespace live::engine::gb28181
