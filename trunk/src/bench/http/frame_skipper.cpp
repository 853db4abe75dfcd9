#include "bench/http/frame_skipper.hpp"

#include <algorithm>
#include <string>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"

namespace live::bench {
namespace {

using engine::websocket::is_control;
using engine::websocket::kControlBytesMax;
using engine::websocket::Opcode;

constexpr std::uint8_t kFinal = 0x80;
constexpr std::uint8_t kReserved = 0x70;
constexpr std::uint8_t kMasked = 0x80;
constexpr std::uint8_t kLength16 = 126;
constexpr std::uint8_t kLength64 = 127;

bool is_known(Opcode opcode) {
    switch (opcode) {
        case Opcode::continuation:
        case Opcode::text:
        case Opcode::binary:
        case Opcode::close:
        case Opcode::ping:
        case Opcode::pong: return true;
    }
    return false;
}

}  // namespace

Result<std::optional<FrameSkipper::Piece>> FrameSkipper::read(Bytes& input) {
    while (!input.empty() || in_payload_) {
        if (!in_payload_) {
            const std::size_t count = std::min(head_bytes_wanted() - head_bytes_, input.size());
            std::copy_n(input.begin(), count, head_.begin() + static_cast<std::ptrdiff_t>(head_bytes_));
            head_bytes_ += count;
            input = input.subspan(count);
            // The second byte determines the length of the head.
            if (head_bytes_ < head_bytes_wanted())
                continue;
            TRY(begin_payload());
        }
        if (auto piece = take_payload(input))
            return piece;
        if (input.empty())
            break;
    }
    return std::optional<Piece>();
}

std::size_t FrameSkipper::head_bytes_wanted() const {
    if (head_bytes_ < 2)
        return 2;
    const std::uint8_t length = head_[1] & 0x7F;
    return length == kLength64 ? 10 : length == kLength16 ? 4 : 2;
}

Result<void> FrameSkipper::begin_payload() {
    opcode_ = static_cast<Opcode>(head_[0] & 0x0F);
    if ((head_[0] & kReserved) != 0 || (head_[1] & kMasked) != 0 || !is_known(opcode_))
        return Error(Errc::malformed, "not a WebSocket frame of a server: it begins with " + std::to_string(head_[0]) + " " +
                                          std::to_string(head_[1]));
    ByteReader in(Bytes(head_).subspan(1));
    const std::uint8_t length = TRY(in.u8());
    left_ = length == kLength64 ? TRY(in.u64be()) : length == kLength16 ? TRY(in.u16be()) : length;
    if (is_control(opcode_) && (left_ > kControlBytesMax || (head_[0] & kFinal) == 0))
        return Error(Errc::malformed, "a control frame that is long or a fragment");
    if (!is_control(opcode_) && opcode_ != Opcode::continuation)
        message_ = opcode_;
    head_bytes_ = 0;
    control_bytes_ = 0;
    in_payload_ = true;
    return {};
}

// Returns a piece of media at once, a control frame when it is complete.
std::optional<FrameSkipper::Piece> FrameSkipper::take_payload(Bytes& input) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size()));
    const Bytes piece = input.first(count);
    input = input.subspan(count);
    left_ -= count;
    in_payload_ = left_ > 0;
    if (!is_control(opcode_))
        return count == 0 ? std::nullopt : std::optional(Piece{message_, piece});
    std::copy(piece.begin(), piece.end(), control_.begin() + static_cast<std::ptrdiff_t>(control_bytes_));
    control_bytes_ += count;
    return in_payload_ ? std::nullopt : std::optional(Piece{opcode_, Bytes(control_).first(control_bytes_)});
}

std::vector<std::uint8_t> client_frame(Opcode opcode, Bytes payload, std::uint32_t mask) {
    CHECK(payload.size() <= kControlBytesMax);
    ByteWriter out;
    out.u8(static_cast<std::uint8_t>(kFinal | static_cast<std::uint8_t>(opcode)));
    out.u8(static_cast<std::uint8_t>(kMasked | payload.size())).u32be(mask);
    for (std::size_t i = 0; i < payload.size(); ++i)
        out.u8(static_cast<std::uint8_t>(payload[i] ^ (mask >> (24 - 8 * (i % 4)))));
    return out.release();
}

}  // namespace live::bench
