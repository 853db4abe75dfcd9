#include "bench/rtsp/rtsp_load.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <variant>

#include "bench/load/discard.hpp"
#include "io/fibers/loop.hpp"
#include "io/net/udp_socket.hpp"
#include "wire/rtmp/stream_url.hpp"
#include "wire/rtp/packet.hpp"
#include "wire/rtsp/description.hpp"
#include "wire/rtsp/message_reader.hpp"
#include "wire/rtsp/transport.hpp"

namespace live::bench {
namespace {

using wire::rtsp::InterleavedFrame;
using wire::rtsp::Message;

constexpr std::uint16_t kRtspPort = 554;
constexpr std::uint16_t kRtspsPort = 322;
constexpr std::size_t kUdpBufferBytes = 1U << 20;
constexpr std::uint32_t kVideoTicksPerMs = 90;

Result<Place> place_of(std::string_view url) {
    const auto parsed = TRY(wire::rtmp::parse_stream_url(url));
    if (parsed.schema != "rtsp" && parsed.schema != "rtsps")
        return Error(Errc::malformed, fmt::format("\"{}\" is not an rtsp:// or rtsps:// URL", url));
    const bool is_secure = parsed.schema == "rtsps";
    return Place{parsed.host, parsed.port != 0 ? parsed.port : is_secure ? kRtspsPort : kRtspPort, is_secure};
}

// Follows one playing.
class RtspViewer final : private DrainMember {
public:
    explicit RtspViewer(LoadClient& client) : client_(client) {}
    ~RtspViewer() {
        if (udp_ != nullptr && is_drained_)
            client_.context.drain.leave(udp_->native_handle());
    }
    RtspViewer(const RtspViewer&) = delete;
    RtspViewer& operator=(const RtspViewer&) = delete;

    Result<void> run(io::Deadline deadline) {
        TRY(open(deadline.sooner(io::Deadline::after(LoadTask::kStartLimit))));
        io::trim_stack();
        client_.on_open();
        if (udp_ != nullptr)
            return client_.looks() ? follow_udp(deadline) : discard_udp(deadline);
        if (client_.looks())
            return follow(deadline);
        client_.meter.on_first_frame(io::now());
        Discard discard(client_, *stream_);
        return discard.take(UINT64_MAX, deadline);
    }

private:
    Result<void> open(io::Deadline deadline) {
        stream_ = TRY(client_.context.dialer.dial(TRY(place_of(client_.url)), deadline));
        client_.meter.on_connected(io::now());
        const Message described = TRY(request("DESCRIBE", client_.url, {{"Accept", "application/sdp"}}, deadline));
        const auto description = TRY(wire::rtsp::parse_description(described.body));
        const std::string base(described.find("Content-Base").value_or(client_.url + "/"));
        if (client_.context.options.udp)
            TRY(open_udp());
        for (std::size_t i = 0; i < description.media.size(); ++i) {
            const wire::rtsp::Media& media = description.media[i];
            const Message answer = TRY(request("SETUP", base + media.control, {{"Transport", transport_of(i)}}, deadline));
            const std::string_view id = answer.find("Session").value_or("");
            session_ = id.substr(0, id.find(';'));
            if (media.kind == MediaKind::video)
                note_video(media, answer);
        }
        TRY(request("PLAY", client_.url, {}, deadline));
        return {};
    }

    // The packets of images are found by their channel or payload type.
    void note_video(const wire::rtsp::Media& media, const Message& answer) {
        video_type_ = media.payload_type;
        const auto transports = wire::rtsp::parse_transports(answer.find("Transport").value_or(""));
        if (transports.ok() && !transports->empty() && transports->front().interleaved)
            video_channel_ = static_cast<std::uint8_t>(transports->front().interleaved->rtp);
    }

    std::string transport_of(std::size_t track) const {
        if (udp_ != nullptr)
            return fmt::format("RTP/AVP;unicast;client_port={0}-{0}", udp_->endpoint().port);
        return fmt::format("RTP/AVP/TCP;unicast;interleaved={}-{}", 2 * track, 2 * track + 1);
    }

    Result<void> open_udp() {
        udp_ = TRY(io::UdpSocket::bind({"0.0.0.0", 0}, kUdpBufferBytes));
        return {};
    }

    Result<void> send(std::string_view method, std::string_view url, std::vector<std::pair<std::string, std::string>> headers,
                      io::Deadline deadline) {
        headers.insert(headers.begin(), {"CSeq", std::to_string(++sequence_)});
        if (!session_.empty())
            headers.emplace_back("Session", session_);
        const std::string text =
            wire::rtsp::write({.method = std::string(method), .url = std::string(url), .headers = std::move(headers)});
        const std::array parts{io::as_part(as_bytes(text))};
        TRY(stream_->write_all(parts, deadline));
        client_.count_out(text.size());
        return {};
    }

    Result<Message> request(std::string_view method, std::string_view url,
                            std::vector<std::pair<std::string, std::string>> headers, io::Deadline deadline) {
        TRY(send(method, url, std::move(headers), deadline));
        for (;;) {
            auto item = TRY(reader_.next());
            if (!item) {
                reader_.feed(client_.scratch().first(TRY(read_stream(deadline))));
                continue;
            }
            if (!std::holds_alternative<Message>(*item))
                continue;
            Message answer = std::get<Message>(*std::move(item));
            if (answer.status != wire::rtsp::status::kOk)
                return Error(Errc::denied, fmt::format("{}: the server answers {} {}", method, answer.status, answer.reason));
            return answer;
        }
    }

    Result<std::size_t> read_stream(io::Deadline deadline) {
        const std::size_t count = TRY(stream_->read_some(client_.scratch(), deadline));
        client_.count_in(count);
        return count;
    }

    Result<void> follow(io::Deadline deadline) {
        for (;;) {
            const TimePoint now = io::now();
            while (auto item = TRY(reader_.next()))
                if (const auto* frame = std::get_if<InterleavedFrame>(&*item); frame != nullptr && frame->channel % 2 == 0)
                    on_packet(now, frame->payload, frame->channel == video_channel_);
            const auto limit = deadline.sooner(io::Deadline::after(LoadTask::kIdleLimit));
            reader_.feed(client_.scratch().first(TRY(read_stream(limit))));
        }
    }

    // An image is there with its last packet.
    void on_packet(TimePoint now, Bytes bytes, bool is_video) {
        const auto packet = wire::rtp::parse_packet(bytes, bytes.size());
        if (!packet.ok())
            return;
        const std::uint32_t time_ms = packet->timestamp / kVideoTicksPerMs;
        client_.on_payload(is_video ? wire::flv::TagType::video : wire::flv::TagType::audio, is_video ? time_ms : 0,
                           packet->payload.size());
        if (is_video && packet->marker)
            client_.on_media(now, time_ms);
    }

    Result<void> follow_udp(io::Deadline deadline) {
        TimePoint alive_at = io::now() + RtspLoad::kKeepAlive;
        for (;;) {
            const auto datagrams = udp_->receive(deadline.sooner(io::Deadline::at(alive_at)));
            const TimePoint now = io::now();
            if (!datagrams.ok() && datagrams.code() != Errc::timed_out)
                return datagrams.error();
            for (std::size_t i = 0; datagrams.ok() && i < datagrams->size(); ++i) {
                const Bytes bytes = (*datagrams)[i].bytes;
                client_.count_in(bytes.size());
                if (wire::rtp::looks_like_rtp(bytes) && !wire::rtp::looks_like_rtcp(bytes))
                    on_packet(now, bytes, (bytes[1] & 0x7FU) == video_type_);
            }
            if (now >= alive_at) {
                alive_at = now + RtspLoad::kKeepAlive;
                TRY(request("OPTIONS", client_.url, {}, deadline.sooner(io::Deadline::after(LoadTask::kIdleLimit))));
            }
        }
    }

    Result<void> discard_udp(io::Deadline deadline) {
        client_.meter.on_first_frame(io::now());
        is_drained_ = true;
        TRY(client_.context.drain.join(udp_->native_handle(), *this, SocketDrain::Kind::datagrams));
        for (std::uint64_t before = received_;; before = received_) {
            const auto slept = io::sleep(deadline.sooner(io::Deadline::after(RtspLoad::kKeepAlive)));
            if (!slept.ok())
                return slept.error();
            if (received_ == before)
                return Error(Errc::timed_out, "no datagrams");
            TRY(request("OPTIONS", client_.url, {}, deadline.sooner(io::Deadline::after(LoadTask::kIdleLimit))));
        }
    }

    void on_bytes(std::size_t count) override {
        client_.count_in(count);
        received_ += count;
    }
    void on_end(int) override {}

    LoadClient& client_;
    std::unique_ptr<io::Stream> stream_;
    std::unique_ptr<io::UdpSocket> udp_;  // nullptr: over the connection
    wire::rtsp::MessageReader reader_;
    std::string session_;
    int sequence_ = 0;
    std::uint8_t video_channel_ = 0;
    std::uint8_t video_type_ = 0;
    std::uint64_t received_ = 0;  // over UDP
    bool is_drained_ = false;
};

}  // namespace

Result<void> RtspLoad::run(LoadClient& client, io::Deadline deadline) {
    // Not on the fiber's stack, whose pages a player keeps.
    return std::make_unique<RtspViewer>(client)->run(deadline);
}

}  // namespace live::bench
