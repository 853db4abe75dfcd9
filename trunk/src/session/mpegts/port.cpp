#include "session/mpegts/port.hpp"

#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/pause.hpp"
#include "media/ingest/ts_data.hpp"
#include "session/mpegts/publish_session.hpp"

namespace live::session::mpegts {

using wire::ts::TsReader;

namespace {

constexpr std::size_t kTsPacketBytes = 188;
constexpr std::uint8_t kTsSync = 0x47;

// The first datagram of a sender must contain whole packets; its later datagrams may be cut anywhere.
bool begins_stream(Bytes bytes) {
    return bytes.size() >= kTsPacketBytes && bytes[0] == kTsSync &&
           (bytes.size() < kTsPacketBytes + 1 || bytes[kTsPacketBytes] == kTsSync);
}

}  // namespace

Port::Port(Context& context, wire::rtmp::StreamUrl url, io::Scope& sessions, const Log& log)
    : context_(context), url_(std::move(url)), sessions_(sessions), log_(log), reader_(std::make_unique<TsReader>()) {}

Port::~Port() = default;

Result<void> Port::listen(const ListenAddress& address) {
    auto socket = TRY(io::UdpSocket::bind(address.endpoint, kBufferBytes));
    if (const std::size_t bytes = socket->buffers().receive / 2; bytes < kBufferBytes)
        LOG_WARN(
            log_,
            "mpegts caster: the kernel's receive buffer of port {} has {} KB instead of {} KB: sysctl -w net.core.rmem_max={}",
            socket->endpoint().port, bytes >> 10, kBufferBytes >> 10, kBufferBytes);
    if (context_.inbox == nullptr)
        context_.inbox = socket->inbox();
    socket->share_inbox(context_.inbox);
    if (address.multicast)
        TRY(socket->join(address.endpoint.ip, address.source, address.interface));
    sockets_.push_back(std::move(socket));
    return {};
}

Result<void> Port::start(io::Scope& scope) {
    for (const auto& socket : sockets_) {
        io::UdpSocket* const one = socket.get();
        TRY(scope.start("mpegts-receive", [this, one](io::Deadline forever) { receive(*one, forever); }));
    }
    return {};
}

void Port::receive(io::UdpSocket& socket, io::Deadline deadline) {
    ReadTick ticks;
    std::size_t received = 0;  // since the previous tick
    for (;;) {
        const bool holds = !has_session_ && reader_->held_bytes() > 0;
        const auto datagrams = socket.receive(holds ? deadline.sooner(io::Deadline::after(kSilenceMax)) : deadline);
        if (datagrams.ok()) {
            take(*datagrams, io::now());
            received += io::kernel_bytes(*datagrams);
            const bool is_behind = datagrams->size() == io::UdpSocket::kBatch;
            if (is_behind && io::is_turn_over() && !io::yield(deadline).ok())
                return;
            if (!is_behind && !wait_for_tick(socket, ticks, std::exchange(received, 0), deadline).ok())
                return;
            continue;
        }
        if (datagrams.code() == Errc::timed_out) {
            forget_silent(io::now());
            continue;
        }
        if (datagrams.code() == Errc::cancelled || datagrams.code() == Errc::closed)
            return;
        LOG_ERROR(log_, "mpegts caster: {}", datagrams.error().text());
        constexpr std::chrono::seconds kPause{1};
        if (!io::sleep(deadline.sooner(io::Deadline::after(kPause))).ok())
            return;
    }
}

Result<void> Port::wait_for_tick(io::UdpSocket& socket, ReadTick& ticks, std::size_t received, io::Deadline deadline) {
    const auto pause = sink_ == nullptr ? std::chrono::milliseconds::zero() : sink_->read_interval();
    if (pause == std::chrono::milliseconds::zero())
        return {};
    // The other half is for what arrives while this fiber waits for its turn.
    const TimePoint next = ticks.next(io::now(), pause, received, [&socket] { return socket.buffers().receive / 2; });
    return socket.gather_until(deadline.sooner(io::Deadline::at(next)));
}

void Port::take(std::span<const io::Datagram> datagrams, TimePoint now) {
    for (const io::Datagram& datagram : datagrams) {
        ++counters_.datagrams;
        if (!take_sender(datagram, now))
            continue;
        if (is_refused(now)) {
            ++counters_.left_out;
            continue;
        }
        counters_.bytes += datagram.bytes.size();
        if (!is_rtp_) {
            read(datagram.bytes, now);
            continue;
        }
        ordered_.clear();
        order_.push(datagram.bytes, ordered_);
        read(ordered_, now);
    }
    if (sink_ != nullptr)
        sink_->flush();
}

// Reports whether datagrams are refused until retry_at_. After that time the stream is read from the current datagram on.
bool Port::is_refused(TimePoint now) {
    if (!retry_at_)
        return false;
    if (now < *retry_at_)
        return true;
    retry_at_.reset();
    begin_stream();
    return false;
}

void Port::forget_silent(TimePoint now) {
    if (!has_session_ && now - io::silence_from(heard_) >= kSilenceMax)
        begin_stream();
}

// Reports whether the datagram belongs to the current stream.
bool Port::take_sender(const io::Datagram& datagram, TimePoint now) {
    const auto in_rtp = RtpOrder::payload_of(datagram.bytes);
    if (sender_ == datagram.from) {
        if (is_rtp_ && !in_rtp) {
            ++counters_.foreign;
            return false;
        }
        heard_ = now;
        return true;
    }
    if (sender_ && now - heard_ < kSenderHolds) {
        if (counters_.strangers++ == 0)
            LOG_WARN(log_, "mpegts caster: another sender of {} is ignored", url_.stream);
        return false;
    }
    if (!begins_stream(in_rtp.value_or(datagram.bytes))) {
        ++counters_.foreign;
        return false;
    }
    if (has_session_)
        return false;  // the session of the previous sender is about to end
    sender_ = datagram.from;
    is_rtp_ = in_rtp.has_value();
    heard_ = now;
    retry_at_.reset();
    begin_stream();
    return true;
}

void Port::begin_stream() {
    reader_ = std::make_unique<TsReader>();
    order_ = RtpOrder();
    pending_.clear();
    pending_bytes_ = 0;
    logged_version_ = 0;
}

void Port::read(Bytes bytes, TimePoint now) {
    reader_->feed(bytes);
    if (sink_ != nullptr)
        sink_->pass(bytes, *reader_);
    drain(now);
}

void Port::drain(TimePoint now) {
    if (reader_->version() != logged_version_)
        log_tracks();
    while (auto unit = reader_->next()) {
        if (unit->kind == MediaKind::data && (sink_ == nullptr || !media::carries_events(unit->format)))
            continue;  // other data is carried only in the transport stream
        if (sink_ != nullptr) {
            sink_->take(*std::move(unit));
            continue;
        }
        open_session(now);
        keep(*std::move(unit));
    }
}

void Port::keep(TsReader::Unit unit) {
    if (!has_session_ || pending_bytes_ + unit.frame.data.size() > kPendingBytesMax) {
        ++counters_.left_out;
        return;
    }
    pending_bytes_ += unit.frame.data.size();
    pending_.push_back(std::move(unit));
}

void Port::set_sink(FrameSink* sink) {
    sink_ = sink;
    auto pending = std::exchange(pending_, {});
    pending_bytes_ = 0;
    if (sink_ == nullptr)
        return;
    for (TsReader::Unit& unit : pending)
        sink_->take(std::move(unit));
    sink_->flush();
}

void Port::finish_reader() {
    reader_->finish();
    drain(heard_);
    if (sink_ != nullptr)
        sink_->flush();
}

void Port::open_session(TimePoint now) {
    if (has_session_)
        return;
    const TransportAddress from = *sender_;
    const auto started =
        sessions_.start("mpegts-session", [this, from](io::Deadline forever) { serve(random_id(), from, forever); });
    has_session_ = started.ok();
    if (!started.ok()) {
        retry_at_ = now + kRetryAfter;
        LOG_WARN(log_, "mpegts caster: no session for {}: {}", url_.stream, started.error().sentence());
    }
}

void Port::serve(const std::string& id, const TransportAddress& from, io::Deadline deadline) {
    const Log log = log_.with_id(id);
    const std::string ip = ip_text(from.ip);
    ClientRequest request;
    request.id = id;
    request.kind = ClientKind::fmle_publish;
    request.ip = request.peer_ip = ip;
    request.peer = Endpoint{ip, from.port}.text();
    request.protocol = is_rtp_ ? "mpegts-rtp" : "mpegts-udp";
    request.vhost = url_.vhost;
    request.app = url_.app;
    request.stream = url_.stream;
    request.param = url_.param;
    request.tc_url = "rtmp://" + url_.vhost + "/" + url_.app;
    auto ended = [&]() -> Result<void> {
        const auto place = TRY(context_.places.take(ConnectionLimits::Kind::client, ip, sizeof(PublishSession), io::now()));
        DemuxedInput& feed = *this;
        return std::make_unique<PublishSession>(feed, std::move(request), log)->run(deadline);
    }();
    // The sender gets no notice and continues.
    if (!ended.ok() && ended.code() != Errc::cancelled) {
        LOG_WARN(log, "mpegts client finished. ip={} reason=\"{}\"", ip, ended.error().text());
        retry_at_ = io::now() + kRetryAfter;
    }
    has_session_ = false;
    begin_stream();
}

void Port::log_tracks() {
    logged_version_ = reader_->version();
    for (const TsReader::TrackInfo& track : reader_->tracks())
        LOG_INFO_REPEATED(log_, "mpegts: got {} {}, pid={}, track={}, from={}",
                          kind_of(track.format) == MediaKind::video   ? "Video"
                          : kind_of(track.format) == MediaKind::audio ? "Audio"
                                                                      : "Data",
                          wire::ts::name_of(track.format), track.pid, static_cast<int>(track.id), ip_text(sender_->ip));
}

}  // namespace live::session::mpegts
