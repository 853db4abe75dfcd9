#include "bench/chunk_skipper.hpp"

#include <algorithm>
#include <string>
#include <variant>

#include "wire/rtmp/control_message.hpp"

namespace live::bench {
namespace {

using wire::rtmp::MessageType;

// Bytes of the message header by chunk type (RTMP 1.0, section 5.3.1.2).
constexpr std::array<std::uint8_t, 4> kMessageHeaderBytes = {11, 7, 3, 0};

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

bool is_kept_whole(MessageType type) {
    return wire::rtmp::is_control(type) || type == MessageType::amf0_command || type == MessageType::amf3_command;
}

}  // namespace

Result<std::optional<SkippedMessage>> ChunkSkipper::read(Bytes& input) {
    while (!input.empty()) {
        if (!in_chunk_ && !TRY(begin_chunk(input)))
            return std::optional<SkippedMessage>();
        Stream& stream = streams_[current_];
        if (held_size_ > 0)
            drop_held(take(stream, Bytes(held_).first(held_size_)));
        input = input.subspan(take(stream, input));
        in_chunk_ = chunk_left_ > 0;
        if (stream.filled == stream.length)
            return std::optional<SkippedMessage>(TRY(finish(stream)));
    }
    return std::optional<SkippedMessage>();
}

// True when a header is complete and the chunk entered; false when all of `input` went into the held part of one.
Result<bool> ChunkSkipper::begin_chunk(Bytes& input) {
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

// Payload of the current chunk; returns how much of `from` belongs to it.
std::size_t ChunkSkipper::take(Stream& stream, Bytes from) {
    const std::size_t count = std::min<std::size_t>(chunk_left_, from.size());
    if (is_kept_whole(stream.type)) {
        stream.whole.insert(stream.whole.end(), from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
    } else if (stream.filled < kHeadBytes) {
        std::copy_n(from.begin(), std::min(count, kHeadBytes - stream.filled), stream.head.begin() + stream.filled);
    }
    stream.filled += static_cast<std::uint32_t>(count);
    chunk_left_ -= static_cast<std::uint32_t>(count);
    return count;
}

void ChunkSkipper::drop_held(std::size_t count) {
    std::copy(held_.begin() + static_cast<std::ptrdiff_t>(count), held_.begin() + held_size_, held_.begin());
    held_size_ = static_cast<std::uint8_t>(held_size_ - count);
}

// Nothing when the header is cut.
std::optional<ChunkSkipper::Header> ChunkSkipper::parse_header(Bytes input) {
    Header header;
    header.format = input[0] >> 6;
    header.chunk_stream = input[0] & 0x3F;
    std::size_t size = header.chunk_stream == 0 ? 2 : header.chunk_stream == 1 ? 3 : 1;
    const std::size_t at = size;
    size += kMessageHeaderBytes[header.format];
    if (input.size() < size)
        return std::nullopt;
    if (header.chunk_stream == 0)
        header.chunk_stream = 64U + input[1];
    else if (header.chunk_stream == 1)
        header.chunk_stream = 64U + input[1] + (static_cast<std::uint32_t>(input[2]) << 8);

    if (header.format < 3) {
        header.time_ms = number(input.subspan(at, 3));
        header.extended = header.time_ms == wire::rtmp::kExtendedTimestamp;
    }
    if (header.format < 2) {
        header.length = number(input.subspan(at + 3, 3));
        header.type = static_cast<MessageType>(input[at + 6]);
    }
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

// Some servers do not repeat the extended timestamp in type 3 chunks although the text (section 5.3.1.3) requires it.
std::optional<bool> ChunkSkipper::repeats_extended_time(const Stream& stream, Bytes input) const {
    const Bytes front = input.first(std::min<std::size_t>(input.size(), 4));
    if (!begins_with(stream.delta_ms, front) && !begins_with(stream.timestamp_ms, front))
        return false;
    if (front.size() < 4)
        return std::nullopt;
    return true;
}

ChunkSkipper::Stream* ChunkSkipper::find(std::uint32_t chunk_stream) {
    if (current_ < streams_.size() && streams_[current_].id == chunk_stream)
        return &streams_[current_];
    const auto found = std::ranges::find(streams_, chunk_stream, &Stream::id);
    return found == streams_.end() ? nullptr : &*found;
}

Result<void> ChunkSkipper::enter(const Header& header) {
    Stream* stream = find(header.chunk_stream);
    if (stream == nullptr) {
        if (header.format > 1) {
            return Error(Errc::malformed, "chunk of type " + std::to_string(header.format) +
                                              " before any header on chunk stream " + std::to_string(header.chunk_stream));
        }
        if (streams_.size() >= kChunkStreamsMax)
            return Error(Errc::limit, "more than " + std::to_string(kChunkStreamsMax) + " chunk streams");
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

Result<void> ChunkSkipper::begin_message(Stream& stream, const Header& header) {
    if (header.format < 3) {
        stream.delta_ms = header.time_ms;
        stream.extended = header.extended;
    }
    if (header.format < 2) {
        stream.length = header.length;
        stream.type = header.type;
    }
    // Section 5.3.1.2.4: a type 3 right after a type 0 takes that type 0's time as its delta.
    stream.timestamp_ms = header.format == 0 ? header.time_ms : stream.timestamp_ms + stream.delta_ms;
    if (is_kept_whole(stream.type) && stream.length > kWholeBytesMax) {
        return Error(Errc::limit, "control or command message of " + std::to_string(stream.length) + " bytes, the limit is " +
                                      std::to_string(kWholeBytesMax));
    }
    stream.filled = 0;
    stream.whole.clear();
    stream.in_message = true;
    return {};
}

Result<SkippedMessage> ChunkSkipper::finish(Stream& stream) {
    stream.in_message = false;
    stream.filled = 0;
    const Bytes head = is_kept_whole(stream.type) ? Bytes(stream.whole)
                                                  : Bytes(stream.head).first(std::min<std::size_t>(stream.length, kHeadBytes));
    const SkippedMessage message{stream.type, stream.timestamp_ms, stream.length, head};
    TRY(apply(message));
    return message;
}

Result<void> ChunkSkipper::apply(const SkippedMessage& message) {
    if (message.type != MessageType::set_chunk_size && message.type != MessageType::abort)
        return {};
    const auto control = TRY(wire::rtmp::parse_control(message.type, message.head));
    if (const auto* size = std::get_if<wire::rtmp::SetChunkSize>(&control))
        chunk_size_ = size->bytes;
    if (const auto* abort = std::get_if<wire::rtmp::Abort>(&control)) {
        if (Stream* stream = find(abort->chunk_stream))
            stream->in_message = false;
    }
    return {};
}

}  // namespace live::bench
