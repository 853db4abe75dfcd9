#include "engine/websocket/frame_reader.hpp"

#include <algorithm>
#include <utility>

#include "engine/websocket/utf8.hpp"

namespace live::engine::websocket {

namespace {

constexpr std::uint8_t kFinal = 0x80;
constexpr std::uint8_t kReserved = 0x70;
constexpr std::uint8_t kMasked = 0x80;
constexpr std::uint8_t kSixteenBits = 126;
constexpr std::uint8_t kSixtyFourBits = 127;
constexpr std::size_t kMaskBytes = 4;

bool is_known(std::uint8_t opcode) { return opcode <= 2 || (opcode >= 8 && opcode <= 10); }

std::size_t length_bytes(std::uint8_t length) { return length == kSixtyFourBits ? 8 : length == kSixteenBits ? 2 : 0; }

// RFC 6455, 7.4: codes allowed in a close frame. Some codes are for local use only.
bool may_be_sent(unsigned code) {
    if (code >= 3000)
        return code <= 4999;
    return code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006;
}

}  // namespace

Result<std::size_t> FrameReader::feed(Bytes input) {
    CHECK(!ready_);  // The caller must take every message.
    if (stage_ == Stage::broken)
        return Error(Errc::malformed, "the WebSocket was broken before");
    const std::size_t size = input.size();
    while (!ready_ && !input.empty()) {
        if (closed_)
            return size;
        if (stage_ == Stage::head) {
            input = input.subspan(fill_head(input));
            if (head_bytes_ >= 2)
                TRY(check_first_bytes());
            if (head_bytes_ == head_bytes_wanted())
                TRY(begin_payload());
        } else {
            input = input.subspan(take_payload(input));
        }
        if (stage_ == Stage::payload && left_ == 0)
            TRY(finish_frame());
    }
    return size - input.size();
}

std::optional<Message> FrameReader::next() { return std::exchange(ready_, std::nullopt); }

// The second byte determines the length of the header.
std::size_t FrameReader::head_bytes_wanted() const {
    if (head_bytes_ < 2)
        return 2;
    return 2 + length_bytes(head_[1] & ~kMasked) + (limits_.sender == Sender::client ? kMaskBytes : 0);
}

std::size_t FrameReader::fill_head(Bytes input) {
    const std::size_t count = std::min(head_bytes_wanted() - head_bytes_, input.size());
    copy_bytes(input.first(count), MutBytes(head_).subspan(head_bytes_));
    head_bytes_ += count;
    return count;
}

Result<void> FrameReader::check_first_bytes() {
    const std::uint8_t opcode = head_[0] & 0x0F;
    if ((head_[0] & kReserved) != 0)
        return fail(CloseCode::protocol_error, "a reserved bit is set and no extension was agreed on");
    if (!is_known(opcode))
        return fail(CloseCode::protocol_error, "frame type " + std::to_string(opcode) + " is reserved");
    if (((head_[1] & kMasked) != 0) != (limits_.sender == Sender::client))
        return fail(CloseCode::protocol_error,
                    limits_.sender == Sender::client ? "a client's frame is not masked" : "a server's frame is masked");
    opcode_ = static_cast<Opcode>(opcode);
    final_ = (head_[0] & kFinal) != 0;
    if (is_control(opcode_) && (!final_ || (head_[1] & ~kMasked) > static_cast<int>(kControlBytesMax)))
        return fail(CloseCode::protocol_error, "a control frame is in pieces or too long");
    if (!is_control(opcode_) && (opcode_ == Opcode::continuation) != in_message_)
        return fail(CloseCode::protocol_error, in_message_ ? "a message inside a message" : "a continuation of nothing");
    return {};
}

Result<void> FrameReader::begin_payload() {
    const auto length = static_cast<std::uint8_t>(head_[1] & ~kMasked);
    const std::size_t more = length_bytes(length);
    left_ = more == 0 ? length : 0;
    for (std::size_t i = 0; i < more; ++i)
        left_ = left_ << 8 | head_[2 + i];
    if ((more == 2 && left_ < kSixteenBits) || (more == 8 && (left_ <= 0xFFFF || left_ >> 63 != 0)))
        return fail(CloseCode::protocol_error, "a frame's length is not in its shortest form");
    if (!is_control(opcode_) && left_ > limits_.message_bytes - message_.payload.size())
        return fail(CloseCode::too_big, "a message of more than " + std::to_string(limits_.message_bytes) + " bytes");
    if (limits_.sender == Sender::client)
        std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(2 + more), kMaskBytes, mask_.begin());
    mask_at_ = 0;
    head_bytes_ = 0;
    if (is_control(opcode_))
        control_ = {opcode_, {}};
    else if (opcode_ != Opcode::continuation)
        message_ = {opcode_, {}};
    stage_ = Stage::payload;
    return {};
}

// Memory grows with the bytes received, not with the announced length.
std::size_t FrameReader::take_payload(Bytes input) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size()));
    std::string& payload = is_control(opcode_) ? control_.payload : message_.payload;
    if (limits_.sender == Sender::server)
        payload += as_text(input.first(count));
    else
        for (const std::uint8_t byte : input.first(count))
            payload += static_cast<char>(byte ^ mask_[mask_at_++ % kMaskBytes]);
    left_ -= count;
    return count;
}

Result<void> FrameReader::finish_frame() {
    stage_ = Stage::head;
    if (is_control(opcode_)) {
        TRY(check_message(control_));
        closed_ = opcode_ == Opcode::close;
        ready_ = std::exchange(control_, {});
        return {};
    }
    in_message_ = !final_;
    if (final_) {
        TRY(check_message(message_));
        ready_ = std::exchange(message_, {});
    }
    return {};
}

Result<void> FrameReader::check_message(const Message& message) {
    if (message.kind == Opcode::text && !is_utf8(message.payload))
        return fail(CloseCode::invalid_text, "a text message is not UTF-8");
    if (message.kind != Opcode::close || message.payload.empty())
        return {};
    const Bytes payload = as_bytes(message.payload);
    if (payload.size() < 2 || !may_be_sent(payload[0] * 256U + payload[1]))
        return fail(CloseCode::protocol_error, "a close frame with a code that may not be sent");
    if (!is_utf8(std::string_view(message.payload).substr(2)))
        return fail(CloseCode::invalid_text, "a close frame's reason is not UTF-8");
    return {};
}

Error FrameReader::fail(CloseCode code, std::string sentence) {
    stage_ = Stage::broken;
    close_code_ = code;
    return {code == CloseCode::too_big ? Errc::limit : Errc::malformed, std::move(sentence)};
}

}  // namespace live::engine::websocket
