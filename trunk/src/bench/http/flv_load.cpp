#include "bench/http/flv_load.hpp"

#include <array>
#include <utility>
#include <vector>

#include "base/bytes/base64.hpp"
#include "bench/clips/media_head.hpp"
#include "bench/http/http_fetch.hpp"
#include "bench/measure/delay_stamp.hpp"
#include "engine/websocket/frame_reader.hpp"
#include "engine/websocket/frame_writer.hpp"
#include "engine/websocket/handshake.hpp"
#include "io/fibers/loop.hpp"
#include "wire/flv/flv_file.hpp"

namespace live::bench {
namespace {

using engine::websocket::masked_control_frame;
using engine::websocket::Opcode;
using wire::flv::TagType;

// Reads tags, from WebSocket frames when the response was a WebSocket's.
class Viewer final : public BodySink {
public:
    Viewer(LoadClient& client, std::string accept) : client_(client), accept_(std::move(accept)) {}

    Result<void> on_head(const engine::http1::Response& answer) override {
        if (accept_.empty())
            return begin();
        if (answer.status != 101)
            return Error(Errc::denied, "the server does not accept the WebSocket: status " + std::to_string(answer.status));
        if (answer.headers.find("Sec-WebSocket-Accept") != accept_)
            return Error(Errc::malformed, "the server's Sec-WebSocket-Accept does not match the key");
        return begin();
    }
    bool needs_body() const override { return client_.looks(); }

    Result<void> on_body(TimePoint now, Bytes piece) override {
        if (accept_.empty())
            return on_flv(now, piece);
        while (!piece.empty()) {
            piece = piece.subspan(TRY(frames_.feed(piece)));
            const auto message = frames_.next();
            if (!message)
                continue;
            if (message->kind == Opcode::binary)
                TRY(on_flv(now, as_bytes(message->payload)));
            else if (message->kind == Opcode::ping)
                output_ = masked_control_frame(Opcode::pong, as_bytes(message->payload), kMask);
            else if (message->kind == Opcode::close)
                return Error(Errc::closed, "the server has closed the WebSocket");
        }
        return {};
    }

    std::vector<std::uint8_t> take_output() override { return std::exchange(output_, {}); }

private:
    // Masks protect proxies from hostile pages; any value is fine here.
    static constexpr std::uint32_t kMask = 0x5A17C3E9;
    static constexpr std::size_t kMessageBytesMax = std::size_t{32} << 20;
    // The headers of a tag and its delay stamp.
    static constexpr std::size_t kKeptBytes = 64;

    Result<void> begin() {
        client_.on_open();
        if (!client_.looks())
            client_.meter.on_first_frame(io::now());
        return {};
    }

    Result<void> on_flv(TimePoint now, Bytes bytes) {
        while (!bytes.empty()) {
            bytes = bytes.subspan(TRY(tags_.feed(bytes)));
            const auto tag = tags_.next();
            if (!tag)
                continue;
            const Bytes head = tag->body.bytes();
            client_.on_payload(tag->header.type, tag->header.timestamp_ms, tag->header.size);
            if (tag->header.type == TagType::script) {
                if (const auto sent = find_data_stamp(head))
                    client_.on_stamp(*sent);
                continue;
            }
            if (!carries_frames(tag->header.type, head))
                continue;
            client_.on_media(now, tag->header.timestamp_ms);
            if (const auto sent = tag->header.type == TagType::video ? find_video_stamp(head) : std::nullopt)
                client_.on_stamp(*sent);
        }
        return {};
    }

    LoadClient& client_;
    std::string accept_;  // empty: no WebSocket
    engine::websocket::FrameReader frames_{
        {.message_bytes = kMessageBytesMax, .sender = engine::websocket::FrameReader::Sender::server}};
    wire::flv::FlvReader tags_{{.tag_bytes = SIZE_MAX, .kept_bytes = kKeptBytes}};
    std::vector<std::uint8_t> output_;
};

std::string random_key(std::minstd_rand& random) {
    std::array<std::uint8_t, 16> bytes;
    for (std::uint8_t& byte : bytes)
        byte = static_cast<std::uint8_t>(random());
    return base64(bytes);
}

}  // namespace

Result<void> FlvLoad::run(LoadClient& client, io::Deadline deadline) {
    const bool is_websocket = client.url.starts_with("ws://") || client.url.starts_with("wss://");
    engine::http1::Headers headers;
    std::string accept;
    std::string url = client.url;
    if (is_websocket) {
        const std::string key = random_key(client.context.random);
        accept = TRY(engine::websocket::accept_key(key));
        headers.add("Upgrade", "websocket");
        headers.add("Sec-WebSocket-Version", std::string(engine::websocket::kVersion));
        headers.add("Sec-WebSocket-Key", key);
        url.replace(0, 2, "http");
    }
    const auto viewer = std::make_unique<Viewer>(client, accept);
    const auto fetch = std::make_unique<HttpFetch>(client);
    return fetch->get(url, headers, *viewer, deadline);
}

}  // namespace live::bench
