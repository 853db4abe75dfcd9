#include "service/relay/pull.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/net/host_and_port.hpp"
#include "base/text/secret.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/pause.hpp"
#include "service/relay/relay_clock.hpp"
#include "session/common/join.hpp"

namespace live::service::relay {

using engine::relay::PullAction;
using engine::relay::Puller;
using engine::relay::PullNotice;
using engine::relay::PullState;
using engine::relay::SilenceWatch;
using std::chrono::milliseconds;

namespace {

// How long ago the newest packet of the stream arrived, from any connection; nullopt: too long ago for a request.
std::optional<milliseconds> age_of_newest(const media::Ring& ring) {
    if (ring.size() == 0)
        return std::nullopt;
    const auto age = std::chrono::ceil<milliseconds>(io::now() - ring.newest().arrived);
    return age <= session::kRelayHasMax ? std::optional(age) : std::nullopt;
}

bool is_cancelled(const Result<void>& result) { return !result.ok() && result.code() == Errc::cancelled; }

}  // namespace

Pull::Pull(const PullContext& context, Resolver& resolver, OriginHealth& health, PullTotals& totals,
           session::ClientRequest request, session::StreamPlan plan, std::string path, Log log)
    : context_(context),
      resolver_(resolver),
      health_(health),
      totals_(totals),
      request_(std::move(request)),
      followed_(protocol_of(request_)),
      plan_(std::move(plan)),
      path_(std::move(path)),
      log_(std::move(log)),
      entry_(context.clients, *this),
      puller_(*this, health, plan_.url, {.silence_max = plan_.publish.normal_timeout}, random_number(), io::now()),
      connection_(context) {
    if (context.tracer != nullptr && !request_.id.empty())
        context.tracer->adopt(request_, request_);
    request_.id = log_.id();
    request_.kind = session::ClientKind::relay_pull;
    request_.protocol = "rtmp";
}

Pull::~Pull() = default;

void Pull::run(io::Deadline deadline) {
    LOG_INFO(log_, "edge-pull start, stream={}", plan_.url);
    ++totals_.pulls;
    if (auto source = context_.streams.find_or_create(plan_.url, plan_.play, plan_.chunk_size); source.ok()) {
        stream_.emplace(context_, puller_, totals_, PulledStream::Publisher{entry_, request_, plan_, log_}, *source);
        viewers_.emplace(*std::move(source), *this);
        update_demand();
    } else {
        puller_.handle_no_origins(source.error().sentence(), {}, io::now());
    }
    while (stream_) {
        const PullAction action = puller_.next_action(io::now());
        log_notice();
        if (!engine::relay::is_connected(state()))
            close_connection();
        if (action == PullAction::stop || !perform(action, deadline).ok())
            break;
        log_notice();
    }
    end();
    LOG_INFO(log_, "edge-pull stop, stream={}", plan_.url);
}

void Pull::end() {
    puller_.stop(io::now());
    if (stream_) {
        close_connection();
        stream_->unpublish();
    }
    viewers_.reset();
    stream_.reset();
    wake_clients();
}

Result<void> Pull::perform(PullAction action, io::Deadline deadline) {
    switch (action) {
        case PullAction::find_origins: return find_origins(deadline);
        case PullAction::wait: {
            const auto waited = io::wait(wake_, deadline.sooner(next_decision()));
            return is_cancelled(waited) ? waited : Result<void>();
        }
        case PullAction::dial: return dial(deadline);
        case PullAction::follow_redirect: follow_redirect(); break;
        case PullAction::exchange: return exchange(deadline);
        case PullAction::check_location: return check_location(deadline);
        case PullAction::unpublish:
            stream_->unpublish();
            puller_.handle_unpublished();
            break;
        case PullAction::stop: break;
    }
    return {};
}

Result<void> Pull::find_origins(io::Deadline deadline) {
    const ClusterOptions* found = context_.options.find(plan_.vhost);
    if (found == nullptr)
        return {};
    options_ = *found;
    if (options_.follow_client)
        options_.protocol = followed_.value_or(options_.protocol);
    moved_.consume();
    const Candidates candidates =
        relay::find_origins(resolver_, plan_.url, OriginUse::pull, options_, deadline.sooner(next_decision()));
    if (const auto* later = std::get_if<RetryLater>(&candidates)) {
        puller_.handle_no_origins(later->why, later->wait, io::now());
        return {};
    }
    const auto& origins = std::get<std::vector<Origin>>(candidates);
    if (const auto chosen = puller_.handle_origins(names_of(origins), io::now()))
        wanted_ = wanted_from(origins[*chosen], request_, plan_.vhost, options_);
    return {};
}

Result<void> Pull::dial(io::Deadline deadline) {
    ++totals_.connections;
    request_.is_sibling = wanted_.origin.scheme == Scheme::worker;
    const auto opened = open(deadline.sooner(next_decision()));
    if (!opened.ok()) {
        if (opened.code() == Errc::cancelled && !puller_.handle_dial_stopped(io::now()))
            return opened;
        if (wanted_.origin.scheme == Scheme::srt && opened.code() == Errc::conflict)
            puller_.handle_refused(opened.error().sentence(), io::now());
        else
            puller_.handle_failed(opened.error().sentence(), io::now());
        return {};
    }
    puller_.handle_dialled(connection_.latency(), request_.is_sibling, io::now());
    if (!engine::relay::is_connected(state()))
        return {};
    if (const auto begun = begin(); !begun.ok())
        handle_error(begun.error());
    return {};
}

Result<void> Pull::open(io::Deadline deadline) {
    if (wanted_.origin.scheme != Scheme::srt)
        return connection_.dial(wanted_, moved_, deadline);
    const auto request = srt_request(wanted_, session::srt::Mode::request, path_);
    if (request.ok())
        return connection_.call(*request, deadline);
    puller_.handle_unusable(request.error().sentence(), io::now());
    return request.error();
}

Result<void> Pull::begin() {
    request_.ip = wanted_.origin.host;
    request_.peer = connection_.stream().peer();
    LOG_INFO(log_, "edge-pull publish url {}, origin={}", label_of(wanted_), puller_.status().origin);
    const bool is_worker = wanted_.origin.scheme == Scheme::worker;
    const std::string vhost = stated_vhost(wanted_);
    const RelayedRequest relayed{RelayedRequest::Role::play, vhost, wanted_.app, wanted_.stream, path_};
    const Introduction introduction{path_, proof_for(relayed, wanted_.is_trusted ? options_.secret : ""),
                                    age_of_newest(stream_->source().ring()), is_worker ? plan_.url : std::string(),
                                    context_.tracer != nullptr ? context_.tracer->field_of(request_) : std::string()};
    return connection_.begin(wanted_, options_, introduction, request_);
}

// The origin chooses the target. A target that the operator has not named receives no proof, and some addresses are not dialled:
// see rtmp_client::Target::sent_by.
void Pull::follow_redirect() {
    const std::string& url = puller_.status().redirect_url;
    LOG_INFO(log_, "edge-pull redirect, RTMP redirect from {} to {}", puller_.status().origin, redacted(url));
    auto target = relay::follow_redirect(wanted_, url);
    if (!target.ok()) {
        const std::string why = target.error().sentence();
        LOG_WARN(log_, "edge-pull redirect is not followed, stream={}: {}", plan_.url, why);
        return puller_.handle_unusable(why, io::now());
    }
    const bool is_known = resolver_.knows(target->origin.host, target->origin.port, options_);
    const auto sender = parse_host(request_.peer);
    target->is_trusted = wanted_.is_trusted && is_known && keeps_trust(wanted_, *target);
    target->sent_by = is_known ? std::string() : sender.ok() ? sender->host : "an unknown server";
    wanted_ = *std::move(target);
    puller_.handle_redirect_target(wanted_.origin.text(), io::now());
}

Result<void> Pull::check_location(io::Deadline deadline) {
    const ClusterOptions* options = context_.options.find(plan_.vhost);
    if (options == nullptr)
        return {};
    const Location location =
        resolver_.find(plan_.url, *options, deadline.sooner(io::Deadline::after(SilenceWatch::kSilenceMin)));
    // Without a known owner, the existing connection is the best one.
    const auto* located = std::get_if<Located>(&location);
    const auto is_asked = [this](const Origin& origin) { return origin.text() == puller_.status().asked; };
    puller_.handle_location(located != nullptr && located->epoch != 0 && std::ranges::none_of(located->origins, is_asked),
                            io::now());
    return {};
}

Result<void> Pull::exchange(io::Deadline deadline) {
    auto exchanged = send_and_receive(deadline);
    if (is_cancelled(exchanged))
        return exchanged;
    if (!exchanged.ok())
        handle_error(exchanged.error());
    return {};
}

Result<void> Pull::send_and_receive(io::Deadline deadline) {
    const io::Deadline until = deadline.sooner(next_decision());
    const bool is_starting = engine::relay::is_starting(state());
    const auto sent = connection_.send(is_starting ? until : deadline.sooner(io::Deadline::after(Puller::kStartLimit)));
    // The origin has not answered in time: the puller decides the next action.
    if (is_starting && !sent.ok() && sent.code() == Errc::timed_out && until.expired())
        return {};
    TRY(sent);
    const auto ready = TRY(connection_.stream().wait_ready(io::Interest::readable, &wake_, until));
    if (!engine::relay::is_connected(state()))
        return {};
    if (stream_->is_replaced()) {
        puller_.stop(io::now());
        return {};
    }
    bool any = false;
    while (ready.readable && engine::relay::is_connected(state())) {
        const auto count = connection_.read(io::now());
        if (!count.ok() && count.code() == Errc::need_more)
            break;
        TRY(handle_events(any));
        TRY(count);
        if (*count < context_.dial.scratch.size() || io::is_turn_over())
            break;
    }
    if (!any)
        return {};
    if (is_playing())
        wake_clients();
    // The publication may be over afterwards.
    TRY(session::encode_rest(stream_->source(), deadline));
    stream_->source().flush();
    return {};
}

// Fails if the stream cannot be published.
Result<void> Pull::handle_events(bool& any) {
    const TimePoint now = io::now();
    Upstream& upstream = connection_.upstream();
    if (upstream.is_started())
        puller_.handle_started(now);
    stream_->note_arrival(now);
    while (auto event = upstream.poll_event()) {
        if (auto* media = std::get_if<engine::rtmp::GotMedia>(&*event)) {
            any = TRY(stream_->push(*media, upstream.keeps_timeline())) || any;
        } else if (auto* frame = std::get_if<GotFrame>(&*event)) {
            any = TRY(stream_->push(*frame)) || any;
        } else if (const auto* refused = std::get_if<Refused>(&*event)) {
            puller_.handle_refused(refused->sentence, now);
        } else if (auto* redirected = std::get_if<Redirected>(&*event)) {
            const bool http = is_http(wanted_.origin.scheme);
            puller_.handle_redirect(std::move(redirected->url), http ? Puller::kHttpRedirectsMax : Puller::kRtmpRedirectsMax,
                                    now);
        } else if (const auto* ended = std::get_if<Ended>(&*event)) {
            handle_end(*ended);
        } else if (const auto* warning = std::get_if<engine::rtmp::PeerWarning>(&*event)) {
            LOG_WARN(log_, "edge-pull {}: {}", puller_.status().origin, warning->sentence);
        }
    }
    if (upstream.has_answered())
        puller_.handle_answered(now);
    if (upstream.is_started())
        puller_.handle_started(now);
    return {};
}

// The origin is up, and the publisher may return soon: its media begin a new publication.
void Pull::handle_end(const Ended& ended) {
    LOG_INFO(log_, "edge-pull the stream ended at the origin, stream={}: {}", plan_.url, ended.sentence);
    stream_->note_stream_ended();
    puller_.handle_stream_ended(io::now());
    if (ended.is_final)
        puller_.handle_refused(ended.sentence, io::now());
}

void Pull::handle_error(const Error& error) {
    if (error.code() == Errc::not_found)
        puller_.handle_refused(error.sentence(), io::now());
    else
        puller_.handle_failed(error.sentence(), io::now());
}

// The publication is kept: the next origin takes over.
void Pull::close_connection() {
    connection_.close();
    stream_->end_connection();
}

void Pull::log_notice() {
    const auto notice = puller_.take_notice();
    if (!notice)
        return;
    if (notice->kind == PullNotice::Kind::failed)
        LOG_WARN(log_, "edge-pull origin disconnected, retry. stream={}, origin={}: {}", plan_.url, notice->origin,
                 notice->sentence);
    else
        LOG_INFO(log_, "edge-pull is refused, stream={}, origin={}: {}", plan_.url, notice->origin, notice->sentence);
}

io::Deadline Pull::next_decision() const {
    const auto at = puller_.deadline();
    return at ? io::Deadline::at(*at) : io::Deadline::never();
}

engine::relay::PullRules Pull::rules() const {
    const ClusterOptions* options = context_.options.find(plan_.vhost);
    if (options == nullptr)
        return {.may_pull = false};
    const bool has_siblings = context_.has_siblings && context_.has_siblings();
    return {may_pull(*options) || has_siblings, options->by_registry || has_siblings, options->linger};
}

TimePoint Pull::silence_from(TimePoint start) const { return io::silence_from(start); }

void Pull::give_way() {
    if (is_over())
        return;
    LOG_INFO(log_, "edge-pull gives way to a publisher on this node, stream={}", plan_.url);
    puller_.handle_local_publisher(io::now());
    if (stream_)
        stream_->unpublish();
    wake_clients();
    wake_.raise();
}

void Pull::look_again() {
    puller_.handle_moved();
    wake_.raise();
    moved_.raise();
}

void Pull::update_demand() {
    puller_.set_demand(!waiting_.empty() || (viewers_ && viewers_->source().readers().is_watched()), io::now());
    wake_.raise();
}

void Pull::wake_clients() {
    for (Signal* signal : waiting_)
        signal->raise();
}

Result<void> Pull::wait_for_media(io::Deadline deadline) {
    Signal signal;
    waiting_.push_back(&signal);
    update_demand();
    Result<void> waited;
    while (waited.ok() && !is_playing() && !is_over() && state() != PullState::resting)
        waited = io::wait(signal, deadline);
    std::erase(waiting_, &signal);
    update_demand();
    if (is_cancelled(waited))
        return waited;
    if (is_playing() || state() == PullState::replaced)
        return {};
    const std::string& why = puller_.status().last_error;
    if (state() == PullState::resting)
        return Error(Errc::limit, why);
    return Error(Errc::not_found,
                 why.empty() ? "no origin has sent the stream in time" : "no origin has sent the stream in time: " + why);
}

session::ClientFigures Pull::figures() const {
    session::ClientFigures figures;
    figures.received_bytes = connection_.bytes_received();
    return figures;
}

void Pull::kick(std::string reason) {
    puller_.handle_kick(std::move(reason));
    wake_.raise();
}

void Pull::lose_stream(std::string why) {
    if (is_over())
        return;
    LOG_WARN(log_, "edge-pull pauses because memory is short, stream={}: {}", plan_.url, why);
    puller_.handle_memory_lost(std::move(why), io::now());
    if (stream_)
        stream_->unpublish();
    wake_clients();
    wake_.raise();
}

PullFacts Pull::facts() const {
    const engine::relay::PullStatus& status = puller_.status();
    const OriginHealth::Record* record = health_.find(status.origin);
    return {plan_.url,    plan_.vhost,  status.origin,     phase_of(status.state),
            status.since, status.tries, status.last_error, record == nullptr ? Duration() : record->rtt};
}

}  // namespace live::service::relay
