#include "rtmp_client.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string_view>

#include "clip.hpp"

namespace bench {
namespace {

class Writer {
public:
    void u8(std::uint32_t value) { bytes_.push_back(static_cast<std::uint8_t>(value)); }
    void u24(std::uint32_t value) {
        u8(value >> 16);
        u8(value >> 8);
        u8(value);
    }
    void u32(std::uint32_t value) {
        u8(value >> 24);
        u24(value);
    }
    void key(std::string_view text) {
        u8(static_cast<std::uint32_t>(text.size() >> 8));
        u8(static_cast<std::uint32_t>(text.size()));
        bytes_.insert(bytes_.end(), text.begin(), text.end());
    }
    void string(std::string_view text) {
        u8(2);
        key(text);
    }
    void number(double value) {
        u8(0);
        const auto bits = std::bit_cast<std::uint64_t>(value);
        u32(static_cast<std::uint32_t>(bits >> 32));
        u32(static_cast<std::uint32_t>(bits));
    }
    void null() { u8(5); }
    void begin_object() { u8(3); }
    void end_object() { u24(9); }
    void append(const std::vector<std::uint8_t>& other) { bytes_.insert(bytes_.end(), other.begin(), other.end()); }
    std::vector<std::uint8_t>& bytes() { return bytes_; }

private:
    std::vector<std::uint8_t> bytes_;
};

constexpr std::uint8_t kSetChunkSize = 1;
constexpr std::uint8_t kAcknowledgement = 3;
constexpr std::uint8_t kCommand = 20;

// One type-0 chunk. The bodies here are shorter than the 128 bytes a chunk may have at first, or follow our announcement.
void message(Writer& out, std::uint32_t chunk_stream, std::uint8_t type, std::uint8_t stream_id, Writer& body) {
    out.u8(chunk_stream);
    out.u24(0);
    out.u24(static_cast<std::uint32_t>(body.bytes().size()));
    out.u8(type);
    out.u8(stream_id);  // The stream id is the one little-endian number of RTMP.
    out.u24(0);
    out.append(body.bytes());
}

void begin_session(Writer& out, const std::string& tc_url, const std::string& app, std::string_view flash_version) {
    out.bytes().assign(kHandshakeEndBytes, 0);
    Writer chunk_size;
    chunk_size.u32(kChunkBytes);
    message(out, 2, kSetChunkSize, 0, chunk_size);
    Writer connect;
    connect.string("connect");
    connect.number(1);
    connect.begin_object();
    connect.key("app");
    connect.string(app);
    connect.key("type");
    connect.string("nonprivate");
    connect.key("flashVer");
    connect.string(flash_version);
    connect.key("tcUrl");
    connect.string(tc_url);
    connect.end_object();
    message(out, 3, kCommand, 0, connect);
}

void call(Writer& out, std::uint8_t stream_id, std::string_view name, double transaction,
          const std::vector<std::string>& arguments) {
    Writer body;
    body.string(name);
    body.number(transaction);
    body.null();
    for (const std::string& argument : arguments)
        body.string(argument);
    message(out, stream_id == 0 ? 3 : 8, kCommand, stream_id, body);
}

}  // namespace

std::vector<std::uint8_t> handshake_hello() {
    std::vector<std::uint8_t> hello(kHandshakeOutBytes, 0);
    hello[0] = 3;
    for (std::size_t i = 9; i < hello.size(); ++i)
        hello[i] = static_cast<std::uint8_t>(std::rand());
    return hello;
}

std::vector<std::uint8_t> play_request(const std::string& tc_url, const std::string& app, const std::string& stream) {
    Writer out;
    begin_session(out, tc_url, app, "LNX 9,0,124,2");
    call(out, 0, "createStream", 2, {});
    Writer play;
    play.string("play");
    play.number(3);
    play.null();
    play.string(stream);
    play.number(-2000);
    message(out, 8, kCommand, 1, play);
    return out.bytes();
}

std::vector<std::uint8_t> publish_request(const std::string& tc_url, const std::string& app, const std::string& stream) {
    Writer out;
    begin_session(out, tc_url, app, "FMLE/3.0 (compatible; bench)");
    call(out, 0, "releaseStream", 2, {stream});
    call(out, 0, "FCPublish", 3, {stream});
    call(out, 0, "createStream", 4, {});
    call(out, 1, "publish", 5, {stream, "live"});
    return out.bytes();
}

std::vector<std::uint8_t> unpublish_request(const std::string& stream) {
    Writer out;
    call(out, 0, "FCUnpublish", 6, {stream});
    Writer body;
    body.string("deleteStream");
    body.number(7);
    body.null();
    body.number(1);
    message(out, 3, kCommand, 0, body);
    return out.bytes();
}

std::array<std::uint8_t, 16> acknowledgement(std::uint64_t total) {
    Writer body;
    body.u32(static_cast<std::uint32_t>(total));
    Writer out;
    message(out, 2, kAcknowledgement, 0, body);
    std::array<std::uint8_t, 16> bytes{};
    std::copy(out.bytes().begin(), out.bytes().end(), bytes.begin());
    return bytes;
}

bool MediaCounter::feed(const std::uint8_t* data, std::size_t size) {
    buffer_.insert(buffer_.end(), data, data + size);
    std::size_t used = 0;
    while (used < buffer_.size()) {
        const std::size_t n = take_chunk(buffer_.data() + used, buffer_.size() - used);
        if (n == kBroken)
            return false;
        if (n == 0)
            break;
        used += n;
    }
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(used));
    return true;
}

std::size_t MediaCounter::take_chunk(const std::uint8_t* at, std::size_t size) {
    const std::uint32_t format = at[0] >> 6;
    std::uint32_t id = at[0] & 63;
    std::size_t i = id == 0 ? 2 : id == 1 ? 3 : 1;
    static constexpr std::size_t kHeaderBytes[4] = {11, 7, 3, 0};
    if (size < i + kHeaderBytes[format])
        return 0;
    if (id < 2)
        id = 64 + at[1] + (id == 1 ? at[2] * 256u : 0u);
    const auto u24 = [&](std::size_t from) {
        return static_cast<std::uint32_t>(at[from] << 16 | at[from + 1] << 8 | at[from + 2]);
    };
    Lane& lane = rtp_logs_[id];
    std::uint32_t time = lane.delta;
    bool extended = lane.extended;
    std::uint32_t length = lane.length;
    if (format < 3) {
        time = u24(i);
        extended = time == 0xFFFFFF;
    }
    if (format < 2)
        length = u24(i + 3);
    const std::uint8_t type = format < 2 ? at[i + 6] : lane.type;
    i += kHeaderBytes[format];
    if (extended) {
        if (size < i + 4)
            return 0;
        const std::uint32_t full = u24(i) << 8 | at[i + 3];
        time = format < 3 ? full : time;
        i += 4;
    }
    const std::size_t want = std::min<std::size_t>(chunk_bytes_, length - lane.payload.size());
    if (size < i + want)
        return 0;
    if (format < 3 && !lane.payload.empty())
        return kBroken;  // A new message inside another one of the same chunk stream.
    lane.extended = extended;
    lane.length = length;
    lane.type = type;
    if (lane.payload.empty()) {
        lane.delta = time;
        lane.timestamp = format == 0 ? time : lane.timestamp + time;
        if (format == 0)
            lane.delta = 0;
    }
    lane.payload.insert(lane.payload.end(), at + i, at + i + want);
    if (lane.payload.size() == length) {
        on_message(lane);
        lane.payload.clear();
    }
    return i + want;
}

void MediaCounter::on_message(const Lane& lane) {
    if (lane.type == kSetChunkSize && lane.payload.size() >= 4)
        chunk_bytes_ = static_cast<std::size_t>(lane.payload[0]) << 24 | static_cast<std::size_t>(lane.payload[1]) << 16 |
                       static_cast<std::size_t>(lane.payload[2]) << 8 | lane.payload[3];
    if (lane.type != 8 && lane.type != 9)
        return;
    (lane.type == 8 ? audio_messages_ : video_messages_) += 1;
    media_bytes_ += lane.payload.size();
    const auto [last, is_first] = last_time_.try_emplace(lane.type, lane.timestamp);
    times_went_back_ += !is_first && lane.timestamp < last->second ? 1u : 0u;
    last->second = lane.timestamp;
}

}  // namespace bench
