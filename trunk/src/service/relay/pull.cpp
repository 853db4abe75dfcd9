#include "service/relay/pull.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/log_format.hpp"
#include "base/random.hpp"
#include "io/loop.hpp"
#include "media/tag_packet.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::service::relay {

namespace rtmp = engine::rtmp;
using std::chrono::milliseconds;

Pull::Pull(const PullContext& context, Resolver& resolver, OriginBook& book, PullTotals& totals, session::ClientRequest request,
           session::StreamPlan plan, std::string path, Log log)
    : context_(context),
      resolver_(resolver),
      book_(book),
      totals_(totals),
      request_(std::move(request)),
      plan_(std::move(plan)),
      path_(std::move(path)),
      log_(std::move(log)),
      entry_(context.clients, *this),
      state_since_(io::now()),
      needed_at_(io::now()),
      media_at_(io::now()) {
    request_.id = log_.id();
    request_.kind = session::ClientKind::relay_pull;
    request_.protocol = "rtmp";
}

Pull::~Pull() = default;

void Pull::run(io::Deadline deadline) {
    LOG_INFO(log_, "edge-pull start, stream={}", plan_.url);
    ++totals_.pulls;
    if (auto source = context_.streams.find_or_create(plan_.url, plan_.play, plan_.chunk_size); source.ok())
        viewers_.emplace(*std::move(source), *this);
    else
        last_error_ = source.error().sentence();
    while (viewers_) {
        const auto left = attempt(deadline);
        if (!left.ok() && left.code() == Errc::cancelled)
            break;
        if (left.ok() && *left == Left::stream_unneeded)
            break;
        if (!left.ok())
            last_error_ = left.error().sentence();
        look_around();
    }
    end();
    LOG_INFO(log_, "edge-pull stop, stream={}", plan_.url);
}

void Pull::end() {
    over_ = true;
    unpublish();
    viewers_.reset();
    for (Signal* signal : waiting_)
        signal->raise();
}

// One attempt: chooses an origin, pulls from it, leaves it.
Result<Pull::Left> Pull::attempt(io::Deadline deadline) {
    if (!is_needed())
        return Left::stream_unneeded;
    const ClusterOptions* found = context_.options.find(plan_.vhost);
    if (found == nullptr || found->mode != ClusterMode::remote)
        return Left::stream_unneeded;
    const ClusterOptions options = *found;
    set_state(PullFacts::State::connecting);
    const Location location = resolver_.find(plan_.url, options, deadline.sooner(io::Deadline::after(kStartLimit)));
    const auto* located = std::get_if<Located>(&location);
    if (located == nullptr) {
        const auto* unknown = std::get_if<Unknown>(&location);
        last_error_ = unknown != nullptr ? unknown->why : std::get<Nowhere>(location).why;
        TRY(pause(unknown != nullptr ? unknown->retry_after : StaticResolver::kRetry, deadline));
        return Left::origin;
    }
    std::vector<std::string> names;
    for (const Origin& origin : located->origins)
        names.push_back(origin.text());
    const auto choice = book_.choose(names, plan_.url, avoid_, io::now());
    if (choice->wait > Duration::zero()) {
        TRY(pause(choice->wait, deadline));
        return Left::origin;
    }
    origin_ = names[choice->index];
    const auto connected = connect(located->origins[choice->index], options, deadline);
    auto left = connected.ok() ? receive(names.size() > 1, deadline) : Result<Left>(connected.error());
    // A host that cannot be found is down; an origin that answered without the stream is not.
    const bool is_refused = !left.ok() && left.code() == Errc::not_found && engine_;
    if (!left.ok() && left.code() != Errc::cancelled && !is_refused) {
        book_.report_down(origin_, left.error().sentence(), io::now(), static_cast<std::uint32_t>(random_number()));
        LOG_WARN(log_, "edge-pull origin disconnected, retry. stream={}, origin={}: {}", plan_.url, origin_,
                 left.error().sentence());
    }
    say_goodbye();
    avoid_ = origin_;
    if (is_refused) {
        last_error_ = left.error().sentence();
        TRY(pause(kRefusedPause, deadline));
    }
    return left;
}

Result<void> Pull::connect(const Origin& origin, const ClusterOptions& options, io::Deadline deadline) {
    ++tries_;
    ++totals_.connections;
    has_key_ = false;
    longest_gap_ = Duration::zero();
    const TimePoint began = io::now();
    const auto limit = deadline.sooner(io::Deadline::after(kStartLimit));
    stream_ = TRY(rtmp_client::dial({origin.host, origin.port, origin.is_secure}, context_.dial, limit));
    request_.ip = origin.host;
    request_.peer = stream_->peer();
    rtmp::ClientOptions asked = upstream_request(origin, request_, plan_.vhost, options, context_.node, path_);
    request_.tc_url = asked.tc_url;
    LOG_INFO(log_, "edge-pull publish url {}/{}, origin={}", asked.tc_url, request_.stream, origin_);
    engine_.emplace(std::move(asked), random_number());
    TRY(engine_->start(io::now()));
    auto started = start(limit);
    if (started.ok() || started.code() == Errc::not_found)
        book_.report_up(origin_, io::now() - began, io::now());
    return started;
}

Result<void> Pull::start(io::Deadline deadline) {
    bool any = false;
    while (!engine_->is_started()) {
        std::vector<std::uint8_t> output;
        engine_->take_output(output);
        const std::array parts{io::as_part(output)};
        if (!output.empty())
            TRY(stream_->write_all(parts, deadline));
        const std::size_t count = TRY(stream_->read_some(context_.dial.scratch, deadline));
        TRY(engine_->handle_bytes(io::now(), context_.dial.scratch.first(count)));
        TRY(handle_events(any));
    }
    if (any)
        publication_->source().flush();
    return {};
}

// Receives until the origin fails or falls silent, or nobody needs the stream.
Result<Pull::Left> Pull::receive(bool has_others, io::Deadline deadline) {
    const auto first_due = has_others ? io::Deadline::after(kFirstMediaLimit) : io::Deadline::never();
    if (!ingest_)
        set_state(PullFacts::State::waiting);
    for (;;) {
        const auto media_due = ingest_ ? io::Deadline::at(media_at_ + silence_limit()) : first_due;
        std::vector<std::uint8_t> output;
        engine_->take_output(output);
        const std::array parts{io::as_part(output)};
        if (!output.empty())
            TRY(stream_->write_all(parts, deadline.sooner(io::Deadline::after(kStartLimit))));
        const auto ready =
            TRY(stream_->wait_ready(io::Interest::readable, &wake_, deadline.sooner(next_check()).sooner(media_due)));
        if (!kick_reason_.empty())
            return Error(Errc::closed, std::exchange(kick_reason_, {}));
        if (publication_ != nullptr && !publication_->is_current())
            return Left::stream_unneeded;  // another client publishes the stream on this node
        if (ready.readable)
            TRY(read());
        look_around();
        if (!is_needed())
            return Left::stream_unneeded;
        if (!ingest_ && first_due.expired()) {
            last_error_ = "the origin has no media";
            return Left::origin;
        }
        const Duration silence = io::now() - media_at_;
        if (ingest_ && silence >= silence_limit())
            return Error(Errc::timed_out, fmt::format("no media for {} ms", silence / milliseconds(1)));
    }
}

Duration Pull::silence_limit() const { return std::clamp<Duration>(2 * longest_gap_, kSilenceMin, kSilenceMax); }

Result<void> Pull::read() {
    bool any = false;
    for (;;) {
        const auto count = stream_->try_read(context_.dial.scratch);
        if (!count.ok() && count.code() == Errc::need_more)
            break;
        const auto bytes = context_.dial.scratch.first(TRY(count));
        TRY(engine_->handle_bytes(io::now(), bytes));
        TRY(handle_events(any));
        if (bytes.size() < context_.dial.scratch.size() || io::is_turn_over())
            break;
    }
    if (any)
        publication_->source().flush();
    return {};
}

Result<void> Pull::handle_events(bool& any) {
    if (publication_ != nullptr)
        publication_->source().set_arrival(io::now());
    while (auto event = engine_->poll_event()) {
        if (auto* media = std::get_if<rtmp::GotMedia>(&*event)) {
            if (waits_for_key(*media))
                continue;
            TRY(ingest(*media));
            any = true;
        } else if (const auto* rejected = std::get_if<rtmp::Rejected>(&*event)) {
            // The origin is healthy; it does not have the stream, or refuses it to us.
            return Error(Errc::not_found, fmt::format("the origin says {}: {}", rejected->code, rejected->description));
        } else if (const auto* ended = std::get_if<rtmp::StreamEnded>(&*event)) {
            LOG_INFO(log_, "edge-pull the stream ended at the origin, stream={}, code={}", plan_.url, ended->code);
        } else if (const auto* warning = std::get_if<rtmp::PeerWarning>(&*event)) {
            LOG_WARN(log_, "edge-pull {}: {}", origin_, warning->sentence);
        }
    }
    return {};
}

// Existing readers would receive frames that they cannot decode.
bool Pull::waits_for_key(const rtmp::GotMedia& media) {
    if (has_key_ || media.type != wire::rtmp::MessageType::video)
        return false;
    const auto tag = media::read_tag(media::Kind::video, media.payload);
    has_key_ = !tag.ok() || tag->packet.key || tag->has_more || tag->packet.content == media::Content::other;
    return !has_key_ && !tag->packet.is_config();
}

Result<void> Pull::ingest(rtmp::GotMedia& media) {
    using wire::rtmp::MessageType;
    if (!ingest_)
        TRY(publish());
    const TimePoint now = io::now();
    longest_gap_ = std::max<Duration>(longest_gap_, now - std::exchange(media_at_, now));
    if (media.type == MessageType::amf0_data && media::is_relay_mark(media.payload.bytes())) {
        if (const auto mark = media::read_relay_mark(media.payload.bytes()); mark.ok())
            publication_->source().append_mark(*mark);
    } else if (media.type == MessageType::audio)
        ingest_->push_audio(media.timestamp_ms, std::move(media.payload));
    else if (media.type == MessageType::video)
        ingest_->push_video(media.timestamp_ms, std::move(media.payload));
    else
        ingest_->push_data(media.timestamp_ms, std::move(media.payload));
    return {};
}

// Called with the first media of a connection: takes the stream over from the previous connection.
Result<void> Pull::publish() {
    media::Source* const source = &viewers_->source();
    const bool is_ours = publication_ != nullptr && publication_->is_current();
    auto publication = TRY(source->publish(is_ours ? media::Source::Takeover::replace : media::Source::Takeover::refuse));
    source->set_options(plan_.play);
    source->timeline().keep_stamps();
    publication_ = std::move(publication);
    ingest_.emplace(*publication_, plan_.play, plan_.publish, log_);
    media_at_ = io::now();
    publication_->source().set_arrival(media_at_);
    if (!stay_)
        stay_.emplace(entry_, plan_, io::now());
    context_.events.on_published(request_, plan_);
    if (std::exchange(had_media_, true))
        ++totals_.failovers;
    set_state(PullFacts::State::playing);
    avoid_.clear();
    for (Signal* signal : waiting_)
        signal->raise();
    return {};
}

void Pull::unpublish() {
    ingest_.reset();
    if (publication_ == nullptr)
        return;
    const bool was_current = publication_->is_current();
    stay_.reset();
    publication_.reset();
    if (was_current)
        context_.events.on_unpublished(plan_.url);
}

void Pull::say_goodbye() {
    if (engine_)
        earlier_bytes_ += engine_->bytes_received();
    engine_.reset();
    if (stream_ != nullptr)
        stream_->close();
    stream_.reset();
    // The publication is kept: the next origin takes over.
    ingest_.reset();
}

Result<void> Pull::pause(Duration length, io::Deadline deadline) {
    const auto until = io::Deadline::after(length);
    while (!until.expired() && is_needed()) {
        const auto waited = io::wait(wake_, deadline.sooner(until.sooner(next_check())));
        if (!waited.ok() && waited.code() == Errc::cancelled)
            return waited;
        look_around();
    }
    return {};
}

// Unpublishes the stream when it has been silent for kGoneAfter.
void Pull::look_around() {
    if (publication_ != nullptr && !ingest_ && io::now() - media_at_ >= kGoneAfter)
        unpublish();
}

void Pull::note_need() {
    needed_at_ = io::now();
    wake_.raise();
}

bool Pull::is_needed() const { return !waiting_.empty() || viewers_->source().is_watched() || io::now() - needed_at_ < linger(); }

Duration Pull::linger() const {
    if (!had_media_)
        return kLingerWithoutMedia;
    const ClusterOptions* options = context_.options.find(plan_.vhost);
    return options == nullptr ? Duration::zero() : Duration(options->linger);
}

// When something has to be decided although nothing happens: the end of the lingering, or of the publication.
io::Deadline Pull::next_check() const {
    auto next = publication_ != nullptr && !ingest_ ? io::Deadline::at(media_at_ + kGoneAfter) : io::Deadline::never();
    if (waiting_.empty() && !viewers_->source().is_watched())
        next = next.sooner(io::Deadline::at(needed_at_ + linger()));
    return next;
}

Result<void> Pull::wait_for_media(io::Deadline deadline) {
    Signal signal;
    waiting_.push_back(&signal);
    Result<void> waited;
    while (waited.ok() && !is_playing() && !over_)
        waited = io::wait(signal, deadline);
    std::erase(waiting_, &signal);
    note_need();
    if (!waited.ok() && waited.code() == Errc::cancelled)
        return waited;
    if (is_playing())
        return {};
    return Error(Errc::not_found, last_error_.empty() ? "no origin has sent the stream in time"
                                                      : "no origin has sent the stream in time: " + last_error_);
}

session::ClientFigures Pull::figures() const {
    session::ClientFigures figures;
    figures.received_bytes = earlier_bytes_ + (engine_ ? engine_->bytes_received() : 0);
    return figures;
}

void Pull::kick(std::string reason) {
    kick_reason_ = reason.empty() ? "kicked" : std::move(reason);
    wake_.raise();
}

void Pull::set_state(PullFacts::State state) {
    // A failover that leaves the state unchanged does not reset its start time.
    if (state_ != state)
        state_since_ = io::now();
    state_ = state;
}

PullFacts Pull::facts() const {
    const OriginBook::Health* health = book_.find(origin_);
    return {plan_.url,    plan_.vhost, origin_,     state_,
            state_since_, tries_,      last_error_, health == nullptr ? Duration() : health->rtt};
}

}  // namespace live::service::relay
