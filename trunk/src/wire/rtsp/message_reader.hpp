// MessageReader: splits the bytes of an RTSP connection into messages and interleaved frames (RFC 2326, 10.12), which follow each
// other in any order: at each border the first byte decides.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/rtsp/message.hpp"

namespace live::wire::rtsp {

inline constexpr std::uint8_t kInterleavedMark = '$';
inline constexpr std::size_t kInterleavedHeadBytes = 4;

// A packet of RTP or RTCP between messages.
struct InterleavedFrame {
    std::uint8_t channel = 0;
    Bytes payload;  // borrowed; some cameras send empty ones
};

// A set of channels.
using Channels = std::bitset<256>;

// Appends a frame. `payload` is at most 65,535 bytes.
void write_frame(ByteWriter& out, std::uint8_t channel, Bytes payload);

class MessageReader {
public:
    MessageReader() = default;
    MessageReader(const MessageReader&) = delete;
    MessageReader& operator=(const MessageReader&) = delete;

    using Item = std::variant<Message, InterleavedFrame>;

    // Keeps the input. Call next() until it returns nothing before the next input: then at most one unfinished item is held, of
    // kInterleavedHeadBytes + 65,535 bytes or kHeadBytesMax + kBodyBytesMax.
    void feed(Bytes input);
    // The same for input that stays valid until keep_rest(): frames that are whole in it are not copied.
    void borrow(Bytes input);
    // Keeps what is left of borrowed input. To be called when the calls below return nothing.
    void keep_rest();
    // The next whole message or frame; nullopt when more input is needed. A frame is valid until the next call of any function.
    // Errors as parse_head and body_bytes_of: final.
    Result<std::optional<Item>> next();
    // For senders with garbage between frames: removes bytes until a message, or a frame of one of these channels with a packet
    // of RTP or RTCP, begins. False when more input is needed to decide; then next() must not be called. Frames of other channels
    // pass if a response or a frame follows them.
    bool skip_garbage(const Channels& channels);
    // Bytes that skip_garbage() has removed since the last item that it found.
    std::size_t garbage_bytes() const { return garbage_; }
    // Removes the next interleaved frame, if it is whole, and nothing else: the quick way for media.
    std::optional<InterleavedFrame> next_frame();
    // The same after skip_garbage(): only a frame of one of these channels with a packet of RTP or RTCP.
    std::optional<InterleavedFrame> next_frame(const Channels& channels);

    std::size_t held_bytes() const { return input_.size() - at_; }
    // Gives back the memory of an empty buffer.
    void release_buffer();

private:
    Bytes rest() const { return input_.subspan(at_); }
    enum class Border : std::uint8_t { item, garbage, undecided };

    Border border(const Channels& channels) const;
    Border frame_border(Bytes bytes, const Channels& channels) const;
    Result<std::optional<Message>> next_message();

    std::vector<std::uint8_t> buffer_;
    Bytes input_;              // all of the buffer, or borrowed while that is empty
    std::size_t at_ = 0;       // where the next item begins
    std::size_t scanned_ = 0;  // of the rest: no head ends in it
    std::size_t garbage_ = 0;
};

}  // namespace live::wire::rtsp
