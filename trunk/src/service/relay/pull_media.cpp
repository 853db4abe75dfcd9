// What a pull does with what an origin sends.
#include <algorithm>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "media/ring/sync_message.hpp"
#include "media/ring/tag_packet.hpp"
#include "media/source/publication.hpp"
#include "service/relay/pull.hpp"

namespace live::service::relay {

namespace rtmp = engine::rtmp;

namespace {

bool is_sync(const rtmp::GotMedia& media) {
    return media.type == wire::rtmp::MessageType::amf0_data && media::is_sync_message(media.payload.bytes());
}

}  // namespace

Result<void> Pull::handle_events(bool& any) {
    if (publication_ != nullptr)
        publication_->source().set_arrival(io::now());
    while (auto event = upstream_->poll_event()) {
        if (auto* media = std::get_if<rtmp::GotMedia>(&*event)) {
            if (waits_for_key(*media)) {
                note_waiting();
                continue;
            }
            TRY(ingest(*media));
            any = publication_ != nullptr;
        } else if (auto* frame = std::get_if<GotFrame>(&*event)) {
            if (waits_for_key(*frame)) {
                note_waiting();
                continue;
            }
            TRY(ingest(*frame));
            any = publication_ != nullptr;
        } else if (const auto* refused = std::get_if<Refused>(&*event)) {
            return Error(Errc::not_found, refused->sentence);
        } else if (auto* redirected = std::get_if<Redirected>(&*event)) {
            redirect_url_ = std::move(redirected->url);
            return Error(Errc::not_found, "the origin redirects to another server");
        } else if (const auto* ended = std::get_if<Ended>(&*event)) {
            on_stream_ended(*ended);
            if (ended->is_final)
                return Error(Errc::not_found, ended->sentence);
        } else if (const auto* warning = std::get_if<rtmp::PeerWarning>(&*event)) {
            LOG_WARN(log_, "edge-pull {}: {}", origin_, warning->sentence);
        }
    }
    return {};
}

// The origin is healthy, and the publisher may be back soon: its media begin a new publication.
void Pull::on_stream_ended(const Ended& ended) {
    LOG_INFO(log_, "edge-pull the stream ended at the origin, stream={}: {}", plan_.url, ended.sentence);
    if (ingest_)
        publication_->source().publications().note_stream_ended();
    has_ended_ = ingest_.has_value();
    ingest_.reset();
    has_key_ = false;
    longest_gap_ = silence_ = Duration::zero();
    asked_at_ = key_asked_at_ = io::now();
    set_state(PullFacts::State::waiting);
}

// Existing readers would receive frames that they cannot decode.
bool Pull::waits_for_key(const rtmp::GotMedia& media) {
    if (has_key_ || media.type != wire::rtmp::MessageType::video)
        return false;
    const auto tag = media::read_tag(MediaKind::video, media.payload);
    has_key_ = !tag.ok() || tag->packet.key || tag->has_more || tag->packet.content == media::Content::other;
    return !has_key_ && !tag->packet.is_config();
}

bool Pull::waits_for_key(const GotFrame& got) {
    if (got.kind == MediaKind::video)
        has_key_ = has_key_ || got.frame.key;
    return got.kind == MediaKind::video && !has_key_ && got.frame.content == wire::codec::Content::frame;
}

// Data that comes before the first audio or video waits for it: it has no time of its own.
Result<void> Pull::ingest(rtmp::GotMedia& media) {
    using wire::rtmp::MessageType;
    const bool is_data = media.type != MessageType::audio && media.type != MessageType::video;
    if (!ingest_ && is_data) {
        if (has_ended_ && is_sync(media))
            append_sync(media);  // it ends the last segment
        else if (early_.size() < kEarlyMax)
            early_.push_back(std::move(media));
        return {};
    }
    if (!ingest_) {
        TRY(publish());
        if (upstream_->keeps_timeline())
            publication_->source().timeline().start_relay(media.timestamp_ms);
        for (rtmp::GotMedia& data : std::exchange(early_, {}))
            ingest_data(data);
    }
    note_media();
    if (media.type == MessageType::audio)
        ingest_->push_body(MediaKind::audio, media.timestamp_ms, std::move(media.payload));
    else if (media.type == MessageType::video)
        ingest_->push_body(MediaKind::video, media.timestamp_ms, std::move(media.payload));
    else
        ingest_data(media);
    return {};
}

Result<void> Pull::ingest(GotFrame& got) {
    if (!ingest_)
        TRY(publish());
    publication_->source().tracks().announce(got.announced);
    note_media();
    ingest_->push_frame(got.kind, static_cast<std::uint32_t>(media::to_ms(got.frame.dts)), std::move(got.frame));
    return {};
}

void Pull::note_media() {
    const TimePoint now = io::now();
    longest_gap_ = std::max<Duration>(longest_gap_, now - std::exchange(media_at_, now));
    note_heard(now);
}

void Pull::note_heard(TimePoint now) {
    if (now - heard_at_ < kHeardStep)
        return;
    heard_at_ = now;
    book_.note_heard(origin_, now);
}

// The origin has the stream, and another one's key frame comes no sooner.
void Pull::note_waiting() {
    const TimePoint now = io::now();
    if (now - key_asked_at_ >= kKeyLimit)
        return;
    asked_at_ = now;
    media_at_ = now;
    note_heard(now);
}

void Pull::ingest_data(rtmp::GotMedia& media) {
    if (is_sync(media))
        append_sync(media);
    else
        ingest_->push_data(media.timestamp_ms, std::move(media.payload));
}

void Pull::append_sync(const rtmp::GotMedia& media) {
    auto message = media::read_sync_message(media.payload.bytes());
    if (!message.ok() || message->series == media::kRelayEnd || !publication_->is_current())
        return;
    message->to_origin += publication_->source().timeline().publisher_offset();
    publication_->source().append_sync(*message);
}

// Called with the first media of a connection: takes the stream over from the previous connection.
Result<void> Pull::publish() {
    if (rests_since_)
        return Error(Errc::limit, last_error_);
    const Ref<media::Source> source(&viewers_->source());
    const bool is_ours = publication_ != nullptr && publication_->is_current();
    auto publication = TRY(media::Publication::start(source, is_ours ? media::Takeover::replace : media::Takeover::refuse));
    source->set_options(plan_.play);
    publication_ = std::move(publication);
    ingest_.emplace(*publication_, plan_.play, plan_.publish, log_);
    has_ended_ = false;
    media_at_ = io::now();
    publication_->source().set_arrival(media_at_);
    if (!stay_)
        stay_.emplace(entry_, plan_, io::now());
    context_.events.on_published(request_, plan_);
    if (std::exchange(had_media_, true) && media_try_ != tries_) {
        ++totals_.failovers;
        source->append_sync({std::string(media::kRelayStart), {}, {}});
    }
    media_try_ = tries_;
    set_state(PullFacts::State::playing);
    left_.clear();
    for (Signal* signal : waiting_)
        signal->raise();
    return {};
}

void Pull::unpublish() {
    ingest_.reset();
    if (publication_ == nullptr)
        return;
    const bool was_current = publication_->is_current();
    has_ended_ = false;
    stay_.reset();
    publication_.reset();
    if (was_current)
        context_.events.on_unpublished(plan_.url);
}

}  // namespace live::service::relay
