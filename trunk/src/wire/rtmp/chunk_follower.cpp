#include "wire/rtmp/chunk_follower.hpp"

#include <algorithm>
#include <string>

namespace live::wire::rtmp {
namespace {

// Size of the message header by chunk type (RTMP 1.0, section 5.3.1.2).
constexpr std::array<std::uint8_t, 4> kMessageHeaderBytes = {11, 7, 3, 0};

// A big-endian number whose bytes are known to be present. ByteReader would build an Error for every truncated header, and
// truncation is normal here.
std::uint32_t number(Bytes bytes) {
    std::uint32_t value = 0;
    for (const std::uint8_t byte : bytes)
        value = value << 8 | byte;
    return value;
}

bool begins_with(std::uint32_t value, Bytes front) {
    const std::array<std::uint8_t, 4> bytes = {static_cast<std::uint8_t>(value >> 24), static_cast<std::uint8_t>(value >> 16),
                                               static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value)};
    return std::equal(front.begin(), front.end(), bytes.begin());
}

}  // namespace

Result<std::optional<ChunkFollower::Piece>> ChunkFollower::next(Bytes& input) {
    drop_held(held_taken_);
    held_taken_ = 0;
    begins_ = false;
    if (input.empty() || (chunk_left_ == 0 && !TRY(begin_chunk(input))))
        return std::optional<Piece>();
    Stream& stream = streams_[current_];
    const Bytes from = held_size_ > 0 ? Bytes(held_).first(held_size_) : input;
    const Bytes payload = from.first(std::min<std::size_t>(chunk_left_, from.size()));
    if (held_size_ > 0)
        held_taken_ = static_cast<std::uint8_t>(payload.size());
    else
        input = input.subspan(payload.size());
    const std::uint32_t at = stream.filled;
    stream.filled += static_cast<std::uint32_t>(payload.size());
    chunk_left_ -= static_cast<std::uint32_t>(payload.size());
    stream.in_message = stream.filled < stream.length;
    return std::optional(Piece{current_, at, begins_, !stream.in_message, payload});
}

std::optional<std::size_t> ChunkFollower::abort(std::uint32_t chunk_stream) {
    Stream* stream = find(chunk_stream);
    // Control messages arrive between chunks, so an abort cannot refer to a message inside the current chunk.
    if (stream == nullptr || !stream->in_message || (chunk_left_ > 0 && &streams_[current_] == stream))
        return std::nullopt;
    stream->in_message = false;
    return static_cast<std::size_t>(stream - streams_.data());
}

// Returns true when a header was completed and the chunk entered, false when all of `input` was held as part of a header.
Result<bool> ChunkFollower::begin_chunk(Bytes& input) {
    if (held_size_ == 0) {
        if (const auto header = parse_header(input)) {
            input = input.subspan(header->size);
            TRY(enter(*header));
            return true;
        }
    }
    const std::size_t before = held_size_;
    const std::size_t added = std::min(input.size(), kHeaderBytesMax - before);
    std::copy_n(input.begin(), added, held_.begin() + static_cast<std::ptrdiff_t>(before));
    const auto header = parse_header(Bytes(held_).first(before + added));
    if (!header) {
        // 18 bytes always contain a complete header, so an incomplete header has consumed all input.
        CHECK(added == input.size());
        held_size_ = static_cast<std::uint8_t>(before + added);
        input = {};
        return false;
    }
    if (header->size >= before) {
        input = input.subspan(header->size - before);
        held_size_ = 0;
    } else {
        // The presumed start of a repeated extended timestamp is payload after all; next() takes it from here.
        drop_held(header->size);
    }
    TRY(enter(*header));
    return true;
}

void ChunkFollower::drop_held(std::size_t count) {
    std::copy(held_.begin() + static_cast<std::ptrdiff_t>(count), held_.begin() + held_size_, held_.begin());
    held_size_ = static_cast<std::uint8_t>(held_size_ - count);
}

// nullopt when the header is incomplete.
std::optional<ChunkFollower::Header> ChunkFollower::parse_header(Bytes input) {
    Header header;
    header.format = input[0] >> 6;
    header.chunk_stream = input[0] & 0x3F;
    std::size_t size = header.chunk_stream == 0 ? 2 : header.chunk_stream == 1 ? 3 : 1;
    const std::size_t at = size;
    size += kMessageHeaderBytes[header.format];
    if (input.size() < size)
        return std::nullopt;
    // RTMP 1.0, section 5.3.1.1: the three-byte form has its low byte first.
    if (header.chunk_stream == 0)
        header.chunk_stream = 64U + input[1];
    else if (header.chunk_stream == 1)
        header.chunk_stream = 64U + input[1] + (static_cast<std::uint32_t>(input[2]) << 8);

    if (header.format < 3) {
        header.time_ms = number(input.subspan(at, 3));
        header.extended = header.time_ms == kExtendedTimestamp;
    }
    if (header.format < 2) {
        header.length = number(input.subspan(at + 3, 3));
        header.type = static_cast<MessageType>(input[at + 6]);
    }
    if (header.format == 0)
        header.stream_id = __builtin_bswap32(number(input.subspan(at + 7, 4)));

    bool takes_extended = header.extended;
    if (header.format == 3) {
        const Stream* stream = find(header.chunk_stream);
        if (stream != nullptr && stream->extended) {
            const auto repeated = repeats_extended_time(*stream, input.subspan(size));
            if (!repeated)
                return std::nullopt;
            takes_extended = *repeated;
        }
    }
    if (takes_extended) {
        if (input.size() < size + 4)
            return std::nullopt;
        header.time_ms = number(input.subspan(size, 4));
        size += 4;
    }
    header.size = static_cast<std::uint8_t>(size);
    return header;
}

// Some encoders send type 3 chunks without repeating the extended timestamp although the specification (section 5.3.1.3) requires
// it. The four bytes are payload when they differ from the current field and timestamp. nullopt when there are too few bytes to
// decide.
std::optional<bool> ChunkFollower::repeats_extended_time(const Stream& stream, Bytes input) {
    const Bytes front = input.first(std::min<std::size_t>(input.size(), 4));
    if (!begins_with(stream.delta_ms, front) && !begins_with(stream.timestamp_ms, front))
        return false;
    if (front.size() < 4)
        return std::nullopt;
    return true;
}

ChunkFollower::Stream* ChunkFollower::find(std::uint32_t chunk_stream) {
    // Consecutive chunks usually belong to the same message.
    if (current_ < streams_.size() && streams_[current_].id == chunk_stream)
        return &streams_[current_];
    for (Stream& stream : streams_) {
        if (stream.id == chunk_stream)
            return &stream;
    }
    return nullptr;
}

Result<void> ChunkFollower::enter(const Header& header) {
    Stream* stream = find(header.chunk_stream);
    if (stream == nullptr) {
        // The specification requires type 0 first. librtmp opens chunk stream 2 with a type 1 (its ping), which lacks only the
        // stream ID.
        if (header.format > 1) {
            return Error(Errc::malformed, "chunk of type " + std::to_string(header.format) +
                                              " before any header on chunk stream " + std::to_string(header.chunk_stream));
        }
        if (streams_.size() >= chunk_streams_max_)
            return Error(Errc::limit, "more than " + std::to_string(chunk_streams_max_) + " chunk streams");
        stream = &streams_.emplace_back();
        stream->id = header.chunk_stream;
    }
    if (!stream->in_message) {
        begin_message(*stream, header);
        begins_ = true;
    } else if (header.format != 3) {
        return Error(Errc::malformed, "chunk of type " + std::to_string(header.format) + " inside a message on chunk stream " +
                                          std::to_string(header.chunk_stream));
    }
    current_ = static_cast<std::size_t>(stream - streams_.data());
    chunk_left_ = std::min(chunk_size_, stream->length - stream->filled);
    return {};
}

void ChunkFollower::begin_message(Stream& stream, const Header& header) {
    if (header.format < 3) {
        stream.delta_ms = header.time_ms;
        stream.extended = header.extended;
    }
    if (header.format < 2) {
        stream.length = header.length;
        stream.type = header.type;
    }
    if (header.format == 0)
        stream.stream_id = header.stream_id;
    // Section 5.3.1.2.4: a type 3 right after a type 0 uses that type 0's timestamp as its delta.
    stream.timestamp_ms = header.format == 0 ? header.time_ms : stream.timestamp_ms + stream.delta_ms;
    stream.filled = 0;
    stream.in_message = true;
}

}  // namespace live::wire::rtmp
