#include "service/relay/pulled_stream.hpp"

#include <string>
#include <utility>
#include <vector>

#include "io/fibers/loop.hpp"
#include "media/ring/data_message.hpp"
#include "media/ring/rendition_names.hpp"
#include "media/ring/sync_message.hpp"
#include "media/ring/tag_packet.hpp"

namespace live::service::relay {

namespace rtmp = engine::rtmp;
using engine::relay::FrameKind;
using engine::relay::FrameUse;
using engine::relay::PullState;
using wire::rtmp::MessageType;

namespace {

bool is_sync(const rtmp::GotMedia& media) {
    return media.type == MessageType::amf0_data && media::is_sync_message(media.payload.bytes());
}

bool is_data(const rtmp::GotMedia& media) { return media.type != MessageType::audio && media.type != MessageType::video; }

}  // namespace

PulledStream::PulledStream(const PullContext& context, engine::relay::Puller& puller, PullTotals& totals, Publisher publisher,
                           Ref<media::Source> source)
    : context_(context), puller_(puller), totals_(totals), publisher_(publisher), source_(std::move(source)) {}

// Data that arrives before the first audio or video is kept until then: only audio and video start the timeline.
Result<bool> PulledStream::push(rtmp::GotMedia& media, bool keeps_timeline) {
    if (!ingest_ && is_data(media)) {
        if (publication_ != nullptr && puller_.status().state == PullState::ended && is_sync(media))
            append_sync(media);  // it ends the last segment
        else if (early_.size() < kEarlyMax)
            early_.push_back(std::move(media));
        return publication_ != nullptr;
    }
    const bool is_first = !ingest_;
    if (TRY(use_of(awaits_key() ? kind_of(media) : FrameKind::other)) == FrameUse::drop)
        return false;
    if (is_first) {
        if (keeps_timeline)
            source_->timeline().start_relay(media.timestamp_ms);
        for (rtmp::GotMedia& data : std::exchange(early_, {}))
            push_data(data);
    }
    if (media.type == MessageType::audio)
        ingest_->push_body(MediaKind::audio, media.timestamp_ms, std::move(media.payload));
    else if (media.type == MessageType::video)
        ingest_->push_body(MediaKind::video, media.timestamp_ms, std::move(media.payload));
    else
        push_data(media);
    return true;
}

Result<bool> PulledStream::push(GotFrame& got) {
    FrameKind kind = FrameKind::other;
    if (got.kind == MediaKind::video && awaits_key() && got.frame.content == wire::codec::Content::frame)
        kind = got.frame.key ? FrameKind::key : FrameKind::delta;
    if (TRY(use_of(kind)) == FrameUse::drop)
        return false;
    source_->tracks().announce(got.announced);
    ingest_->push_frame(got.kind, static_cast<std::uint32_t>(media::to_ms(got.frame.dts)), std::move(got.frame));
    return true;
}

// Starts a publication if this is the first media of a connection.
Result<FrameUse> PulledStream::use_of(FrameKind kind) {
    const TimePoint now = io::now();
    FrameUse use = puller_.handle_frame(kind, now);
    if (use == FrameUse::publish) {
        TRY(publish());
        use = puller_.handle_frame(kind, now);
    }
    return use;
}

FrameKind PulledStream::kind_of(const rtmp::GotMedia& media) const {
    if (media.type != MessageType::video)
        return FrameKind::other;
    const auto tag = media::read_tag(MediaKind::video, media.payload);
    // A tag with several frames, or of an unknown codec, counts as a key frame, so that it is published.
    if (!tag.ok() || tag->packet.key || tag->has_more || tag->packet.content == media::Content::other)
        return FrameKind::key;
    return tag->packet.is_config() ? FrameKind::other : FrameKind::delta;
}

void PulledStream::push_data(rtmp::GotMedia& media) {
    if (is_sync(media))
        append_sync(media);
    else if (media.type == MessageType::amf0_data && media::is_data_message(media.payload.bytes()))
        push_rtp_data(media);
    else
        ingest_->push_data(media.timestamp_ms, std::move(media.payload));
}

// A malformed message is dropped.
void PulledStream::push_rtp_data(const rtmp::GotMedia& media) {
    auto message = media::read_data_message(media.payload.bytes());
    if (message.ok())
        ingest_->push_frame(MediaKind::data, message->time_ms, std::move(message->frame));
}

void PulledStream::append_sync(const rtmp::GotMedia& media) {
    auto message = media::read_sync_message(media.payload.bytes());
    if (!message.ok() || message->series == media::kRelayEnd || !publication_->is_current())
        return;
    if (message->series == media::kRelayRenditions && !name_renditions(message->text))
        return;
    message->to_origin += source_->timeline().publisher_offset();
    source_->append_sync(*message);
}

// The tracks of renditions come as the publisher's. False for a malformed list.
bool PulledStream::name_renditions(std::string_view text) {
    const auto list = media::read_rendition_list(text);
    if (!list.ok())
        return false;
    std::vector<media::TrackName> tracks;
    std::vector<std::string> names;
    for (const media::RenditionList::Entry& entry : list->entries) {
        if (entry.track)
            tracks.push_back({MediaKind::video, *entry.track, "", entry.name});
        names.push_back(entry.name);
    }
    source_->tracks().name_tracks(std::move(tracks), media::Tracks::NamesOf::relayed_renditions);
    source_->publications().name_renditions(media::Publications::NamedBy::relay, std::move(names));
    return true;
}

// Takes the stream over from the previous connection.
Result<void> PulledStream::publish() {
    const bool is_ours = publication_ != nullptr && publication_->is_current();
    auto publication = TRY(media::Publication::start(source_, is_ours ? media::Takeover::replace : media::Takeover::refuse));
    const TimePoint now = io::now();
    source_->set_options(publisher_.plan.play);
    publication->begin();
    publication_ = std::move(publication);
    ingest_.emplace(*publication_, publisher_.plan.play, publisher_.plan.publish, publisher_.log);
    source_->set_arrival(now);
    if (!stay_)
        stay_.emplace(publisher_.entry, publisher_.plan, now);
    context_.events.on_published(publisher_.request, publisher_.plan);
    if (puller_.handle_published(now)) {
        ++totals_.failovers;
        source_->append_sync({std::string(media::kRelayStart), {}, {}});
    }
    return {};
}

void PulledStream::note_arrival(TimePoint now) {
    if (publication_ != nullptr)
        source_->set_arrival(now);
}

void PulledStream::note_stream_ended() {
    if (ingest_)
        source_->publications().note_stream_ended();
    ingest_.reset();
}

void PulledStream::end_connection() {
    ingest_.reset();
    early_.clear();
}

void PulledStream::unpublish() {
    ingest_.reset();
    if (publication_ == nullptr)
        return;
    const bool was_current = publication_->is_current();
    stay_.reset();
    publication_.reset();
    if (was_current)
        context_.events.on_unpublished(publisher_.plan.url);
}

}  // namespace live::service::relay
