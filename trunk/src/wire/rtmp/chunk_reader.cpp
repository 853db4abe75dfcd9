#include "wire/rtmp/chunk_reader.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace live::wire::rtmp {
namespace {

// Bytes of the message header by chunk type (RTMP 1.0, section 5.3.1.2).
constexpr std::array<std::uint8_t, 4> kMessageHeaderBytes = {11, 7, 3, 0};

// Big-endian number of bytes that the caller knows to be there. ByteReader would build an Error for every header that is cut, and
// being cut is normal here.
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

Result<std::optional<Message>> ChunkReader::read(Bytes& input) {
    while (!input.empty()) {
        if (!in_chunk_ && !TRY(begin_chunk(input)))
            return std::optional<Message>();
        Stream& stream = streams_[current_];
        if (held_size_ > 0)
            drop_held(fill(stream, Bytes(held_).first(held_size_)));
        input = input.subspan(fill(stream, input));
        in_chunk_ = chunk_left_ > 0;
        if (stream.filled == stream.length)
            return std::optional<Message>(finish(stream));
    }
    return std::optional<Message>();
}

void ChunkReader::set_chunk_size(std::uint32_t bytes) {
    CHECK(bytes > 0);
    chunk_size_ = bytes;
}

void ChunkReader::abort(std::uint32_t chunk_stream) {
    Stream* stream = find(chunk_stream);
    // A message that is inside a chunk right now cannot be meant: control messages arrive between chunks.
    if (stream == nullptr || !stream->in_message || (in_chunk_ && &streams_[current_] == stream))
        return;
    pending_bytes_ -= stream->length;
    stream->in_message = false;
    stream->filled = 0;
    stream->payload = Slice();
}

// True when a header is complete and the chunk entered; false when all of `input` went into the held part of one.
Result<bool> ChunkReader::begin_chunk(Bytes& input) {
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
        // 18 bytes always hold a header, so a header that is still cut has used up the input.
        CHECK(added == input.size());
        held_size_ = static_cast<std::uint8_t>(before + added);
        input = {};
        return false;
    }
    if (header->size >= before) {
        input = input.subspan(header->size - before);
        held_size_ = 0;
    } else {
        // What looked like the front of a repeated extended time is payload after all; read() takes it from here.
        drop_held(header->size);
    }
    TRY(enter(*header));
    return true;
}

// Copies payload of the current chunk; returns how much of `from` it took.
std::size_t ChunkReader::fill(Stream& stream, Bytes from) {
    const std::size_t count = std::min<std::size_t>(chunk_left_, from.size());
    if (count > 0)
        std::memcpy(stream.payload.mutable_bytes().subspan(stream.filled).data(), from.data(), count);
    stream.filled += static_cast<std::uint32_t>(count);
    chunk_left_ -= static_cast<std::uint32_t>(count);
    return count;
}

void ChunkReader::drop_held(std::size_t count) {
    std::copy(held_.begin() + static_cast<std::ptrdiff_t>(count), held_.begin() + held_size_, held_.begin());
    held_size_ = static_cast<std::uint8_t>(held_size_ - count);
}

// Nothing when the header is cut.
std::optional<ChunkReader::Header> ChunkReader::parse_header(Bytes input) {
    Header header;
    header.format = input[0] >> 6;
    header.chunk_stream = input[0] & 0x3F;
    std::size_t size = header.chunk_stream == 0 ? 2 : header.chunk_stream == 1 ? 3 : 1;
    const std::size_t at = size;
    size += kMessageHeaderBytes[header.format];
    if (input.size() < size)
        return std::nullopt;
    // RTMP 1.0, section 5.3.1.1: the three byte form has its low byte first.
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

// Some encoders send type 3 chunks without repeating the extended timestamp although the text (section 5.3.1.3) requires it. The
// four bytes are payload when they differ from the running field and time. Nothing when too few bytes are there to tell.
std::optional<bool> ChunkReader::repeats_extended_time(const Stream& stream, Bytes input) const {
    const Bytes front = input.first(std::min<std::size_t>(input.size(), 4));
    if (!begins_with(stream.delta_ms, front) && !begins_with(stream.timestamp_ms, front))
        return false;
    if (front.size() < 4)
        return std::nullopt;
    return true;
}

ChunkReader::Stream* ChunkReader::find(std::uint32_t chunk_stream) {
    // Chunks of one message mostly follow each other.
    if (current_ < streams_.size() && streams_[current_].id == chunk_stream)
        return &streams_[current_];
    for (Stream& stream : streams_) {
        if (stream.id == chunk_stream)
            return &stream;
    }
    return nullptr;
}

Result<void> ChunkReader::enter(const Header& header) {
    Stream* stream = find(header.chunk_stream);
    if (stream == nullptr) {
        // The text wants type 0 first. librtmp opens chunk stream 2 with a type 1 (its ping), which lacks only the stream id.
        if (header.format > 1) {
            return Error(Errc::malformed, "chunk of type " + std::to_string(header.format) +
                                              " before any header on chunk stream " + std::to_string(header.chunk_stream));
        }
        if (streams_.size() >= limits_.chunk_streams)
            return Error(Errc::limit, "more than " + std::to_string(limits_.chunk_streams) + " chunk streams");
        stream = &streams_.emplace_back();
        stream->id = header.chunk_stream;
    }
    if (!stream->in_message) {
        TRY(begin_message(*stream, header));
    } else if (header.format != 3) {
        return Error(Errc::malformed, "chunk of type " + std::to_string(header.format) + " inside a message on chunk stream " +
                                          std::to_string(header.chunk_stream));
    }
    current_ = static_cast<std::size_t>(stream - streams_.data());
    chunk_left_ = std::min(chunk_size_, stream->length - stream->filled);
    in_chunk_ = true;
    return {};
}

Result<void> ChunkReader::begin_message(Stream& stream, const Header& header) {
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
    // Section 5.3.1.2.4: a type 3 right after a type 0 takes that type 0's time as its delta.
    stream.timestamp_ms = header.format == 0 ? header.time_ms : stream.timestamp_ms + stream.delta_ms;

    if (stream.length > limits_.message_bytes) {
        return Error(Errc::limit, "message of " + std::to_string(stream.length) + " bytes, the limit is " +
                                      std::to_string(limits_.message_bytes));
    }
    if (pending_bytes_ + stream.length > limits_.pending_bytes) {
        return Error(Errc::limit, "begun messages of more than " + std::to_string(limits_.pending_bytes) + " bytes");
    }
    stream.payload = stream.length > 0 ? Slice::allocate(stream.length) : Slice();
    stream.filled = 0;
    stream.in_message = true;
    pending_bytes_ += stream.length;
    return {};
}

Message ChunkReader::finish(Stream& stream) {
    pending_bytes_ -= stream.length;
    stream.in_message = false;
    stream.filled = 0;
    return Message{stream.type, stream.timestamp_ms, stream.stream_id, stream.id, std::move(stream.payload)};
}

}  // namespace live::wire::rtmp
