#include "engine/rtmp/link.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "engine/rtmp/command.hpp"
#include "wire/rtmp/chunk_writer.hpp"

namespace live::engine::rtmp {

using wire::rtmp::Message;
using wire::rtmp::UserControl;

Result<std::optional<UserControl>> Link::handle_control(const Message& message) {
    const auto control = TRY(wire::rtmp::parse_control(message.type, message.payload.bytes()));
    if (const auto* size = std::get_if<wire::rtmp::SetChunkSize>(&control)) {
        TRY(set_peer_chunk_size(size->bytes));
    } else if (const auto* abort = std::get_if<wire::rtmp::Abort>(&control)) {
        reader_.abort(abort->chunk_stream);
    } else if (const auto* window = std::get_if<wire::rtmp::WindowAckSize>(&control)) {
        window_ = window->bytes;
    } else if (const auto* bandwidth = std::get_if<wire::rtmp::SetPeerBandwidth>(&control)) {
        // RTMP 1.0, section 5.4.5: answered with our window if it differs from the last one announced.
        if (bandwidth->bytes != window_announced_)
            announce_window(bandwidth->bytes);
    } else if (const auto* user = std::get_if<UserControl>(&control)) {
        if (user->event != UserControl::Event::ping_request)
            return std::optional(*user);
        send_control(UserControl{UserControl::Event::ping_response, user->value, 0});
    }
    return std::optional<UserControl>();
}

Result<void> Link::check_output() const {
    if (output_.size() > kOutputBytesMax)
        return Error(Errc::limit,
                     "the peer asks much and reads nothing: " + std::to_string(output_.size()) + " bytes wait for it");
    return {};
}

Result<void> Link::set_peer_chunk_size(std::uint32_t bytes) {
    if (bytes < kPeerChunkSizeMin) {
        return Error(Errc::malformed, "the peer wants chunks of " + std::to_string(bytes) + " bytes, the least is " +
                                          std::to_string(kPeerChunkSizeMin));
    }
    if (bytes > kPeerChunkSizeUsual && !has_warned_) {
        has_warned_ = true;
        warning_ = std::make_unique<std::string>("the peer sends chunks of " + std::to_string(bytes) +
                                                 " bytes, more than the usual " + std::to_string(kPeerChunkSizeUsual));
    }
    reader_.set_chunk_size(bytes);
    return {};
}

void Link::acknowledge(std::size_t bytes) {
    bytes_received_ += bytes;
    // Half of the window, so that a peer that stops at a full window never stalls.
    const std::uint64_t due = std::max<std::uint64_t>(window_ / 2, 1);
    if (window_ == 0 || bytes_received_ - acknowledged_ < due)
        return;
    acknowledged_ = bytes_received_;
    send_control(wire::rtmp::Acknowledgement{static_cast<std::uint32_t>(bytes_received_)});
}

void Link::send_control(const wire::rtmp::ControlMessage& message) { wire::rtmp::write_control(output_, message); }

void Link::send_command(std::uint32_t stream_id, std::string_view name, double transaction,
                        std::initializer_list<wire::amf::Value> values) {
    send(wire::rtmp::kCommandChunkStream, wire::rtmp::MessageType::amf0_command, 0, stream_id,
         write_command(name, transaction, values));
}

void Link::send(std::uint32_t chunk_stream, wire::rtmp::MessageType type, std::uint32_t timestamp_ms, std::uint32_t stream_id,
                Bytes payload, Bytes payload_header) {
    wire::rtmp::write_message(output_, chunk_stream, type, timestamp_ms, stream_id, payload, chunk_size_, payload_header);
}

void Link::announce_chunk_size(std::uint32_t bytes) {
    send_control(wire::rtmp::SetChunkSize{bytes});
    chunk_size_ = bytes;
}

void Link::announce_window(std::uint32_t bytes) {
    window_announced_ = bytes;
    send_control(wire::rtmp::WindowAckSize{bytes});
}

void Link::take_output(std::vector<std::uint8_t>& into) {
    if (into.empty()) {
        into = output_.release();
        return;
    }
    const Bytes written = output_.written();
    into.insert(into.end(), written.begin(), written.end());
    output_.release();
}

void Link::release_buffers() {
    reader_.release_buffers();
    if (!has_output())
        output_.release();
}

}  // namespace live::engine::rtmp
