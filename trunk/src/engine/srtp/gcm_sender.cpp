#include "engine/srtp/gcm_sender.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "base/check.hpp"
#include "engine/srtp/key_derivation.hpp"

namespace live::engine::srtp {

namespace {

constexpr std::size_t kHeaderBytes = 12;  // the fixed RTP header
constexpr std::uint64_t kIndexEnd = std::uint64_t{1} << 48;

std::uint32_t u32_at(Bytes bytes, std::size_t at) {
    return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 | std::uint32_t{bytes[at + 2]} << 8 |
           bytes[at + 3];
}

// Returns the header size, including CSRCs and the extension; nullopt if the packet is not RTP.
std::optional<std::size_t> header_bytes_of(Bytes packet) {
    constexpr std::size_t kWord = 4;
    if (packet.size() < kHeaderBytes || packet[0] >> 6 != 2)
        return std::nullopt;
    std::size_t bytes = kHeaderBytes + kWord * (packet[0] & 0x0FU);
    if ((packet[0] & 0x10U) != 0) {
        if (packet.size() < bytes + kWord)
            return std::nullopt;
        bytes += kWord + kWord * (std::size_t{packet[bytes + 2]} << 8 | packet[bytes + 3]);
    }
    return bytes <= packet.size() ? std::optional(bytes) : std::nullopt;
}

}  // namespace

Result<GcmSender> GcmSender::create(Bytes master, Library library) {
    const auto keys = TRY(derive_keys(master, KeyLabel::rtp_key, KeyLabel::rtp_salt));
    return create(keys.key, keys.salt, library);
}

Result<GcmSender> GcmSender::create(const Key& key, const Salt& salt, Library library) {
    return GcmSender(TRY(GcmCipher::create(key, library)), salt);
}

// Returns the packet index with this sequence number that is closest to the newest index (RFC 3711, 3.3.1).
Result<std::uint64_t> GcmSender::index_of(std::uint32_t ssrc, std::uint16_t sequence) {
    const std::span known(streams_.data(), stream_count_);
    const auto found = std::ranges::find(known, ssrc, &Stream::ssrc);
    if (found == known.end()) {
        if (stream_count_ == kStreamsMax)
            return Error(Errc::limit, "an SRTP session of more than " + std::to_string(kStreamsMax) + " streams");
        streams_[stream_count_++] = {ssrc, sequence};
        return std::uint64_t{sequence};
    }
    const auto ahead =
        static_cast<std::int16_t>(static_cast<std::uint16_t>(sequence - static_cast<std::uint16_t>(found->newest)));
    if (ahead < 0 && found->newest < static_cast<std::uint64_t>(-ahead))
        return Error(Errc::malformed, "an RTP packet from before the first");
    const std::uint64_t index = found->newest + static_cast<std::uint64_t>(std::int64_t{ahead});
    if (index >= kIndexEnd)
        return Error(Errc::limit, "an SRTP key that has had all its packets");
    found->newest = std::max(found->newest, index);
    return index;
}

Result<std::size_t> GcmSender::seal(MutBytes out, Bytes head, Bytes payload) {
    const auto clear = header_bytes_of(head);
    if (!clear)
        return Error(Errc::malformed, "RTP packet without its header");
    const std::size_t bytes = head.size() + payload.size();
    CHECK(bytes + kTagBytes <= out.size());
    const std::uint32_t ssrc = u32_at(head, 8);
    const auto sequence = static_cast<std::uint16_t>(head[2] << 8 | head[3]);
    const std::uint64_t index = TRY(index_of(ssrc, sequence));
    // RFC 7714, 8.1.
    Salt nonce = salt_;
    for (std::size_t i = 0; i < 4; ++i)
        nonce[2 + i] ^= head[8 + i];
    for (std::size_t i = 0; i < 6; ++i)
        nonce[6 + i] ^= static_cast<std::uint8_t>(index >> (40 - 8 * i));
    if (head.data() != out.data())
        copy_bytes(head.first(*clear), out);
    if (!cipher_->seal(out.data() + *clear, nonce, Bytes(out).first(*clear), head.subspan(*clear), payload))
        return Error(Errc::system, "AES-128-GCM failed");
    return bytes + kTagBytes;
}

}  // namespace live::engine::srtp
