#include "service/forward/push_session.hpp"

#include <array>
#include <utility>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/net/host_and_port.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/pause.hpp"
#include "media/ring/tag_packet.hpp"

namespace live::service::forward {

namespace rtmp = engine::rtmp;

namespace {

// Another publisher has the stream. It may be an earlier connection of this server.
constexpr std::string_view kTaken = "NetStream.Publish.BadName";

rtmp::ClientOptions client_options(const Destination& destination) {
    rtmp::ClientOptions options;
    options.mode = rtmp::ClientOptions::Mode::publish;
    options.tc_url = destination.tc_url;
    options.app = destination.app;
    options.stream = destination.stream;
    options.connect_arguments = destination.connect_arguments;
    options.can_reconnect = true;
    return options;
}

wire::rtmp::MessageType type_of(MediaKind kind) {
    switch (kind) {
        case MediaKind::audio: return wire::rtmp::MessageType::audio;
        case MediaKind::video: return wire::rtmp::MessageType::video;
        case MediaKind::data: break;
    }
    return wire::rtmp::MessageType::amf0_data;
}

// The source stores metadata in the form for players. From a publisher, a server expects the name of the call before it.
std::vector<std::uint8_t> with_set_data_frame(Bytes metadata) {
    constexpr std::string_view kCall = "@setDataFrame";
    constexpr std::uint8_t kAmf0String = 2;
    ByteWriter out;
    out.u8(kAmf0String).u16be(kCall.size()).text(kCall).bytes(metadata);
    return out.release();
}

}  // namespace

PushSession::PushSession(const Destination& destination, const ForwardContext& context, const Log& log, PushProgress* progress)
    : destination_(destination),
      context_(context),
      log_(log),
      progress_(progress),
      engine_(client_options(destination), random_number()) {}

Result<void> PushSession::open(io::Deadline deadline) {
    stream_ = TRY(rtmp_client::dial({destination_.host, destination_.port, destination_.is_secure, {}, destination_.sent_by},
                                    context_.dial, deadline));
    TRY(start(deadline.sooner(io::Deadline::after(context_.start_limit))));
    opened_at_ = io::now();
    if (progress_ != nullptr && !progress_->is_sending) {
        progress_->is_sending = true;
        progress_->since = opened_at_;
    }
    return {};
}

Result<void> PushSession::run(Ref<media::Source> source, media::Cursor::Start start, media::Cursor::Audience audience,
                              io::Deadline deadline) {
    if (!cursor_) {
        const auto tracks = engine_.knows_tracks() ? media::Cursor::Tracks::all : media::Cursor::Tracks::defaults;
        cursor_.emplace(std::move(source), media::WakeMode::at_once, start, tracks, audience);
        reported_at_ = io::now();
        LOG_INFO(log_, "FWR publishing to {}, peer={}", destination_.label, stream_->peer());
    }
    auto ended = relay(*cursor_, deadline);
    if (ended.ok())
        return ended;
    if (ended.code() == Errc::cancelled)
        say_goodbye();
    report(*cursor_, io::now());
    stream_->close();
    return ended;
}

std::string PushSession::take_reconnect_url() {
    std::string url = reconnect_url_.value_or("");
    reconnect_url_.reset();
    return url;
}

std::string PushSession::peer_ip() const {
    const auto peer =
        stream_ == nullptr ? Result<HostAndPort>(Error(Errc::closed, "no connection")) : parse_host(stream_->peer());
    return peer.ok() ? peer->host : "an unknown server";
}

void PushSession::catch_up(io::Deadline deadline) {
    while (cursor_)
        if (const auto more = send_batch(*cursor_, deadline); !more.ok() || !*more)
            return;
}

void PushSession::end() {
    say_goodbye();
    if (cursor_)
        report(*cursor_, io::now());
    stream_->close();
}

Result<void> PushSession::start(io::Deadline deadline) {
    TRY(engine_.start(io::now()));
    for (;;) {
        TRY(write_output(deadline));
        if (engine_.is_started())
            return {};
        const std::size_t count = TRY(stream_->read_some(context_.dial.scratch, deadline));
        TRY(engine_.handle_bytes(io::now(), context_.dial.scratch.first(count)));
        TRY(handle_events());
    }
}

Result<void> PushSession::relay(media::Cursor& cursor, io::Deadline deadline) {
    for (;;) {
        const bool more = TRY(send_batch(cursor, deadline));
        TRY(read_available());
        TRY(look_for_answer(deadline));
        const auto reconnect_at = reconnect_url_ ? io::Deadline::at(opened_at_ + kReconnectAfter) : io::Deadline::never();
        if (reconnect_at.expired())
            return {};
        if (const auto now = io::now(); now - reported_at_ >= context_.report_interval)
            report(cursor, now);
        if (more) {
            TRY(io::yield(deadline));
            continue;
        }
        const auto next_report = io::Deadline::at(reported_at_ + context_.report_interval);
        TRY(stream_->wait_ready(io::Interest::readable, &cursor.readable(),
                                deadline.sooner(next_report).sooner(reconnect_at).sooner(next_ping())));
        if (deadline.expired())
            return Error(Errc::timed_out, "the time limit of the push has ended");
    }
}

Result<bool> PushSession::send_batch(media::Cursor& cursor, io::Deadline deadline) {
    std::vector<std::uint8_t> output;
    bool more = false;
    // The engine copies each payload, so the write holds no packet of the source while it waits.
    while (auto packet = cursor.take()) {
        add(*packet);
        engine_.take_output(output);
        if (output.size() >= kBatchBytes) {
            more = true;
            break;
        }
    }
    engine_.take_output(output);
    if (!output.empty()) {
        TRY(write(output, write_deadline(deadline)));
        sent_.bytes += output.size();
        if (progress_ != nullptr)
            progress_->sent_bytes += output.size();
    }
    return more;
}

void PushSession::add(const media::Packet& packet) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(packet.dts).count();
    // RTMP timestamps wrap at 32 bits.
    const auto stamp = static_cast<std::uint32_t>(ms);
    ++sent_.packets;
    if (packet.kind == MediaKind::data && packet.is_config())
        engine_.send_media(type_of(packet.kind), stamp, with_set_data_frame(packet.payload.bytes()));
    else
        engine_.send_media(type_of(packet.kind), stamp, packet.payload.bytes(), media::body_header_of(packet).view());
}

Result<void> PushSession::read_available() {
    // One read per round is enough: a server rarely sends bytes to a publisher.
    const auto count = stream_->try_read(context_.dial.scratch);
    if (!count.ok())
        return count.code() == Errc::need_more ? Result<void>() : Result<void>(count.error());
    TRY(engine_.handle_bytes(io::now(), context_.dial.scratch.first(*count)));
    return handle_events();
}

// TCP accepts bytes for a stopped machine until its queue is full, which may be a minute of media. A congested link delays
// answers, but they still arrive one after the other.
Result<void> PushSession::look_for_answer(io::Deadline deadline) {
    if (context_.silence_limit.count() == 0)
        return {};
    const TimePoint now = io::now();
    if (std::exchange(answers_, engine_.ping_answers()) != engine_.ping_answers())
        answered_at_ = now;
    const Duration silence = now - io::silence_from(answered_at_);
    if (answers_ > 0 && silence >= context_.silence_limit)
        return Error(Errc::timed_out, fmt::format("no answer for {} ms", silence / std::chrono::milliseconds(1)));
    if (!next_ping().expired())
        return {};
    pinged_at_ = now;
    engine_.ping(static_cast<std::uint32_t>((now - opened_at_) / std::chrono::milliseconds(1)));
    return write_output(write_deadline(deadline));
}

io::Deadline PushSession::next_ping() const {
    return context_.silence_limit.count() == 0 ? io::Deadline::never() : io::Deadline::at(pinged_at_ + kPingInterval);
}

io::Deadline PushSession::write_deadline(io::Deadline deadline) const {
    const Duration limit = answers_ > 0 ? 2 * Duration(context_.silence_limit) : Duration(kWriteLimit);
    return deadline.sooner(io::Deadline::after(limit));
}

Result<void> PushSession::handle_events() {
    while (auto event = engine_.poll_event()) {
        if (const auto* rejected = std::get_if<rtmp::Rejected>(&*event))
            return Error(rejected->code == kTaken ? Errc::conflict : Errc::limit,
                         fmt::format("the destination says {}: {}", rejected->code, rejected->description));
        if (const auto* over = std::get_if<rtmp::StreamEnded>(&*event))
            return Error(Errc::closed, fmt::format("the destination ended the stream: {}", over->code));
        if (auto* asked = std::get_if<rtmp::ReconnectRequested>(&*event)) {
            LOG_INFO(log_, "FWR {} requests a new connection: {}", destination_.label, asked->description);
            reconnect_url_ = std::move(asked->tc_url);
        }
        if (const auto* warning = std::get_if<rtmp::PeerWarning>(&*event))
            LOG_WARN(log_, "FWR {}: {}", destination_.label, warning->sentence);
    }
    return {};
}

Result<void> PushSession::write_output(io::Deadline deadline) {
    std::vector<std::uint8_t> output;
    engine_.take_output(output);
    if (output.empty())
        return {};
    return write(output, deadline);
}

Result<void> PushSession::write(Bytes output, io::Deadline deadline) {
    const std::array parts{io::as_part(output)};
    is_message_cut_ = true;
    TRY(stream_->write_all(parts, deadline));
    is_message_cut_ = false;
    return {};
}

// The stream has ended here: notify the destination by RTMP before the socket closes.
void PushSession::say_goodbye() {
    if (is_message_cut_)
        return;
    const io::CancelShield shield;
    engine_.stop();
    static_cast<void>(write_output(io::Deadline::after(kGoodbyeLimit)));
}

void PushSession::report(const media::Cursor& cursor, TimePoint now) {
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(now - reported_at_).count();
    const std::uint64_t kbps = passed > 0 ? (sent_.bytes - reported_.bytes) * 8 / static_cast<std::uint64_t>(passed) : 0;
    LOG_INFO(log_, "-> FWR time={}, msgs={}, okbps={}, dropped={}, to={}", passed, sent_.packets - reported_.packets, kbps,
             cursor.dropped() - reported_dropped_, destination_.label);
    reported_ = sent_;
    reported_at_ = now;
    reported_dropped_ = cursor.dropped();
}

}  // namespace live::service::forward
