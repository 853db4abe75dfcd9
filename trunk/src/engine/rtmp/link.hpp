// The part of an RTMP connection below the commands, the same for both ends: chunks, chunk sizes, acknowledgement windows, pings
// and the output buffer. Not here: the handshake and the commands.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "wire/amf/value.hpp"
#include "wire/rtmp/chunk_reader.hpp"
#include "wire/rtmp/control_message.hpp"
#include "wire/rtmp/message.hpp"

namespace live::engine::rtmp {

class Link {
public:
    // A peer that announces smaller chunks than kPeerChunkSizeMin is refused; one that announces larger chunks than
    // kPeerChunkSizeUsual causes a warning.
    static constexpr std::uint32_t kPeerChunkSizeMin = 128;
    static constexpr std::uint32_t kPeerChunkSizeUsual = 65'536;
    // Answers a peer may cause before they are taken.
    static constexpr std::size_t kOutputBytesMax = 4 << 20;

    // Our own acknowledgement window, unless the peer has announced one; 0 for none.
    void set_acknowledge_every(std::uint32_t bytes) {
        if (window_ == 0)
            window_ = bytes;
    }

    void set_limits(const wire::rtmp::ChunkReader::Limits& limits) { reader_.set_limits(limits); }

    // Passes the handshake's part of `input`, from its front, to either end of it. Returns whether the handshake is complete.
    template <class Handshake>
    Result<bool> shake_hands(Handshake& handshake, TimePoint now, Bytes& input) {
        const std::size_t before = input.size();
        auto is_complete = handshake.handle_bytes(now, input, output_);
        bytes_received_ += before - input.size();
        return is_complete;
    }

    // The next message, from the front of `input`; nothing when `input` is used up. The caller passes control messages to
    // handle_control(), before it reads on.
    Result<std::optional<wire::rtmp::Message>> read(Bytes& input) { return reader_.read(input); }
    // Handles a message of is_control(): chunk sizes, aborts, windows, acknowledgements and pings. Returns other user control
    // messages.
    Result<std::optional<wire::rtmp::UserControl>> handle_control(const wire::rtmp::Message& message);

    // Counts `bytes` that were read, and writes an acknowledgement if half of the window has arrived since the last one. Call
    // once per input.
    void acknowledge(std::size_t bytes);

    // All on message boundaries.
    void send_control(const wire::rtmp::ControlMessage& message);
    void send_command(std::uint32_t stream_id, std::string_view name, double transaction,
                      std::initializer_list<wire::amf::Value> values);
    void send(std::uint32_t chunk_stream, wire::rtmp::MessageType type, std::uint32_t timestamp_ms, std::uint32_t stream_id,
              Bytes payload, Bytes payload_header = {});
    // Announces the size to the peer and applies it from the next message on.
    void announce_chunk_size(std::uint32_t bytes);
    void announce_window(std::uint32_t bytes);

    ByteWriter& output() { return output_; }
    // Errc::limit if more than kOutputBytesMax are pending. For a server, which only answers; a client also writes its media
    // here.
    Result<void> check_output() const;
    bool has_output() const { return output_.size() > 0; }
    void take_output(std::vector<std::uint8_t>& into);

    // Set once, after unusual peer behaviour.
    std::unique_ptr<std::string> take_warning() { return std::move(warning_); }

    std::uint32_t peer_chunk_size() const { return reader_.chunk_size(); }
    // Returns the memory of incomplete messages.
    std::size_t held_bytes() const { return reader_.held_bytes(); }
    std::uint32_t chunk_size() const { return chunk_size_; }
    std::uint64_t bytes_received() const { return bytes_received_; }

    void release_buffers();

private:
    Result<void> set_peer_chunk_size(std::uint32_t bytes);

    wire::rtmp::ChunkReader reader_;
    ByteWriter output_;
    std::uint64_t bytes_received_ = 0;
    std::uint64_t acknowledged_ = 0;
    std::uint32_t window_ = 0;
    std::uint32_t window_announced_ = 0;
    std::uint32_t chunk_size_ = wire::rtmp::kChunkSizeInitial;
    bool has_warned_ = false;
    std::unique_ptr<std::string> warning_;
};

}  // namespace live::engine::rtmp
