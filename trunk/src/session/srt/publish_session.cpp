#include "session/srt/publish_session.hpp"

#include <limits>
#include <optional>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "media/ingest/announced_kinds.hpp"
#include "media/ingest/ts_data.hpp"
#include "session/common/admitted_publish.hpp"

namespace live::session::srt {

using wire::ts::TsReader;

PublishSession::~PublishSession() { context_.port.remove(*this); }

PullFigures PublishSession::pull_figures() const {
    PullFigures figures;
    figures.transport = "srt";
    figures.peer = request_.peer;
    if (connection() == nullptr)
        return figures;
    const auto now = connection()->figures();
    figures.received_bytes = now.received_bytes;
    figures.packets = now.received;
    figures.lost_packets = now.receive_dropped;
    figures.has_media = publication_ != nullptr && publication_->source().tracks().last_time(MediaKind::video).has_value();
    if (publication_ != nullptr && !figures.has_media)
        figures.has_media = publication_->source().tracks().last_time(MediaKind::audio).has_value();
    return figures;
}

Result<void> PublishSession::serve(Opening& opening, io::Deadline deadline) {
    auto admitted = context_.admission.serve_publish(request_, deadline);
    if (!admitted.ok()) {
        refuse(admitted.error());
        return std::move(admitted).error();
    }
    plan_ = *std::move(admitted);
    TRY(check_key(opening, deadline));
    auto publication = take_stream(context_.streams, plan_, deadline);
    if (!publication.ok()) {
        refuse(publication.error());
        return std::move(publication).error();
    }
    return receive(opening, *std::move(publication), deadline);
}

Result<void> PublishSession::receive(Opening& opening, std::unique_ptr<media::Publication> publication, io::Deadline deadline) {
    ingest_.emplace(*publication, plan_.play, plan_.publish, log_);
    publication_ = publication.get();
    // Players whose stream continues with a slate need the source's times.
    if (plan_.publish.slate.empty())
        transport_.emplace(context_.transports, Ref<media::Source>(&publication_->source()));
    if (auto connected = connect(opening); !connected.ok()) {
        ingest_.reset();
        transport_.reset();
        publication_ = nullptr;
        refuse(connected.error());
        return connected;
    }
    connection()->read_on_arrival(true);
    read_arrived();
    StreamStay stay(entry(), plan_, io::now());
    const AdmittedPublish published(context_.streams, context_.events, request_, plan_);
    LOG_INFO(log_, "SRT: start publish url={}, from={}", plan_.url, request_.peer);
    io::trim_stack();  // admission and passphrases use more of it than waiting
    auto ended = wait_for_end(deadline);
    while (!connection()->is_open() && publication_->is_current() && !take_some(io::now()) && io::yield(deadline).ok())
        continue;
    connection()->read_on_arrival(false);
    reader_.finish();
    take_frames(std::numeric_limits<std::uint64_t>::max());
    publication_->source().flush();
    ingest_.reset();
    transport_.reset();
    publication_ = nullptr;
    publication.reset();  // before its end is reported
    stay.end(ended);
    LOG_INFO(log_, "cleanup when unpublish, url={}", plan_.url);
    return ended;
}

void PublishSession::on_datagram() {
    if (publication_ != nullptr)
        read_arrived();
}

void PublishSession::on_input(TimePoint now) {
    if (publication_ == nullptr)
        return;
    if (!publication_->is_current())
        return end(Error(Errc::conflict, "another publisher took the stream over"));
    is_behind_ = !take_some(now);  // a timeout for the rest is due immediately
    if (connection()->key_question())
        wake();
    account(connection()->held_bytes() + reader_.held_bytes() + (transport_ ? transport_->log.held_bytes() : 0));
}

Duration PublishSession::patience(TimePoint now) const {
    if (publication_ == nullptr || connection() == nullptr)
        return {};
    const bool can_wait = !plan_.publish.min_latency && plan_.play.mw_latency >= kMergedWriteMin;
    return can_wait && !publication_->source().is_awaited() ? connection()->slack(now) : Duration();
}

bool PublishSession::take_some(TimePoint now) {
    publication_->source().set_arrival(now);
    std::optional<engine::srt::Connection::Payload> payload;
    do {
        payload = connection()->next_payload(now);
        if (!payload)
            break;
        if (!payload->was_read)
            read(payload->bytes.bytes(), payload->position);
        if (transport_)
            transport_->log.show(payload->size);
        take_frames(payload->position);
    } while (!io::is_turn_over());
    publication_->source().flush();
    return !payload;
}

void PublishSession::read_arrived() {
    while (!reader_.is_full()) {
        const auto arrived = connection()->next_arrived();
        if (!arrived)
            break;
        read(arrived->bytes, arrived->position);
    }
    connection()->read_on_arrival(!reader_.is_full());
}

void PublishSession::read(Bytes bytes, std::uint64_t position) {
    reader_.read(bytes, position);
    if (transport_)
        transport_->log.append_hidden(bytes, reader_.reader());
    if (reader_.reader().version() != logged_version_)
        log_tracks();
}

void PublishSession::take_frames(std::uint64_t due) {
    while (auto unit = reader_.next(due)) {
        if (transport_ && unit->kind == MediaKind::video)
            transport_->log.note_video(unit->frame);
        const auto stamp_ms = static_cast<std::uint32_t>(media::to_ms(unit->frame.dts));
        if (ingest_ && unit->kind == MediaKind::data)
            media::push_ts_data(*ingest_, *unit);
        else if (ingest_)
            ingest_->push_frame(unit->kind, stamp_ms, std::move(unit->frame));
    }
}

void PublishSession::log_tracks() {
    logged_version_ = reader_.reader().version();
    if (publication_ != nullptr)
        publication_->announce(media::announced_by(reader_.reader()));
    for (const TsReader::TrackInfo& track : reader_.reader().tracks())
        LOG_INFO_REPEATED(log_, "SRT: got {} {}, pid={}, track={}",
                          kind_of(track.format) == MediaKind::video   ? "Video"
                          : kind_of(track.format) == MediaKind::audio ? "Audio"
                                                                      : "Data",
                          wire::ts::name_of(track.format), track.pid, static_cast<int>(track.id));
}

}  // namespace live::session::srt
