#include "wire/rtmp/chunk_reader.hpp"

#include <cstring>
#include <string>

namespace live::wire::rtmp {

Result<std::optional<Message>> ChunkReader::read(Bytes& input) {
    while (const auto piece = TRY(follower_.next(input))) {
        const ChunkFollower::Stream& stream = follower_.stream(piece->index);
        if (piece->begins)
            TRY(begin_message(piece->index));
        Slice& payload = payloads_[piece->index];
        if (!piece->payload.empty())
            std::memcpy(payload.mutable_bytes().subspan(piece->at).data(), piece->payload.data(), piece->payload.size());
        if (piece->ends) {
            pending_bytes_ -= stream.length;
            return std::optional(Message{stream.type, stream.timestamp_ms, stream.stream_id, stream.id, std::move(payload)});
        }
    }
    return std::optional<Message>();
}

void ChunkReader::abort(std::uint32_t chunk_stream) {
    if (const auto index = follower_.abort(chunk_stream)) {
        pending_bytes_ -= follower_.stream(*index).length;
        payloads_[*index] = Slice();
    }
}

Result<void> ChunkReader::begin_message(std::size_t index) {
    const std::uint32_t length = follower_.stream(index).length;
    if (length > limits_.message_bytes) {
        return Error(Errc::limit,
                     "message of " + std::to_string(length) + " bytes, the limit is " + std::to_string(limits_.message_bytes));
    }
    if (pending_bytes_ + length > limits_.pending_bytes)
        return Error(Errc::limit, "begun messages of more than " + std::to_string(limits_.pending_bytes) + " bytes");
    if (index >= payloads_.size())
        payloads_.resize(index + 1);
    payloads_[index] = length > 0 ? Slice::allocate(length) : Slice();
    pending_bytes_ += length;
    return {};
}

}  // namespace live::wire::rtmp
