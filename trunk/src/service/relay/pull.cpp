#include "service/relay/pull.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/net/host_and_port.hpp"
#include "base/text/secret.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/pause.hpp"
#include "service/relay/upstream/flv_upstream.hpp"
#include "service/relay/upstream/rtmp_upstream.hpp"
#include "service/relay/upstream/ts_upstream.hpp"
#include "session/common/join.hpp"
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
      followed_(protocol_of(request)),
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
    if (found == nullptr || !(may_pull(*found) || has_siblings()))
        return Left::stream_unneeded;
    look_again_ = false;
    moved_.consume();
    if (is_resting()) {
        TRY(pause(kMemoryPause, deadline));
        return Left::origin;
    }
    rests_since_.reset();
    ClusterOptions options = *found;
    if (options.follow_client)
        options.protocol = followed_.value_or(options.protocol);
    set_state(PullFacts::State::connecting);
    const Pick pick = pick_origin(resolver_, book_, plan_.url, OriginUse::pull, options, left_,
                                  deadline.sooner(io::Deadline::after(kStartLimit)));
    if (const auto* not_now = std::get_if<NotNow>(&pick)) {
        if (!not_now->why.empty())
            last_error_ = not_now->why;
        TRY(pause(not_now->wait, deadline));
        return Left::origin;
    }
    const Picked& picked = std::get<Picked>(pick);
    asked_ = picked.origin.text();
    return pull_from(wanted_from(picked.origin, request_, plan_.vhost, options), options, picked.has_others, deadline);
}

Result<Pull::Left> Pull::pull_from(Wanted wanted, const ClusterOptions& options, bool has_others, io::Deadline deadline) {
    for (int redirects = 0;; ++redirects) {
        redirect_url_.clear();
        auto left = visit(wanted, options, first_media_limit(has_others, redirects > 0), deadline);
        const bool was_sent_on = !redirect_url_.empty();
        if (was_sent_on && redirects < (is_http(wanted.origin.scheme) ? kHttpRedirectsMax : kRtmpRedirectsMax)) {
            LOG_INFO(log_, "edge-pull redirect, RTMP redirect from {} to {}", origin_, redacted(redirect_url_));
            auto next = follow_redirect(wanted, redirect_url_);
            if (next.ok()) {
                examine_redirect(wanted, *next, options);
                wanted = *std::move(next);
                continue;
            }
            last_error_ = next.error().sentence();
            LOG_WARN(log_, "edge-pull redirect is not followed, stream={}: {}", plan_.url, last_error_);
        }
        const bool is_over = left.ok() ? *left == Left::stream_unneeded : left.code() == Errc::cancelled;
        // A place that the origin sent us to has no backoff that keeps the origin from sending us there again at once. One that
        // has sent media is another matter.
        const bool had_none = media_try_ != tries_;
        if (!is_over && (was_refused_ || (redirects > 0 && had_none)))
            TRY(pause(kRefusedPause, deadline));
        return left;
    }
}

// The origin chooses the place: one that the operator has not named gets no proof, and not every address may be reached.
void Pull::examine_redirect(const Wanted& from, Wanted& to, const ClusterOptions& options) const {
    const bool is_known = resolver_.knows(to.origin.host, to.origin.port, options);
    const auto sender = parse_host(request_.peer);
    to.is_trusted = from.is_trusted && is_known && keeps_trust(from, to);
    to.sent_by = is_known ? std::string() : sender.ok() ? sender->host : "an unknown server";
}

// Two nodes that two owners have sent to each other would wait for ever.
std::optional<Duration> Pull::first_media_limit(bool has_others, bool was_sent_there) {
    if (has_others)
        return kFirstMediaLimit;
    return was_sent_there ? std::optional<Duration>(kSilenceMax) : std::nullopt;
}

Result<Pull::Left> Pull::visit(const Wanted& wanted, const ClusterOptions& options, std::optional<Duration> first_limit,
                               io::Deadline deadline) {
    origin_ = wanted.origin.text();
    const auto connected = connect(wanted, options, deadline);
    auto left = connected.ok() ? receive(first_limit, deadline)
                : was_dropped_ ? Result<Left>(Left::origin)
                               : Result<Left>(connected.error());
    // A host that cannot be found is down; an origin that answered without the stream is not.
    was_refused_ = !left.ok() && left.code() == Errc::not_found && upstream_ != nullptr;
    if (!left.ok() && left.code() != Errc::cancelled && !was_refused_ && !rests_since_) {
        book_.report_down(origin_, left.error().sentence(), io::now(), static_cast<std::uint32_t>(random_number()));
        LOG_WARN(log_, "edge-pull origin disconnected, retry. stream={}, origin={}: {}", plan_.url, origin_,
                 left.error().sentence());
    }
    // Once for the same answer, which may be repeated until the player gives up.
    if (was_refused_ && redirect_url_.empty() && left.error().sentence() != last_error_)
        LOG_INFO(log_, "edge-pull is refused, stream={}, origin={}: {}", plan_.url, origin_, left.error().sentence());
    say_goodbye();
    // Nothing is known of one that had no time to answer.
    if (!was_dropped_)
        left_.add(origin_);
    return left;
}

Result<void> Pull::connect(const Wanted& wanted, const ClusterOptions& options, io::Deadline deadline) {
    const Origin& origin = wanted.origin;
    ++tries_;
    ++totals_.connections;
    has_key_ = false;
    has_ended_ = was_dropped_ = false;
    // An origin that was left for its silence and still has the stream: the stream may be that slow.
    longest_gap_ = silent_origin_ == origin_ ? silence_ : Duration::zero();
    delay_ = Duration::zero();
    const TimePoint began = io::now();
    const auto limit = deadline.sooner(io::Deadline::after(kStartLimit));
    request_.is_sibling = origin.scheme == Scheme::worker;
    auto dialled = dial(wanted, limit);
    was_dropped_ = !dialled.ok() && dialled.code() == Errc::cancelled && look_again_;
    stream_ = TRY(std::move(dialled));
    request_.ip = origin.host;
    request_.peer = stream_->peer();
    LOG_INFO(log_, "edge-pull publish url {}, origin={}", label_of(wanted), origin_);
    make_upstream(wanted, options);
    TRY(upstream_->start(io::now()));
    auto started = start(limit);
    // An edge answers when its own origin has. That a stream is nowhere must not cost those that are there their origin.
    if (!started.ok() && started.code() == Errc::timed_out && (upstream_->has_answered() || book_.is_heard_after(origin_, began)))
        started = Error(Errc::not_found, "the origin has not begun the stream in time");
    if (started.ok() || started.code() == Errc::not_found)
        book_.report_up(origin_, io::now() - began, io::now());
    return started;
}

Result<std::unique_ptr<io::Stream>> Pull::dial(const Wanted& wanted, io::Deadline deadline) {
    const Origin& origin = wanted.origin;
    if (origin.scheme == Scheme::worker)
        return context_.dial.worker(origin.port);
    if (origin.scheme != Scheme::srt)
        return rtmp_client::dial({origin.host, origin.port, is_secure(origin.scheme), origin.name, wanted.sent_by}, context_.dial,
                                 deadline, &moved_);
    return call(wanted, deadline);
}

// An SRT origin answers the connection and the request at once.
Result<std::unique_ptr<io::Stream>> Pull::call(const Wanted& wanted, io::Deadline deadline) {
    if (context_.srt == nullptr)
        return Error(Errc::unsupported, "SRT is not available");
    const TimePoint began = io::now();
    const auto request = srt_request(wanted, session::srt::Mode::request, path_);
    auto opened = request.ok() ? context_.srt->open(*request, deadline)
                               : Result<std::unique_ptr<session::srt::ByteStream>>(request.error());
    const bool is_refused = request.ok() && !opened.ok() && opened.code() == Errc::conflict;
    if (is_refused)
        book_.report_up(origin_, io::now() - began, io::now());
    if (is_refused || !request.ok()) {
        upstream_ = std::make_unique<TsUpstream>();  // it is not the origin that is wrong
        return Error(Errc::not_found, opened.error().sentence());
    }
    auto stream = TRY(std::move(opened));
    delay_ = stream->latency();
    return std::unique_ptr<io::Stream>(std::move(stream));
}

void Pull::make_upstream(const Wanted& wanted, const ClusterOptions& options) {
    const std::string vhost = stated_vhost(wanted);
    const Introduction introduction{
        path_,
        proof_for({RelayedRequest::Role::play, vhost, wanted.app, wanted.stream, path_}, wanted.is_trusted ? options.secret : ""),
        age_of_newest(), wanted.origin.scheme == Scheme::worker ? plan_.url : std::string()};
    request_.protocol = "rtmp";
    if (wanted.origin.scheme == Scheme::srt) {
        request_.protocol = "srt";
        upstream_ = std::make_unique<TsUpstream>();
    } else if (is_http(wanted.origin.scheme)) {
        request_.protocol = "http-flv";
        upstream_ = std::make_unique<FlvUpstream>(flv_request(wanted, context_.node, introduction));
    } else {
        rtmp::ClientOptions asked = rtmp_request(wanted, options, context_.node, introduction);
        request_.tc_url = asked.tc_url;
        upstream_ = std::make_unique<RtmpUpstream>(std::move(asked), random_number());
    }
}

// Of what the viewers have, from whoever had the stream before this connection.
std::optional<milliseconds> Pull::age_of_newest() const {
    const media::Ring& ring = viewers_->source().ring();
    if (ring.size() == 0)
        return std::nullopt;
    const auto age = std::chrono::ceil<milliseconds>(io::now() - ring.newest().arrived);
    return age <= session::kRelayHasMax ? std::optional(age) : std::nullopt;
}

Result<void> Pull::start(io::Deadline deadline) {
    bool any = false;
    while (!upstream_->is_started()) {
        std::vector<std::uint8_t> output;
        upstream_->take_output(output);
        const std::array parts{io::as_part(output)};
        if (!output.empty())
            TRY(stream_->write_all(parts, deadline));
        const auto ready = TRY(stream_->wait_ready(io::Interest::readable, &wake_, deadline));
        if (ready.timed_out)
            return Error(Errc::timed_out, "nothing came from the origin");
        was_dropped_ = std::exchange(look_again_, false) && has_moved(deadline);
        if (was_dropped_)
            return Error(Errc::cancelled, "the stream has moved");
        const auto count = ready.readable ? stream_->try_read(context_.dial.scratch) : Error(Errc::need_more, "");
        if (count.ok() || count.code() != Errc::need_more)
            TRY(handle_input(count, any));
    }
    if (any)
        viewers_->source().flush();
    return {};
}

// Receives until the origin fails or falls silent, or nobody needs the stream.
Result<Pull::Left> Pull::receive(std::optional<Duration> first_limit, io::Deadline deadline) {
    asked_at_ = key_asked_at_ = io::now();
    if (!ingest_)
        set_state(PullFacts::State::waiting);
    while (!over_) {
        const auto first_due =
            first_limit ? io::Deadline::at(io::silence_from(asked_at_) + *first_limit + delay_) : io::Deadline::never();
        const auto media_due = ingest_ ? io::Deadline::at(io::silence_from(media_at_) + silence_limit()) : first_due;
        std::vector<std::uint8_t> output;
        upstream_->take_output(output);
        const std::array parts{io::as_part(output)};
        if (!output.empty())
            TRY(stream_->write_all(parts, deadline.sooner(io::Deadline::after(kStartLimit))));
        const auto ready =
            TRY(stream_->wait_ready(io::Interest::readable, &wake_, deadline.sooner(next_check()).sooner(media_due)));
        if (over_)
            return Left::stream_unneeded;
        if (!kick_reason_.empty())
            return Error(Errc::closed, std::exchange(kick_reason_, {}));
        if (rests_since_)
            return Error(Errc::limit, last_error_);
        if (std::exchange(look_again_, false) && has_moved(deadline))
            return Left::origin;
        if (publication_ != nullptr && !publication_->is_current())
            return Left::stream_unneeded;  // another client publishes the stream on this node
        if (ready.readable)
            TRY(read(deadline));
        look_around();
        if (!is_needed())
            return Left::stream_unneeded;
        if (!ingest_ && first_limit && io::now() >= io::silence_from(asked_at_) + *first_limit + delay_) {
            last_error_ = "the origin has no media";
            return Left::origin;
        }
        const Duration silence = io::now() - io::silence_from(media_at_);
        if (!ingest_ || silence < silence_limit())
            continue;
        silence_ = silence;
        silent_origin_ = origin_;
        const Error silent(Errc::timed_out, fmt::format("no media for {} ms", silence / milliseconds(1)));
        if (!is_origin_heard())
            return silent;
        last_error_ = silent.sentence();
        return Left::origin;
    }
    return Left::stream_unneeded;
}

bool Pull::has_siblings() const { return context_.has_siblings && context_.has_siblings(); }

// Whether another origin has the stream. While none is known, the connection that exists is the best there is.
bool Pull::has_moved(io::Deadline deadline) {
    const ClusterOptions* options = context_.options.find(plan_.vhost);
    if (options == nullptr || !(options->by_registry || has_siblings()))
        return false;
    const Location location = resolver_.find(plan_.url, *options, deadline.sooner(io::Deadline::after(kSilenceMin)));
    const auto* located = std::get_if<Located>(&location);
    return located != nullptr && located->epoch != 0 &&
           std::ranges::none_of(located->origins, [this](const Origin& origin) { return origin.text() == asked_; });
}

Duration Pull::silence_limit() const {
    if (request_.is_sibling)
        return kSilenceOfWorker;
    const Duration most = std::max<Duration>(kSilenceMax, plan_.publish.normal_timeout);
    return is_origin_heard() ? most : std::clamp<Duration>(2 * longest_gap_, kSilenceMin, most);
}

// Since well after the last media here: then the origin is there, and it is this stream's publisher that is silent.
bool Pull::is_origin_heard() const { return book_.is_heard_after(origin_, media_at_ + kSilenceMin / 2); }

Result<void> Pull::read(io::Deadline deadline) {
    bool any = false;
    for (;;) {
        const auto count = stream_->try_read(context_.dial.scratch);
        if (!count.ok() && count.code() == Errc::need_more)
            break;
        TRY(handle_input(count, any));
        if (*count < context_.dial.scratch.size() || io::is_turn_over())
            break;
    }
    if (!any)
        return {};
    // The publication may be over afterwards.
    TRY(session::encode_rest(viewers_->source(), deadline));
    viewers_->source().flush();
    return {};
}

// `count`: of the bytes in the scratch buffer. Fails at the end of the connection in any case.
Result<void> Pull::handle_input(Result<std::size_t> count, bool& any) {
    if (!count.ok()) {
        if (count.code() == Errc::closed && upstream_->handle_end().ok())
            TRY(handle_events(any));
        return Error(count.error());
    }
    const auto handled = upstream_->handle_bytes(io::now(), context_.dial.scratch.first(*count));
    TRY(handle_events(any));
    return handled;
}

void Pull::say_goodbye() {
    if (upstream_ != nullptr)
        earlier_bytes_ += upstream_->bytes_received();
    upstream_.reset();
    if (stream_ != nullptr)
        stream_->close();
    stream_.reset();
    // The publication is kept: the next origin takes over.
    ingest_.reset();
    early_.clear();
}

Result<void> Pull::pause(Duration length, io::Deadline deadline) {
    const auto until = io::Deadline::after(length);
    while (!until.expired() && is_needed() && !look_again_) {
        const auto waited = io::wait(wake_, deadline.sooner(until.sooner(next_check())));
        if (!waited.ok() && waited.code() == Errc::cancelled)
            return waited;
        look_around();
    }
    return {};
}

// Unpublishes the stream when it has been silent for that long.
void Pull::look_around() {
    if (publication_ != nullptr && !ingest_ && io::now() - media_at_ >= gone_after())
        unpublish();
}

// A worker that says so knows: only a publisher that takes the stream over on another one is still to come.
Duration Pull::gone_after() const { return request_.is_sibling && has_ended_ ? kGoneAfterOfWorker : Duration(kGoneAfter); }

void Pull::give_way() {
    if (over_)
        return;
    LOG_INFO(log_, "edge-pull gives way to a publisher on this node, stream={}", plan_.url);
    gave_way_ = true;
    over_ = true;
    unpublish();
    for (Signal* signal : waiting_)
        signal->raise();
    wake_.raise();
}

void Pull::look_again() {
    look_again_ = true;
    wake_.raise();
    moved_.raise();
}

void Pull::note_need() {
    needed_at_ = io::now();
    wake_.raise();
}

bool Pull::is_resting() const {
    return rests_since_ && (io::now() - *rests_since_ < kMemoryPause || context_.is_short_of_memory());
}

bool Pull::is_needed() const {
    return !over_ && (!waiting_.empty() || viewers_->source().readers().is_watched() || io::now() - needed_at_ < linger());
}

Duration Pull::linger() const {
    if (!had_media_)
        return kLingerWithoutMedia;
    const ClusterOptions* options = context_.options.find(plan_.vhost);
    return options == nullptr ? Duration::zero() : Duration(options->linger);
}

// When something has to be decided although nothing happens: the end of the lingering, or of the publication.
io::Deadline Pull::next_check() const {
    auto next = publication_ != nullptr && !ingest_ ? io::Deadline::at(media_at_ + gone_after()) : io::Deadline::never();
    if (waiting_.empty() && !viewers_->source().readers().is_watched())
        next = next.sooner(io::Deadline::at(needed_at_ + linger()));
    return next;
}

Result<void> Pull::wait_for_media(io::Deadline deadline) {
    Signal signal;
    waiting_.push_back(&signal);
    Result<void> waited;
    while (waited.ok() && !is_playing() && !over_ && !rests_since_)
        waited = io::wait(signal, deadline);
    std::erase(waiting_, &signal);
    note_need();
    if (!waited.ok() && waited.code() == Errc::cancelled)
        return waited;
    if (is_playing() || gave_way_)
        return {};
    if (rests_since_)
        return Error(Errc::limit, last_error_);
    return Error(Errc::not_found, last_error_.empty() ? "no origin has sent the stream in time"
                                                      : "no origin has sent the stream in time: " + last_error_);
}

session::ClientFigures Pull::figures() const {
    session::ClientFigures figures;
    figures.received_bytes = earlier_bytes_ + (upstream_ != nullptr ? upstream_->bytes_received() : 0);
    return figures;
}

void Pull::kick(std::string reason) {
    kick_reason_ = reason.empty() ? "kicked" : std::move(reason);
    wake_.raise();
}

void Pull::lose_stream(std::string why) {
    if (over_)
        return;
    LOG_WARN(log_, "edge-pull lets go of the stream for a while, stream={}: {}", plan_.url, why);
    last_error_ = std::move(why);
    rests_since_ = io::now();
    unpublish();
    set_state(PullFacts::State::connecting);
    for (Signal* signal : waiting_)
        signal->raise();
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
