#include "session/http_live/play_session.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/log/log_format.hpp"
#include "base/text/secret.hpp"
#include "engine/websocket/frame_writer.hpp"
#include "engine/websocket/handshake.hpp"
#include "io/fibers/loop.hpp"
#include "io/tls/tls_stream.hpp"
#include "media/source/wire_log_hold.hpp"
#include "session/common/join.hpp"
#include "session/http/redirect.hpp"
#include "session/http/status_for.hpp"
#include "wire/http/status.hpp"

namespace live::session::http_live {

namespace websocket = engine::websocket;

namespace {

using wire::http::Status;

// Raises a signal for each published batch while it lives, and keeps what arrives: the first batch may be seconds of media. A
// player that waits for a stream to begin, or for its audio, is not urgent: the publisher stays on its tick.
class PacketWatch final : public media::PacketReader {
public:
    PacketWatch(media::Source& source, Signal& signal)
        : source_(source),
          signal_(signal),
          start_(source.is_published() ? source.retention().join_point() : source.ring().next()) {
        source_.readers().add(*this, media::WakeMode::batched);
    }
    ~PacketWatch() { source_.readers().remove(*this); }
    PacketWatch(const PacketWatch&) = delete;
    PacketWatch& operator=(const PacketWatch&) = delete;

    void on_packets() override { signal_.raise(); }
    media::Sequence sequence() const override { return start_; }
    void jump(media::Sequence to) override { start_ = to; }
    // The first packet since the start; sequence headers come first anyway.
    media::Sequence first_of_media() const {
        media::Sequence first = start_;
        while (first < source_.ring().next() && source_.ring().at(first).is_config())
            ++first;
        return first;
    }

private:
    media::Source& source_;
    Signal& signal_;
    media::Sequence start_;
};

}  // namespace

http::Head head_of(const Mount& mount) {
    http::Head head;
    head.content_type = mount.format().content_type;
    head.is_last = true;
    return head;
}

PlaySession::PlaySession(http::Exchange& exchange, Context& context, ClientRequest request, MountedUrl url)
    : exchange_(exchange),
      context_(context),
      request_(std::move(request)),
      url_(std::move(url)),
      entry_(context.clients, *this) {}

Result<void> PlaySession::run(io::Deadline deadline) {
    if (const auto admitted = admit(deadline); !admitted.ok())
        return refuse(admitted.error(), deadline);
    else if (!*admitted)
        return {};
    const AdmittedPlay admitted(context_.events, request_, plan_);
    if (const auto found = find_source(); !found.ok())
        return refuse(found.error(), deadline);
    StreamStay stay(entry_, plan_, io::now());
    auto ended = stream(deadline);
    if (kick_reason_ != nullptr && !kick_reason_->empty())
        ended = Error(Errc::closed, *kick_reason_);
    stay.end(ended);
    return ended;
}

// The stack of a parked fiber should fit into one page, so one-time steps have their own frames: these two and prepare().
[[gnu::noinline]] Result<bool> PlaySession::admit(io::Deadline deadline) {
    auto served = context_.admission.serve_play(request_, deadline);
    LOG_INFO(exchange_.log(), "client identified, type={}, vhost={}, app={}, stream={}, param={}", name_of(request_.kind),
             request_.vhost, request_.app, request_.stream, redacted(request_.param));
    if (!served.ok())
        return served.error();
    if (const auto* elsewhere = std::get_if<Redirect>(&*served)) {
        TRY(exchange_.send(http::redirect_reply(exchange_.request(), elsewhere->http, request_.vhost, elsewhere->mark),
                           deadline));
        return false;
    }
    plan_ = std::get<StreamPlan>(*std::move(served));
    return true;
}

[[gnu::noinline]] Result<void> PlaySession::find_source() {
    source_ = TRY(context_.streams.find_or_create(plan_.url, plan_.play, plan_.chunk_size));
    source_->set_options(plan_.play);
    return {};
}

Result<void> PlaySession::refuse(const Error& error, io::Deadline deadline) {
    entry_.refuse(error);
    return exchange_.send(http::refusal_of(error), deadline);
}

Result<void> PlaySession::stream(io::Deadline deadline) {
    TRY(send_head(deadline));
    TRY(prepare(gets_sync_ ? Start{{MediaKindSet::all(), MediaKindSet::all()}, relay_start(request_, *source_)}
                           : TRY(wait_for_media(deadline)),
                deadline));
    return play(deadline);
}

ClientFigures PlaySession::figures() const { return player_ ? player_->figures() : ClientFigures(); }

void PlaySession::kick(std::string reason) {
    LOG_INFO(exchange_.log(), "client finished. reason=\"{}\"", reason);
    kick_reason_ = std::make_unique<std::string>(std::move(reason));
    exchange_.stream().close();
}

bool PlaySession::requests_sync() const {
    return request_.is_relay() && url_.mount.format().container == media::Container::flv &&
           exchange_.request().message.headers.find(kRelaySyncField).has_value();
}

Result<void> PlaySession::send_head(io::Deadline deadline) {
    if (websocket::asks_for_websocket(exchange_.request().message))
        return accept_websocket(deadline);
    http::Head head = head_of(url_.mount);
    gets_sync_ = requests_sync();
    if (gets_sync_)
        head.headers.emplace_back(kRelaySyncField, "1");
    TRY(send_head_ahead(exchange_.head_text(head), deadline));
    framing_ = exchange_.body_end() == http::BodyEnd::chunks ? media::Framing::http_chunk : media::Framing::none;
    return {};
}

// Over TLS it goes out with the first media, or before the wait for it.
Result<void> PlaySession::send_head_ahead(const std::string& text, io::Deadline deadline) {
    exchange_.traffic().sent_bytes += text.size();
    const auto limit = deadline.sooner(io::Deadline::after(http::Exchange::kSendLimit));
    if (io::TlsStream* const tls = exchange_.stream().as_tls())
        return tls->write_ahead(as_bytes(text), limit);
    return exchange_.stream().write_all(std::array{io::as_part(as_bytes(text))}, limit);
}

Result<void> PlaySession::accept_websocket(io::Deadline deadline) {
    auto accept = websocket::accept_value(exchange_.request().message);
    if (!accept.ok()) {
        const int status = accept.code() == Errc::unsupported ? Status::upgrade_required : Status::bad_request;
        auto reply = http::error_reply(status, accept.error().sentence());
        if (status == Status::upgrade_required) {
            reply.headers.emplace_back("Upgrade", "websocket");  // RFC 9110, 15.5.22
            reply.headers.emplace_back("Sec-WebSocket-Version", websocket::kVersion);
        }
        exchange_.make_last();
        TRY(exchange_.send(reply, deadline));
        return Error(std::move(accept).error());
    }
    http::Head head;
    head.status = Status::switching_protocols;
    head.end = http::BodyEnd::none;
    head.headers = websocket::answer_fields(*std::move(accept));
    TRY(exchange_.send_head(head, deadline));
    framing_ = media::Framing::websocket;
    frames_ = std::make_unique<websocket::FrameReader>();
    return receive(exchange_.take_rest());
}

// The player may arrive before the publisher.
Result<PlaySession::Start> PlaySession::wait_for_media(io::Deadline deadline) {
    std::optional<PacketWatch> watch;
    Signal published;
    for (;;) {
        const TimePoint now = io::now();
        if (source_->is_published())
            if (const auto tracks = decide_tracks(*source_, url_.mount.format().container, url_.options, now))
                return Start{*tracks, watch ? std::optional(watch->first_of_media()) : std::nullopt};
        if (!watch)
            watch.emplace(*source_, published);
        io::trim_stack();
        const auto sure = source_->is_published() ? sure_at(*source_) : std::nullopt;
        const auto limit = sure && *sure > now ? deadline.sooner(io::Deadline::at(*sure)) : deadline;
        const auto ready = TRY(exchange_.stream().wait_ready(io::Interest::readable, &published, limit));
        if (ready.readable)
            TRY(on_readable());
    }
}

media::WireFormat PlaySession::format_for(const Tracks& tracks) const {
    return {url_.mount.format().container,
            framing_,
            tracks.sent,
            gets_sync_ ? media::TrackSelection::every : media::TrackSelection::defaults,
            gets_sync_ ? media::Receiver::node : media::Receiver::player,
            {}};
}

[[gnu::noinline]] Result<void> PlaySession::prepare(const Start& start, io::Deadline deadline) {
    const Tracks& tracks = start.tracks;
    const LiveFormat& live = url_.mount.format();
    const media::WireFormat format = format_for(tracks);
    TRY(check_codec(*source_, format.container));
    media::WireLogHold hold(source_, format);
    TRY(catch_up(hold, deadline));
    std::vector<std::uint8_t> file_head;
    if (live.file_head != nullptr)
        file_head = live.file_head(framing_, tracks.announced);
    std::optional<media::Sequence> from = start.from;
    if (from)
        from = std::max(*from, source_->ring().first());  // it may have been dropped meanwhile
    if (live.audio)
        from = source_->ring().find_time(source_->timeline().newest() - url_.options.fast_cache);
    LOG_INFO(exchange_.log(), "start play mw_sleep={}, mw_msgs={}, has_audio={}, has_video={}, guess_has_av={}",
             plan_.play.mw_latency.count(), plan_.play.mw_msgs, tracks.announced.has(MediaKind::audio) ? 1 : 0,
             tracks.announced.has(MediaKind::video) ? 1 : 0, url_.options.guess_has_av ? 1 : 0);
    cursor_.emplace(source_, format, std::move(file_head), from);
    PlayerProtocol& protocol = *this;
    player_.emplace(exchange_.stream(), *cursor_, context_.fan_out, plan_.play, protocol, exchange_.traffic().sent_bytes,
                    exchange_.log());
    if (request_.is_relay())
        player_->set_window(plan_.play.relay_mw_latency);
    return {};
}

Result<void> PlaySession::play(io::Deadline deadline) {
    end_watch_.emplace(source_, player_->wake());
    TRY(player_->run(deadline));
    if (goodbye_)
        return *goodbye_;
    LOG_INFO(exchange_.log(), "the stream {} has ended", source_->url());
    TRY(finish(deadline.sooner(io::Deadline::after(Player::kDrainLimit))));
    return Error(Errc::closed, "the stream has ended");  // ends the connection too
}

// The stream is over only after its last frame, which may not have been encoded yet.
bool PlaySession::is_over() {
    return goodbye_ ||
           !(gets_sync_ || source_->is_published() || source_->publications().may_return() || !source_->backlog().empty());
}

// A relay stays connected: the stream may continue.
Result<void> PlaySession::on_caught_up() {
    if (!gets_sync_ || !end_watch_->take_ended())
        return {};
    media::Packet packet;
    packet.payload = media::write_sync_message({std::string(media::kRelayEnd), {}, {}});
    std::vector<std::uint8_t> tag;
    cursor_->wire_log().encoder().append_own_message(packet, 0, tag);
    return player_->answer(tag);
}

Result<void> PlaySession::finish(io::Deadline deadline) {
    if (framing_ != media::Framing::websocket)
        return exchange_.finish_chunks(deadline);
    const auto frame = websocket::close_frame(websocket::CloseCode::normal, "the stream has ended");
    const std::array parts{io::as_part(frame)};
    return exchange_.stream().write_all(parts, deadline);
}

// A WebSocket client may send ping and close; everything else is ignored.
Result<void> PlaySession::receive(Bytes input) {
    while (frames_ != nullptr && !goodbye_ && !input.empty()) {
        const auto used = frames_->feed(input);
        if (!used.ok())
            return say_goodbye(websocket::close_frame(frames_->close_code()), used.error());
        input = input.subspan(*used);
        const auto message = frames_->next();
        if (!message)
            continue;
        const auto reply = websocket::answer_to(*message);
        if (message->kind == websocket::Opcode::close)
            return say_goodbye(*reply, Error(Errc::closed, "the client closed the WebSocket"));
        if (reply)
            TRY(answer(*reply));
    }
    return {};
}

// RFC 6455, 5.5.1: no frame follows a close. The current message is completed, then the close goes out, and then the player is
// over.
Result<void> PlaySession::say_goodbye(Bytes bytes, Error why) {
    if (!player_) {
        TRY(answer(bytes));
        return why;
    }
    player_->set_paused(true);
    TRY(player_->answer(bytes));
    goodbye_ = std::make_unique<Error>(std::move(why));
    return {};
}

Result<void> PlaySession::answer(Bytes bytes) {
    if (player_)
        return player_->answer(bytes);
    // No other bytes are being sent now.
    const std::array parts{io::as_part(bytes)};
    if (TRY(exchange_.stream().try_write(parts)) < bytes.size())
        return Error(Errc::limit, "the client does not read the answers to its requests");
    return {};
}

// Over HTTP, anything a player sends after its request is ignored, except the end of input.
Result<PlayerProtocol::Step> PlaySession::on_readable() {
    const auto count = exchange_.stream().try_read(exchange_.scratch());
    if (!count.ok() && count.code() != Errc::need_more)
        return Error(count.error());
    if (count.ok()) {
        exchange_.traffic().received_bytes += *count;
        TRY(receive(exchange_.scratch().first(*count)));
    }
    return Step::go_on;
}

}  // namespace live::session::http_live
