#include "wire/rtsp/message_reader.hpp"

#include <algorithm>
#include <array>

#include "base/check.hpp"

namespace live::wire::rtsp {

namespace {

// Where the empty line after a head begins and ends; senders that are not strict end lines with LF alone.
struct HeadEnd {
    std::size_t head = 0;
    std::size_t whole = 0;
};
std::optional<HeadEnd> find_head_end(std::string_view text, std::size_t from) {
    for (std::size_t at = text.find('\n', from); at != std::string_view::npos; at = text.find('\n', at + 1)) {
        const std::string_view after = text.substr(at + 1);
        if (after.starts_with('\n'))
            return HeadEnd{at + 1, at + 2};
        if (after.starts_with("\r\n"))
            return HeadEnd{at + 1, at + 3};
    }
    return std::nullopt;
}

// Responses, and the requests of servers.
constexpr std::array<std::string_view, 8> kFirstWords = {"RTSP/1.",   "OPTIONS ",  "GET_PARAMETER ", "SET_PARAMETER ",
                                                         "ANNOUNCE ", "REDIRECT ", "TEARDOWN ",      "PAUSE "};

bool may_begin_item(std::uint8_t byte) { return byte == kInterleavedMark || (byte >= 'A' && byte <= 'Z'); }

bool may_begin_message(std::string_view text) {
    return std::ranges::any_of(kFirstWords, [text](std::string_view word) {
        const std::size_t count = std::min(word.size(), text.size());
        return text.substr(0, count) == word.substr(0, count);
    });
}

}  // namespace

void write_frame(ByteWriter& out, std::uint8_t channel, Bytes payload) {
    CHECK(payload.size() <= 0xFFFF);
    out.u8(kInterleavedMark).u8(channel).u16be(static_cast<std::uint16_t>(payload.size())).bytes(payload);
}

void MessageReader::feed(Bytes input) {
    keep_rest();
    buffer_.insert(buffer_.end(), input.begin(), input.end());
    input_ = buffer_;
}

void MessageReader::borrow(Bytes input) {
    keep_rest();
    if (!buffer_.empty())
        return feed(input);
    input_ = input;
}

void MessageReader::keep_rest() {
    if (buffer_.empty())
        buffer_.assign(input_.begin() + static_cast<std::ptrdiff_t>(at_), input_.end());
    else if (at_ > 0)
        buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at_));
    input_ = buffer_;
    at_ = 0;
}

void MessageReader::release_buffer() {
    if (held_bytes() > 0)
        return;
    buffer_ = {};
    input_ = {};
    at_ = 0;
}

std::optional<InterleavedFrame> MessageReader::next_frame() {
    const Bytes bytes = rest();
    if (bytes.size() < kInterleavedHeadBytes || bytes[0] != kInterleavedMark)
        return std::nullopt;
    const std::size_t length = std::size_t{bytes[2]} << 8 | bytes[3];
    if (bytes.size() < kInterleavedHeadBytes + length)
        return std::nullopt;
    at_ += kInterleavedHeadBytes + length;
    return InterleavedFrame{bytes[1], bytes.subspan(kInterleavedHeadBytes, length)};
}

std::optional<InterleavedFrame> MessageReader::next_frame(const Channels& channels) {
    const Bytes bytes = rest();
    const bool is_packet = bytes.size() > kInterleavedHeadBytes && bytes[0] == kInterleavedMark && channels.test(bytes[1]) &&
                           frame_border(bytes, channels) == Border::item;
    if (!is_packet)
        return std::nullopt;
    garbage_ = 0;
    return next_frame();
}

MessageReader::Border MessageReader::frame_border(Bytes bytes, const Channels& channels) const {
    constexpr std::uint8_t kVersion = 2;
    // A longer one of another channel would hold the others up until it is known whether a frame follows it.
    constexpr std::size_t kForeignFrameMax = 2'048;
    if (bytes.size() < kInterleavedHeadBytes)
        return Border::undecided;
    const std::size_t whole = kInterleavedHeadBytes + (std::size_t{bytes[2]} << 8 | bytes[3]);
    if (channels.test(bytes[1])) {
        if (whole == kInterleavedHeadBytes)
            return Border::item;
        if (bytes.size() == kInterleavedHeadBytes)
            return Border::undecided;
        return bytes[kInterleavedHeadBytes] >> 6 == kVersion ? Border::item : Border::garbage;
    }
    if (whole > kForeignFrameMax)
        return Border::garbage;
    if (bytes.size() <= whole)
        return Border::undecided;
    return bytes[whole] == kInterleavedMark || bytes[whole] == kFirstWords[0][0] ? Border::item : Border::garbage;
}

MessageReader::Border MessageReader::border(const Channels& channels) const {
    const Bytes bytes = rest();
    if (bytes[0] == kInterleavedMark)
        return frame_border(bytes, channels);
    return may_begin_message(as_text(bytes)) ? Border::item : Border::garbage;
}

bool MessageReader::skip_garbage(const Channels& channels) {
    for (; at_ < input_.size(); ++at_, ++garbage_) {
        const Border found = may_begin_item(input_[at_]) ? border(channels) : Border::garbage;
        if (found == Border::undecided)
            return false;
        if (found == Border::item) {
            garbage_ = 0;
            return true;
        }
        scanned_ = 0;
    }
    return false;
}

Result<std::optional<MessageReader::Item>> MessageReader::next() {
    // Some clients end a body with a line break that its length does not count.
    while (scanned_ == 0 && at_ < input_.size() && (input_[at_] == '\r' || input_[at_] == '\n'))
        ++at_;
    if (at_ == input_.size())
        return std::optional<Item>();
    if (input_[at_] == kInterleavedMark) {
        const auto frame = next_frame();
        return frame ? std::optional<Item>(*frame) : std::nullopt;
    }
    auto message = TRY(next_message());
    return message ? std::optional<Item>(std::move(*message)) : std::nullopt;
}

Result<std::optional<Message>> MessageReader::next_message() {
    const std::string_view text = as_text(rest());
    const auto end = find_head_end(text.substr(0, kHeadBytesMax), scanned_);
    if (!end) {
        if (text.size() >= kHeadBytesMax)
            return Error(Errc::limit, "RTSP: a head of more than " + std::to_string(kHeadBytesMax) + " bytes");
        // The last two bytes may begin the end.
        scanned_ = std::max<std::size_t>(text.size(), 2) - 2;
        return std::optional<Message>();
    }
    auto message = TRY(parse_head(text.substr(0, end->head)));
    const std::size_t body = TRY(body_bytes_of(message));
    if (text.size() < end->whole + body) {
        scanned_ = end->head - 1;
        return std::optional<Message>();
    }
    message.body = text.substr(end->whole, body);
    at_ += end->whole + body;
    scanned_ = 0;
    return std::optional(std::move(message));
}

}  // namespace live::wire::rtsp
