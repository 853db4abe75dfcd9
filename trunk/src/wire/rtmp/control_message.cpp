#include "wire/rtmp/control_message.hpp"

#include <string>

#include "base/bytes/byte_reader.hpp"
#include "wire/rtmp/chunk_writer.hpp"

namespace live::wire::rtmp {
namespace {

Result<ControlMessage> parse_chunk_size(ByteReader& in) {
    const std::uint32_t bytes = TRY(in.u32be());
    if (bytes == 0 || bytes > 0x7FFF'FFFF)
        return Error(Errc::malformed, "chunk size " + std::to_string(bytes));
    return ControlMessage(SetChunkSize{bytes});
}

Result<ControlMessage> parse_peer_bandwidth(ByteReader& in) {
    const std::uint32_t bytes = TRY(in.u32be());
    const std::uint8_t limit = TRY(in.u8());
    if (limit > 2)
        return Error(Errc::malformed, "peer bandwidth limit type " + std::to_string(limit));
    return ControlMessage(SetPeerBandwidth{bytes, static_cast<SetPeerBandwidth::Limit>(limit)});
}

Result<ControlMessage> parse_user_control(ByteReader& in) {
    UserControl message;
    message.event = static_cast<UserControl::Event>(TRY(in.u16be()));
    switch (message.event) {
        case UserControl::Event::stream_begin:
        case UserControl::Event::stream_eof:
        case UserControl::Event::stream_dry:
        case UserControl::Event::stream_is_recorded:
        case UserControl::Event::ping_request:
        case UserControl::Event::ping_response: message.value = TRY(in.u32be()); break;
        case UserControl::Event::set_buffer_length:
            message.value = TRY(in.u32be());
            message.buffer_ms = TRY(in.u32be());
            break;
    }
    return ControlMessage(message);
}

// Writes the payload of each kind and returns its type.
struct PayloadWriter {
    ByteWriter& out;

    MessageType operator()(const SetChunkSize& message) const {
        out.u32be(message.bytes);
        return MessageType::set_chunk_size;
    }
    MessageType operator()(const Abort& message) const {
        out.u32be(message.chunk_stream);
        return MessageType::abort;
    }
    MessageType operator()(const Acknowledgement& message) const {
        out.u32be(message.bytes_received);
        return MessageType::acknowledgement;
    }
    MessageType operator()(const WindowAckSize& message) const {
        out.u32be(message.bytes);
        return MessageType::window_ack_size;
    }
    MessageType operator()(const SetPeerBandwidth& message) const {
        out.u32be(message.bytes).u8(static_cast<std::uint8_t>(message.limit));
        return MessageType::set_peer_bandwidth;
    }
    MessageType operator()(const UserControl& message) const {
        out.u16be(static_cast<std::uint16_t>(message.event)).u32be(message.value);
        if (message.event == UserControl::Event::set_buffer_length)
            out.u32be(message.buffer_ms);
        return MessageType::user_control;
    }
};

}  // namespace

bool is_control(MessageType type) {
    const auto number = static_cast<std::uint8_t>(type);
    return number >= 1 && number <= 6;
}

Result<ControlMessage> parse_control(MessageType type, Bytes payload) {
    ByteReader in(payload);
    switch (type) {
        case MessageType::set_chunk_size: return parse_chunk_size(in);
        case MessageType::abort: return ControlMessage(Abort{TRY(in.u32be())});
        case MessageType::acknowledgement: return ControlMessage(Acknowledgement{TRY(in.u32be())});
        case MessageType::window_ack_size: return ControlMessage(WindowAckSize{TRY(in.u32be())});
        case MessageType::set_peer_bandwidth: return parse_peer_bandwidth(in);
        case MessageType::user_control: return parse_user_control(in);
        default:
            return Error(Errc::unsupported, "message type " + std::to_string(static_cast<int>(type)) + " is no control message");
    }
}

void write_control(ByteWriter& out, const ControlMessage& message) {
    ByteWriter payload;
    const MessageType type = std::visit(PayloadWriter{payload}, message);
    write_message(out, kControlChunkStream, type, 0, 0, payload.written(), kChunkSizeInitial);
}

}  // namespace live::wire::rtmp
