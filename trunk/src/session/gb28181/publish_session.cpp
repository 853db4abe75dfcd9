#include "session/gb28181/publish_session.hpp"

#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/pause.hpp"
#include "session/common/admitted_publish.hpp"
#include "session/common/join.hpp"

namespace live::session::gb28181 {

using wire::codec::Codec;
using wire::codec::Frame;

PublishSession::PublishSession(const Context& context, Device& device, MediaInput& input, ClientRequest request, const Log& log)
    : context_(context),
      device_(device),
      input_(input),
      request_(std::move(request)),
      log_(log),
      memory_(context.places.memory(), MemoryBudget::Kind::unfinished, *this),
      entry_(context.clients, *this) {}

PublishSession::~PublishSession() = default;

// For callbacks it is like an RTMP publisher, as a caster's publishers are.
Result<void> PublishSession::run(io::Deadline deadline) {
    auto ended = publish(deadline);
    context_.events.on_closed(request_, {figures().received_bytes, 0});
    return ended;
}

Result<void> PublishSession::publish(io::Deadline deadline) {
    LOG_INFO(log_, "client identified, type={}, vhost={}, app={}, stream={}, param=", name_of(request_.kind), request_.vhost,
             request_.app, request_.stream);
    auto publication = admit_publisher(context_.admission, context_.streams, request_, plan_, deadline);
    if (!publication.ok()) {
        entry_.refuse(publication.error());
        return std::move(publication).error();
    }
    StreamStay stay(entry_, plan_, io::now());
    const AdmittedPublish published(context_.streams, context_.events, request_, plan_);
    LOG_INFO(log_, "start publish url={}, from={}, ssrc={}", plan_.url, request_.peer, device_.receiver->ssrc());
    auto ended = receive(*std::move(publication), deadline);
    stay.end(ended);
    LOG_INFO(log_, "cleanup when unpublish, url={}", plan_.url);
    return ended;
}

Result<void> PublishSession::receive(std::unique_ptr<media::Publication> publication, io::Deadline deadline) {
    ingest_.emplace(*publication, plan_.play, plan_.publish, log_);
    converter_.emplace(context_.streams.transcoders(), plan_.play.bridge, static_cast<media::AudioListener&>(*this), log_);
    publication_ = publication.get();
    auto ended = receive_all(deadline);
    device_.receiver->finish();
    take_units();
    publication_->source().flush();
    publication_ = nullptr;
    converter_.reset();
    ingest_.reset();
    return ended;
}

Result<void> PublishSession::receive_all(io::Deadline deadline) {
    for (;;) {
        take_units();
        TRY(encode_rest(publication_->source(), deadline));
        publication_->source().flush();
        memory_.set(device_.receiver->held_bytes() + input_.held_bytes());
        if (!publication_->is_current())
            return Error(Errc::conflict, "another publisher took the stream over");
        if (!device_.ended_by.empty())
            return Error(Errc::closed, device_.ended_by);
        const auto received = receive_some(deadline);
        if (received.ok() || !device_.ended_by.empty())
            continue;
        if (received.code() == Errc::closed)
            return {};
        if (received.code() != Errc::timed_out)
            return received;
        const auto patience = plan_.publish.normal_timeout;
        if (io::now() - io::silence_from(device_.received_at) >= patience)
            return Error(Errc::timed_out, fmt::format("no media for {} ms", patience.count()));
    }
}

Result<void> PublishSession::receive_some(io::Deadline deadline) {
    const bool can_wait = !plan_.publish.min_latency && plan_.play.mw_latency >= kTick;
    if (can_wait && !publication_->source().is_awaited())
        TRY(input_.pause(kTick, deadline));
    const TimePoint silent = io::silence_from(device_.received_at) + plan_.publish.normal_timeout;
    return input_.receive(deadline.sooner(io::Deadline::at(silent)));
}

void PublishSession::take_units() {
    note_tracks();
    publication_->source().set_arrival(device_.received_at);
    while (auto unit = device_.receiver->next()) {
        const bool is_law = unit->frame.codec == Codec::g711a || unit->frame.codec == Codec::g711u;
        if (!is_law || unit->frame.track != wire::codec::TrackId() || !converter_->push(unit->frame, device_.received_at))
            push(unit->kind, std::move(unit->frame));
    }
    while (auto audio = converter_->next())
        push(MediaKind::audio, *std::move(audio));
}

void PublishSession::push(MediaKind kind, Frame frame) {
    const auto stamp_ms = static_cast<std::uint32_t>(media::to_ms(frame.dts));
    ingest_->push_frame(kind, stamp_ms, std::move(frame));
}

// A worker thread has converted audio. The publisher's own turn takes it too.
void PublishSession::on_audio() {
    if (publication_ == nullptr || !publication_->is_current())
        return;
    while (auto audio = converter_->next())
        push(MediaKind::audio, *std::move(audio));
    publication_->source().flush();
}

void PublishSession::note_tracks() {
    const wire::ps::PsReader& reader = device_.receiver->reader();
    if (std::exchange(noted_version_, reader.version()) == reader.version())
        return;
    MediaKindSet kinds;
    for (const wire::ps::PsReader::TrackInfo& track : reader.tracks()) {
        kinds.add(track.kind);
        LOG_INFO_REPEATED(log_, "GB28181: got {} {}, id={:#x}, track={}", track.kind == MediaKind::video ? "Video" : "Audio",
                          wire::ps::name_of(track.format), track.id, static_cast<int>(track.track));
    }
    publication_->announce(kinds);
}

ClientFigures PublishSession::figures() const {
    ClientFigures figures;
    figures.received_bytes = device_.receiver->counters().bytes;
    return figures;
}

std::optional<LinkFigures> PublishSession::link_figures() const {
    const auto& receiver = *device_.receiver;
    const auto counters = receiver.reader().counters();
    return LinkFigures{"gb28181",
                       {{"ssrc", std::uint64_t{receiver.ssrc()}},
                        {"packets", receiver.counters().packets},
                        {"lost_packets", receiver.order().lost},
                        {"packs", counters.packs},
                        {"resyncs", counters.resyncs},
                        {"lost_frames", counters.lost_units + receiver.counters().left_out}}};
}

}  // namespace live::session::gb28181
