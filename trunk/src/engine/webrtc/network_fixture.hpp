// For tests: two ends of a session over an in-memory network that drops, duplicates, reorders and limits the rate, driven by a
// seed and a simulated clock. The server is a PublishSession or a PlaySession, the client a ClientSession of the other kind.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/dtls/simulated_clock_fixture.hpp"
#include "engine/webrtc/client_session.hpp"
#include "engine/webrtc/play_session.hpp"
#include "engine/webrtc/publish_session.hpp"

namespace live::engine::webrtc {

using Octets = std::vector<std::uint8_t>;

struct NetworkOptions {
    unsigned seed = 0;
    double loss = 0;     // each way
    double doubled = 0;  // of packets not lost
    std::chrono::milliseconds delay_min{10};
    std::chrono::milliseconds delay_max{10};  // above the minimum: reordering
    double bits_per_second = 0;               // to the client; 0: unlimited
    std::chrono::milliseconds queue{300};     // the link's queue; packets beyond it are dropped
};

class Network {
public:
    struct Flying {
        bool to_server;
        TransportAddress from;
        Octets bytes;
    };
    explicit Network(NetworkOptions over) : options(over), random_(over.seed) {}

    void send(TimePoint now, bool to_server, const TransportAddress& from, Bytes datagram) {
        if (is_cut || dice() < options.loss)
            return;
        TimePoint at = now;
        if (!to_server && options.bits_per_second > 0) {
            if (free_ > now + options.queue)
                return;
            const std::chrono::duration<double> time(static_cast<double>(datagram.size()) * 8 / options.bits_per_second);
            free_ = std::max(free_, now) + std::chrono::duration_cast<Duration>(time);
            at = free_;
        }
        for (int copies = dice() < options.doubled ? 2 : 1; copies > 0; --copies) {
            const auto spread = std::chrono::duration_cast<Duration>((options.delay_max - options.delay_min) * dice());
            flying_.emplace(at + options.delay_min + spread, Flying{to_server, from, {datagram.begin(), datagram.end()}});
        }
    }
    std::optional<TimePoint> next() const { return flying_.empty() ? std::nullopt : std::optional(flying_.begin()->first); }
    std::optional<Flying> arrived(TimePoint now) {
        if (flying_.empty() || flying_.begin()->first > now)
            return std::nullopt;
        Flying first = std::move(flying_.begin()->second);
        flying_.erase(flying_.begin());
        return first;
    }

    // Drops everything in flight.
    void lose_all() { flying_.clear(); }

    NetworkOptions options;
    bool is_cut = false;

private:
    double dice() { return std::uniform_real_distribution<double>(0, 1)(random_); }

    std::mt19937 random_;
    std::multimap<TimePoint, Flying> flying_;
    TimePoint free_;
};

// The agreement of both ends, as seen by the server; `client_side` reverses it.
inline wire::sdp::Accepted accepted_audio() {
    wire::sdp::Accepted audio;
    audio.kind = MediaKind::audio;
    audio.mid = "a";
    audio.codec = {.payload_type = 111,
                   .name = "opus",
                   .clock_rate = 48'000,
                   .channels = 2,
                   .format = {},
                   .feedback = {"transport-cc", "nack"}};
    audio.transport_wide_id = 3;
    audio.mid_id = 4;
    return audio;
}
inline wire::sdp::Accepted accepted_video() {
    wire::sdp::Accepted video;
    video.index = 1;
    video.kind = MediaKind::video;
    video.mid = "v";
    video.codec = {.payload_type = 106,
                   .name = "H264",
                   .clock_rate = 90'000,
                   .format = "packetization-mode=1",
                   .feedback = {"transport-cc", "nack", "nack pli"}};
    video.rtx_payload_type = 107;
    video.transport_wide_id = 3;
    video.mid_id = 4;
    return video;
}

// A stream of packets as in an RTP log: audio every 20 ms, a frame every 40 ms, a key frame every two seconds.
class TestRtpLog {
public:
    struct Packet {
        MediaKind kind{};
        rtp::RtpLogHeader header;
        Octets payload;
    };
    std::uint64_t video_rate = 500'000;  // bits per second
    bool has_audio = true;

    // Adds the packets due up to `now`.
    void produce(TimePoint now) {
        for (; begin_ + 20ms * audio_frames_ <= now; ++audio_frames_)
            if (has_audio)
                add(MediaKind::audio, audio_frames_ * 20ms, static_cast<std::uint32_t>(audio_frames_ * 960), 160, true, false);
        for (; begin_ + 40ms * video_frames_ <= now; ++video_frames_) {
            const bool is_key = video_frames_ % 50 == 0 || std::exchange(wants_key, false);
            std::size_t rest = std::max<std::size_t>(60, video_rate / 8 / 25 * (is_key ? 3 : 1));
            for (bool is_first = true; rest > 0; is_first = false) {
                const std::size_t bytes = std::min<std::size_t>(rest, 1'100);
                rest -= bytes;
                add(MediaKind::video, video_frames_ * 40ms, static_cast<std::uint32_t>(video_frames_ * 3'600), bytes, rest == 0,
                    is_key && is_first);
            }
        }
    }
    TimePoint next() const { return std::min(begin_ + 20ms * audio_frames_, begin_ + 40ms * video_frames_); }
    void begin(TimePoint now) { begin_ = now; }

    const Packet* find(MediaKind kind, std::uint16_t sequence) const {
        for (auto it = packets.rbegin(); it != packets.rend(); ++it)
            if (it->kind == kind && it->header.sequence == sequence)
                return &*it;
        return nullptr;
    }
    // The index of a packet within its kind, read from its payload.
    static std::uint32_t index_of(Bytes payload) {
        return static_cast<std::uint32_t>(payload[2] << 24 | payload[3] << 16 | payload[4] << 8 | payload[5]);
    }

    std::vector<Packet> packets;
    bool wants_key = false;
    std::uint16_t first_sequence = 65'500;  // the numbers wrap soon

private:
    void add(MediaKind kind, std::chrono::microseconds time, std::uint32_t timestamp, std::size_t bytes, bool marker,
             bool is_key) {
        std::uint32_t& count = kind == MediaKind::audio ? audio_packets_ : video_packets_;
        Octets payload(std::max<std::size_t>(bytes, 8));
        // H.264: the first slice of an IDR frame, or of another.
        payload[0] = is_key ? 0x65 : 0x41;
        payload[1] = 0x88;
        for (unsigned i = 0; i < 4; ++i)
            payload[2 + i] = static_cast<std::uint8_t>(count >> (24 - 8 * i));
        const rtp::RtpLogHeader header{static_cast<std::uint16_t>(first_sequence + count), timestamp, marker, time};
        packets.push_back({kind, header, std::move(payload)});
        ++count;
    }

    TimePoint begin_;
    std::int64_t audio_frames_ = 0;
    std::int64_t video_frames_ = 0;
    std::uint32_t audio_packets_ = 0;
    std::uint32_t video_packets_ = 0;
};

// Passes an RTP log to a session, in order within a kind: audio at once, video as the pacer allows.
class TestPlayer {
public:
    void pump(TimePoint now, PlaySession& session, const TestRtpLog& rtp_log) {
        for (const MediaKind kind : {MediaKind::audio, MediaKind::video}) {
            std::size_t& next = kind == MediaKind::audio ? audio_ : video_;
            while (next < rtp_log.packets.size() && session.state() == Session::State::established) {
                const TestRtpLog::Packet& packet = rtp_log.packets[next];
                if (packet.kind == kind) {
                    if (!session.may_send(now, kind))
                        break;
                    session.send(now, kind, packet.header, packet.payload);
                }
                ++next;
            }
        }
        for (const auto& [kind, number] : session.take_nacks())
            if (!answers_nacks)
                continue;
            else if (const auto* const packet = rtp_log.find(kind, number.sequence); packet != nullptr)
                session.resend(now, kind, packet->header, packet->payload);
        key_requests += session.take_key_frame_request() ? 1 : 0;
    }
    // Video packets waiting for the link.
    std::size_t waiting(const TestRtpLog& rtp_log) const { return rtp_log.packets.size() - video_; }

    unsigned key_requests = 0;
    bool answers_nacks = true;

private:
    std::size_t audio_ = 0;
    std::size_t video_ = 0;
};

inline const TransportAddress kServerAddress{parse_ip("192.0.2.1").value(), 8'000};
inline const std::string kClientPassword(32, 'c');
inline const TransportAddress kClientAddress{parse_ip("198.51.100.7").value(), 40'000};

struct PairOptions {
    NetworkOptions network{};
    wire::sdp::Purpose purpose = wire::sdp::Purpose::publish;  // of the client
    wire::sdp::SetupRole server_setup = wire::sdp::SetupRole::passive;
    wire::sdp::SetupRole client_setup = wire::sdp::SetupRole::active;
    bool has_rtx = true;
    bool encrypt = true;
    bool dtls_on = true;
    ClientSession::Maker receiver{};  // the client end if it plays; empty for a PublishSession
    std::string client_print{};       // the server fingerprint given to the client; empty for the real one
    std::string server_print{};
    // The server's handshake is done in steps that take this long.
    std::optional<std::chrono::milliseconds> step_time{};
    rtp::BandwidthEstimator::Options bandwidth{.start = 1'000'000};
};

class SessionPair {
public:
    explicit SessionPair(PairOptions options)
        : network(options.network), purpose_(options.purpose), step_time_(options.step_time.value_or(0ms)) {
        dtls::simulated_clock().is_on = true;
        server_certificate_ = dtls::Certificate::make().value();
        client_certificate_ = dtls::Certificate::make().value();
        server_context_ = dtls::Context::create(*server_certificate_).value();
        client_context_ = dtls::Context::create(*client_certificate_).value();
        SessionOptions ours = common(options);
        ours.ice = {.local_ufrag = "server", .local_pwd = std::string(32, 's'), .remote_ufrag = {}};
        ours.agreement.setup = options.server_setup;
        ours.lends_handshake = options.step_time.has_value();
        ours.agreement.remote_fingerprint = {
            "sha-256", options.server_print.empty() ? client_certificate_->fingerprint().value() : options.server_print};
        if (options.purpose == wire::sdp::Purpose::publish)
            server = PublishSession::create(*server_context_, ours, from_server_, now()).value();
        else
            server = PlaySession::create(*server_context_, ours, from_server_, now()).value();
        SessionOptions theirs = common(options);
        theirs.agreement.setup = options.client_setup;
        theirs.agreement.remote_fingerprint = {
            "SHA-256", options.client_print.empty() ? server_certificate_->fingerprint().value() : options.client_print};
        ClientSession::Maker make = options.receiver ? options.receiver : ClientSession::maker_of<PublishSession>();
        if (options.purpose == wire::sdp::Purpose::publish)
            make = ClientSession::maker_of<PlaySession>();
        client = std::make_unique<ClientSession>(*client_context_,
                                                 ClientSession::Options{.ice = {.remote = kServerAddress,
                                                                                .local_ufrag = "client",
                                                                                .local_pwd = kClientPassword,
                                                                                .remote_ufrag = "server",
                                                                                .remote_pwd = std::string(32, 's')},
                                                                        .session = std::move(theirs),
                                                                        .make = std::move(make)},
                                                 from_client_, now());
    }
    ~SessionPair() { dtls::simulated_clock().is_on = false; }

    static TimePoint now() { return dtls::simulated_clock().current(); }
    bool is_established() const { return client->is_established() && server->state() == Session::State::established; }

    // Until both ends are established, one has failed, or `limit` has passed.
    bool connect(std::chrono::milliseconds limit = 29s) {
        for (const TimePoint end = now() + limit; now() < end && !is_established() && failure.empty();)
            step(end);
        return is_established();
    }
    void run(std::chrono::milliseconds time) {
        for (const TimePoint end = now() + time; now() < end;)
            step(end);
    }
    // From now on the RTP log is filled and sent by the sending end.
    void begin_media() {
        rtp_log.begin(now());
        is_sending_ = true;
    }
    // No new packets; those already queued are still sent.
    void end_media() { is_producing_ = false; }

    Session* sending() { return purpose_ == wire::sdp::Purpose::publish ? client->session() : server.get(); }
    Session* receiving() { return purpose_ == wire::sdp::Purpose::publish ? server.get() : client->session(); }
    // nullptr before it exists, or if it is of another kind.
    PlaySession* sender() { return dynamic_cast<PlaySession*>(sending()); }
    PublishSession* receiver() { return dynamic_cast<PublishSession*>(receiving()); }
    PublishSession& publisher_side() { return dynamic_cast<PublishSession&>(*server); }

    Network network;
    std::unique_ptr<Session> server;
    std::unique_ptr<ClientSession> client;
    TransportAddress client_address = kClientAddress;
    bool client_is_gone = false;
    TestRtpLog rtp_log;
    TestPlayer player;
    std::vector<rtp::MediaPacket> received;
    std::string failure;
    std::optional<Errc> failure_code;
    std::unique_ptr<dtls::HandshakeStep> lent;  // a step of the server's that is out
    std::size_t steps = 0;
    std::size_t turns = 0;  // of the simulation
    std::size_t datagrams_to_client = 0;
    std::size_t bytes_elsewhere = 0;  // sent by the server to other addresses than the client's
    void (*at_step)(SessionPair&) = nullptr;

private:
    static SessionOptions common(const PairOptions& options) {
        SessionOptions made;
        made.dtls_on = options.dtls_on;
        made.encrypt = options.encrypt;
        made.agreement.sections = {accepted_audio(), accepted_video()};
        if (!options.has_rtx)
            made.agreement.sections[1].rtx_payload_type.reset();
        made.agreement.remote_ufrag = "client";
        made.agreement.remote_pwd = kClientPassword;
        made.audio_ssrc = 0x11111111;
        made.video_ssrc = 0x22222222;
        made.video_rtx_ssrc = 0x33333333;
        made.bandwidth = options.bandwidth;
        return made;
    }
    void keep(const Result<void>& result) {
        if (result.ok() || !failure.empty())
            return;
        failure = result.error().text();
        failure_code = result.code();
    }
    void flush() {
        from_server_.for_each([this](const TransportAddress& to, Bytes datagram) {
            if (to != client_address) {
                bytes_elsewhere += datagram.size();
                return;
            }
            ++datagrams_to_client;
            network.send(now(), false, kServerAddress, datagram);
        });
        from_server_.clear();
        from_client_.for_each(
            [this](const TransportAddress&, Bytes datagram) { network.send(now(), true, client_address, datagram); });
        from_client_.clear();
    }
    void media() {
        if (is_sending_ && is_producing_)
            rtp_log.produce(now());
        if (is_sending_ && sender() != nullptr)
            player.pump(now(), *sender(), rtp_log);
        if (receiver() != nullptr)
            while (auto packet = receiver()->poll_media())
                received.push_back(std::move(*packet));
        if (at_step != nullptr)
            at_step(*this);
        flush();
    }
    // The other thread.
    void work() {
        if (lent != nullptr && now() >= lent_until_) {
            lent->run();
            keep(server->finish_step(now(), *std::exchange(lent, nullptr)));
        }
        if (lent == nullptr && (lent = server->take_step()) != nullptr) {
            lent_until_ = now() + step_time_;
            ++steps;
        }
    }
    TimePoint next(TimePoint end) {
        TimePoint next = end;
        const auto add = [&next](std::optional<TimePoint> at) {
            if (at)
                next = std::min(next, *at);
        };
        add(server->next_timeout());
        if (lent != nullptr)
            add(lent_until_);
        if (!client_is_gone)
            add(client->next_timeout());
        add(network.next());
        if (is_sending_ && is_producing_)
            add(rtp_log.next());
        if (is_sending_ && sender() != nullptr && player.waiting(rtp_log) > 0)
            add(sender()->next_send(now()));
        return next;
    }
    void step(TimePoint end) {
        ++turns;
        flush();
        // A timer that is due but does nothing must not stop the clock.
        dtls::simulated_clock().advance_to(std::max(next(end), now() + 50us));
        while (auto datagram = network.arrived(now())) {
            if (datagram->to_server) {
                keep(server->handle_datagram(now(), datagram->bytes, datagram->from));
                work();
            } else if (!client_is_gone) {
                keep(client->handle_datagram(now(), datagram->bytes, datagram->from));
            }
            media();
        }
        keep(server->handle_timeout(now()));
        work();
        if (!client_is_gone)
            keep(client->handle_timeout(now()));
        media();
    }

    wire::sdp::Purpose purpose_;
    std::chrono::milliseconds step_time_;
    TimePoint lent_until_;
    std::unique_ptr<dtls::Certificate> server_certificate_;
    std::unique_ptr<dtls::Certificate> client_certificate_;
    std::unique_ptr<dtls::Context> server_context_;
    std::unique_ptr<dtls::Context> client_context_;
    DatagramBatch from_server_;
    DatagramBatch from_client_;
    bool is_sending_ = false;
    bool is_producing_ = true;
};

}  // namespace live::engine::webrtc
