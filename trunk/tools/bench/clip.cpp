#include "clip.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>

#include "common.hpp"

namespace bench {
namespace {

constexpr std::uint8_t kAudio = 8;
constexpr std::uint8_t kVideo = 9;
constexpr std::uint8_t kData = 18;
constexpr std::size_t kFileHeaderBytes = 13;
constexpr std::size_t kTagHeaderBytes = 11;

std::vector<std::uint8_t> read_file(const std::string& path) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
    if (!file)
        die("cannot read " + path);
    std::vector<std::uint8_t> bytes;
    std::uint8_t block[65536];
    for (std::size_t n = 0; (n = std::fread(block, 1, sizeof block, file.get())) > 0;)
        bytes.insert(bytes.end(), block, block + n);
    return bytes;
}

std::uint8_t chunk_stream_of(std::uint8_t type) {
    if (type == kAudio)
        return 4;
    return type == kVideo ? 6 : 5;
}

std::uint32_t u24(const std::uint8_t* at) { return static_cast<std::uint32_t>(at[0] << 16 | at[1] << 8 | at[2]); }

std::vector<std::uint8_t> cut_into_chunks(std::uint8_t type, const std::uint8_t* payload, std::size_t size) {
    std::vector<std::uint8_t> out;
    out.reserve(size + size / kChunkBytes + 1);
    for (std::size_t done = 0; done < size; done += kChunkBytes) {
        if (done > 0)
            out.push_back(static_cast<std::uint8_t>(0xC0 | chunk_stream_of(type)));
        out.insert(out.end(), payload + done, payload + std::min(size, done + kChunkBytes));
    }
    return out;
}

// Publishers wrap their metadata in a call of this name.
std::vector<std::uint8_t> set_data_frame(const std::uint8_t* body, std::size_t size) {
    constexpr std::string_view kName = "@setDataFrame";
    std::vector<std::uint8_t> out{2, 0, static_cast<std::uint8_t>(kName.size())};
    out.insert(out.end(), kName.begin(), kName.end());
    out.insert(out.end(), body, body + size);
    return out;
}

ClipMessage make_message(std::uint8_t type, std::uint32_t timestamp_ms, const std::uint8_t* body, std::size_t size) {
    ClipMessage message;
    message.type = type;
    message.timestamp_ms = timestamp_ms;
    message.payload_bytes = size;
    const bool is_sequence_header = size > 1 && body[1] == 0 && (type == kVideo || (body[0] >> 4) == 10);
    message.is_setup = type == kData || is_sequence_header;
    message.is_key = type == kVideo && !message.is_setup && size > 0 && (body[0] >> 4 & 7) == 1;
    message.chunks = cut_into_chunks(type, body, size);
    return message;
}

void measure(Clip& clip) {
    std::size_t gop = 0;
    std::uint32_t last = 0;
    std::uint32_t videos = 0;
    std::uint32_t audios = 0;
    for (const ClipMessage& message : clip.messages) {
        if (message.type == kData)
            continue;
        clip.media_bytes += message.payload_bytes;
        gop = message.is_key ? message.payload_bytes : gop + message.payload_bytes;
        clip.gop_bytes_max = std::max(clip.gop_bytes_max, gop);
        last = std::max(last, message.timestamp_ms);
        (message.type == kVideo ? videos : audios) += 1;
    }
    if (videos + audios == 0)
        die("the clip holds no media");
    // The next round starts one frame after the last message.
    clip.duration_ms = last + std::max(1u, last / (videos > 0 ? videos : audios));
}

}  // namespace

double Clip::kbps() const { return static_cast<double>(media_bytes) * 8.0 / duration_ms; }

Clip load_clip(const std::string& path) {
    const std::vector<std::uint8_t> file = read_file(path);
    Clip clip;
    for (std::size_t at = kFileHeaderBytes; at + kTagHeaderBytes <= file.size();) {
        const std::uint8_t* tag = file.data() + at;
        const std::size_t size = u24(tag + 1);
        const std::uint32_t timestamp_ms = u24(tag + 4) | static_cast<std::uint32_t>(tag[7]) << 24;
        if (at + kTagHeaderBytes + size > file.size())
            break;
        const std::uint8_t* body = tag + kTagHeaderBytes;
        if (tag[0] == kData) {
            const std::vector<std::uint8_t> wrapped = set_data_frame(body, size);
            clip.messages.push_back(make_message(kData, timestamp_ms, wrapped.data(), wrapped.size()));
        } else if (tag[0] == kAudio || tag[0] == kVideo) {
            clip.messages.push_back(make_message(tag[0], timestamp_ms, body, size));
        }
        at += kTagHeaderBytes + size + 4;
    }
    measure(clip);
    return clip;
}

void write_type0_header(std::uint8_t* into, const ClipMessage& message, std::uint32_t timestamp_ms) {
    if (timestamp_ms >= 0xFFFFFF)
        die("a stream of more than four hours is not supported here");
    const auto size = static_cast<std::uint32_t>(message.payload_bytes);
    const std::uint8_t header[kType0Bytes] = {chunk_stream_of(message.type),
                                              static_cast<std::uint8_t>(timestamp_ms >> 16),
                                              static_cast<std::uint8_t>(timestamp_ms >> 8),
                                              static_cast<std::uint8_t>(timestamp_ms),
                                              static_cast<std::uint8_t>(size >> 16),
                                              static_cast<std::uint8_t>(size >> 8),
                                              static_cast<std::uint8_t>(size),
                                              message.type,
                                              1,
                                              0,
                                              0,
                                              0};
    std::copy(header, header + kType0Bytes, into);
}

}  // namespace bench
