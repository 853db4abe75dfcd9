#include "bench/rtmp/chunk_skipper.hpp"

#include <algorithm>
#include <string>
#include <variant>

#include "wire/rtmp/control_message.hpp"

namespace live::bench {
namespace {

using wire::rtmp::MessageType;

bool is_kept_whole(MessageType type) {
    return wire::rtmp::is_control(type) || type == MessageType::amf0_command || type == MessageType::amf3_command;
}

}  // namespace

Result<std::optional<SkippedMessage>> ChunkSkipper::read(Bytes& input) {
    while (const auto piece = TRY(follower_.next(input))) {
        const auto& stream = follower_.stream(piece->index);
        if (piece->index >= kept_.size())
            kept_.resize(piece->index + 1);
        Kept& kept = kept_[piece->index];
        if (is_kept_whole(stream.type)) {
            if (stream.length > kWholeBytesMax) {
                return Error(Errc::limit, "control or command message of " + std::to_string(stream.length) +
                                              " bytes, the limit is " + std::to_string(kWholeBytesMax));
            }
            if (piece->begins)
                kept.whole.clear();
            kept.whole.insert(kept.whole.end(), piece->payload.begin(), piece->payload.end());
        } else if (piece->at < kHeadBytes) {
            std::copy_n(piece->payload.begin(), std::min(piece->payload.size(), kHeadBytes - piece->at),
                        kept.head.begin() + piece->at);
        }
        if (piece->ends)
            return std::optional(TRY(finish(piece->index)));
    }
    return std::optional<SkippedMessage>();
}

Result<SkippedMessage> ChunkSkipper::finish(std::size_t index) {
    const auto& stream = follower_.stream(index);
    const Kept& kept = kept_[index];
    const Bytes head =
        is_kept_whole(stream.type) ? Bytes(kept.whole) : Bytes(kept.head).first(std::min<std::size_t>(stream.length, kHeadBytes));
    const SkippedMessage message{stream.type, stream.timestamp_ms, stream.length, head};
    TRY(apply(message));
    return message;
}

Result<void> ChunkSkipper::apply(const SkippedMessage& message) {
    if (message.type != MessageType::set_chunk_size && message.type != MessageType::abort)
        return {};
    const auto control = TRY(wire::rtmp::parse_control(message.type, message.head));
    if (const auto* size = std::get_if<wire::rtmp::SetChunkSize>(&control))
        follower_.set_chunk_size(size->bytes);
    if (const auto* abort = std::get_if<wire::rtmp::Abort>(&control))
        follower_.abort(abort->chunk_stream);
    return {};
}

}  // namespace live::bench
