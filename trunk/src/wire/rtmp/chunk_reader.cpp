#include "wire/rtmp/chunk_reader.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/bytes/hot_lines.hpp"

namespace live::wire::rtmp {
namespace {

// A new block is not in any cache. It is prefetched this far ahead of writing, one or two messages.
constexpr std::size_t kPrefetchAhead = 1024;

}  // namespace

Result<std::optional<Message>> ChunkReader::read(Bytes& input) {
    while (const auto piece = TRY(follower_.next(input))) {
        const ChunkFollower::Stream& stream = follower_.stream(piece->index);
        if (piece->begins)
            TRY(begin_message(piece->index));
        Payload& payload = payloads_[piece->index];
        const std::size_t needed = piece->at + piece->payload.size();
        CHECK(needed <= stream.length);
        if (needed > payload.slice.size())
            make_room(payload, needed, stream.length);
        if (!piece->payload.empty())
            std::memcpy(payload.bytes + piece->at, piece->payload.data(), piece->payload.size());
        if (piece->ends) {
            pending_bytes_ -= stream.length;
            held_bytes_ -= payload.slice.size();
            return std::optional(
                Message{stream.type, stream.timestamp_ms, stream.stream_id, stream.id, std::move(payload.slice)});
        }
    }
    return std::optional<Message>();
}

void ChunkReader::abort(std::uint32_t chunk_stream) {
    if (const auto index = follower_.abort(chunk_stream)) {
        pending_bytes_ -= follower_.stream(*index).length;
        held_bytes_ -= payloads_[*index].slice.size();
        payloads_[*index] = {};
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
    const MessageType type = follower_.stream(index).type;
    const bool is_media = type == MessageType::audio || type == MessageType::video;
    payloads_[index] =
        is_media && length <= kSharedBytesMax ? carve(length) : allocate(std::min<std::size_t>(length, kFirstBytes));
    pending_bytes_ += length;
    held_bytes_ += payloads_[index].slice.size();
    return {};
}

ChunkReader::Payload ChunkReader::allocate(std::size_t length) {
    if (length == 0)
        return {};
    Slice slice = Slice::allocate(length);
    std::uint8_t* const bytes = slice.mutable_bytes().data();
    return {std::move(slice), bytes};
}

// Doubles the allocation while it is small; never exceeds the message.
void ChunkReader::make_room(Payload& payload, std::size_t needed, std::size_t length) {
    const std::size_t size = payload.slice.size();
    const std::size_t room = std::min(std::max(needed, size + std::min(size, kMoreBytesMax)), length);
    payload.slice.grow(room);
    payload.bytes = payload.slice.mutable_bytes().data();
    held_bytes_ += room - size;
}

ChunkReader::Payload ChunkReader::carve(std::size_t length) {
    if (room_.size() < length) {
        block_ = Slice::allocate(kBlockBytes);
        room_ = block_.mutable_bytes();
    }
    Payload payload{block_.sub(block_.size() - room_.size(), length), room_.data()};
    const MutBytes ahead = room_.subspan(std::min(kPrefetchAhead, room_.size()));
    prefetch(ahead.data(), std::min(length, ahead.size()));
    room_ = room_.subspan(length);
    return payload;
}

}  // namespace live::wire::rtmp
