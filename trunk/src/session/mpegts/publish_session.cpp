#include "session/mpegts/publish_session.hpp"

#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/pause.hpp"
#include "media/ingest/announced_kinds.hpp"
#include "media/ingest/ts_data.hpp"
#include "session/common/admitted_publish.hpp"

namespace live::session::mpegts {

PublishSession::PublishSession(DemuxedInput& feed, ClientRequest request, const Log& log)
    : feed_(feed),
      request_(std::move(request)),
      log_(log),
      bytes_before_(feed.received_bytes()),
      memory_(feed.context().places.memory(), MemoryBudget::Kind::unfinished, *this),
      entry_(feed.context().clients, *this) {}

PublishSession::~PublishSession() { feed_.set_sink(nullptr); }

// For callbacks it is like an RTMP publisher, as a caster's publishers are.
Result<void> PublishSession::run(io::Deadline deadline) {
    auto ended = publish(deadline);
    feed_.context().events.on_closed(request_, {figures().received_bytes, 0});
    return ended;
}

Result<void> PublishSession::publish(io::Deadline deadline) {
    const Context& context = feed_.context();
    LOG_INFO(log_, "client identified, type={}, vhost={}, app={}, stream={}, param=", name_of(request_.kind), request_.vhost,
             request_.app, request_.stream);
    auto publication = admit_publisher(context.admission, context.streams, request_, plan_, deadline);
    if (!publication.ok()) {
        entry_.refuse(publication.error());
        return std::move(publication).error();
    }
    StreamStay stay(entry_, plan_, io::now());
    const AdmittedPublish published(context.streams, context.events, request_, plan_);
    LOG_INFO(log_, "start publish url={}, from={}", plan_.url, request_.peer);
    auto ended = receive(*std::move(publication), deadline);
    if (!kick_reason_.empty())
        ended = Error(Errc::closed, kick_reason_);
    stay.end(ended);
    LOG_INFO(log_, "cleanup when unpublish, url={}", plan_.url);
    return ended;
}

Result<void> PublishSession::receive(std::unique_ptr<media::Publication> publication, io::Deadline deadline) {
    media::Ingest ingest(*publication, plan_.play, plan_.publish, log_);
    publication_ = publication.get();
    ingest_ = &ingest;
    if (TransportLogs* const logs = feed_.context().transports)
        transport_.emplace(*logs, Ref<media::Source>(&publication->source()));
    feed_.set_sink(this);
    auto ended = wait_for_end(*publication, deadline);
    if (ended.ok())
        feed_.finish_reader();
    feed_.set_sink(nullptr);
    ingest_ = nullptr;
    transport_.reset();
    publication_ = nullptr;
    return ended;
}

Result<void> PublishSession::wait_for_end(media::Publication& publication, io::Deadline deadline) {
    for (;;) {
        const auto silence = io::now() - io::silence_from(feed_.heard());
        if (silence >= DemuxedInput::kSilenceMax)
            return {};
        const auto waited = io::wait(ended_, deadline.sooner(io::Deadline::after(DemuxedInput::kSilenceMax - silence)));
        if (!kick_reason_.empty())
            return Error(Errc::closed, kick_reason_);
        if (!publication.is_current())
            return Error(Errc::conflict, "another publisher took the stream over");
        if (!waited.ok() && waited.code() != Errc::timed_out)
            return waited;
    }
}

ClientFigures PublishSession::figures() const {
    ClientFigures figures;
    figures.received_bytes = feed_.received_bytes() - bytes_before_;
    return figures;
}

void PublishSession::kick(std::string reason) {
    kick_reason_ = std::move(reason);
    ended_.raise();
}

void PublishSession::take(wire::ts::TsReader::Unit unit) {
    if (ingest_ == nullptr)
        return;
    if (unit.kind == MediaKind::data)
        return media::push_ts_data(*ingest_, unit);
    if (transport_ && unit.kind == MediaKind::video)
        transport_->log.note_video(unit.frame);
    publication_->source().set_arrival(feed_.heard());
    const auto stamp_ms = static_cast<std::uint32_t>(media::to_ms(unit.frame.dts));
    ingest_->push_frame(unit.kind, stamp_ms, std::move(unit.frame));
}

void PublishSession::pass(Bytes bytes, const wire::ts::TsReader& reader) {
    if (publication_ != nullptr && announced_version_ != reader.version()) {
        announced_version_ = reader.version();
        publication_->announce(media::announced_by(reader));
    }
    if (transport_)
        transport_->log.append(bytes, reader);
}

void PublishSession::flush() {
    if (publication_ == nullptr)
        return;
    if (!publication_->is_current())
        ended_.raise();
    publication_->source().flush();
    memory_.set(feed_.held_bytes() + (transport_ ? transport_->log.held_bytes() : 0));
}

std::chrono::milliseconds PublishSession::read_interval() const {
    const bool can_wait = !plan_.publish.min_latency && plan_.play.mw_latency >= kTick;
    const bool nobody_waits = can_wait && publication_ != nullptr && !publication_->source().is_awaited();
    return nobody_waits ? kTick : std::chrono::milliseconds::zero();
}

}  // namespace live::session::mpegts
