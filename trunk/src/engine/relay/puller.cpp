#include "engine/relay/puller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace live::engine::relay {

using std::chrono::milliseconds;

namespace {

// After a look-up that found no origin.
constexpr std::chrono::seconds kNoOriginPause{1};

std::optional<TimePoint> earliest(std::optional<TimePoint> one, std::optional<TimePoint> other) {
    if (!one || !other)
        return one ? one : other;
    return std::min(*one, *other);
}

// SplitMix64.
std::uint32_t next_random(std::uint64_t& state) {
    state += 0x9E3779B97F4A7C15;
    std::uint64_t mixed = (state ^ (state >> 30U)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EB;
    return static_cast<std::uint32_t>((mixed ^ (mixed >> 31U)) >> 32U);
}

}  // namespace

PullPhase phase_of(PullState state) {
    if (has_media(state))
        return PullPhase::playing;
    return state == PullState::waiting || state == PullState::ended ? PullPhase::waiting : PullPhase::connecting;
}

Puller::Puller(const PullEnvironment& environment, OriginHealth& health, std::string stream, Limits limits, std::uint64_t seed,
               TimePoint now)
    : environment_(environment),
      health_(health),
      stream_(std::move(stream)),
      random_state_(seed),
      silence_(health, limits.silence_max, now),
      unneeded_since_(now) {
    status_.since = now;
}

PullAction Puller::next_action(TimePoint now) {
    switch (status_.state) {
        case PullState::choosing: return choose(now);
        case PullState::pausing:
        case PullState::resting: return continue_pause(now);
        case PullState::dialling: return PullAction::dial;
        case PullState::redirected: return PullAction::follow_redirect;
        case PullState::requesting:
        case PullState::answered:
        case PullState::waiting:
        case PullState::ended:
        case PullState::without_key:
        case PullState::playing: return continue_connection(now);
        case PullState::over:
        case PullState::replaced: break;
    }
    return PullAction::stop;
}

std::optional<TimePoint> Puller::deadline() const {
    switch (status_.state) {
        case PullState::choosing:
        case PullState::dialling:
        case PullState::requesting:
        case PullState::answered: return until_;
        case PullState::pausing:
        case PullState::resting: return earliest(until_, earliest(need_ends(), gone_at()));
        case PullState::waiting:
        case PullState::ended:
        case PullState::without_key:
        case PullState::playing: return earliest(silent_at(), earliest(need_ends(), gone_at()));
        case PullState::redirected:
        case PullState::over:
        case PullState::replaced: break;
    }
    return std::nullopt;
}

std::optional<PullNotice> Puller::take_notice() { return std::exchange(notice_, std::nullopt); }

// The end of a pull is final.
void Puller::set_state(PullState state, TimePoint now) {
    if (is_over(status_.state))
        return;
    if (phase_of(state) != phase_of(status_.state))
        status_.since = now;
    status_.state = state;
}

PullAction Puller::choose(TimePoint now) {
    if (const auto gone = gone_at(); gone && now >= *gone)
        return PullAction::unpublish;
    if (!is_needed(now) || !environment_.rules().may_pull) {
        stop(now);
        return PullAction::stop;
    }
    is_move_pending_ = false;
    until_ = now + kStartLimit;
    return PullAction::find_origins;
}

PullAction Puller::continue_pause(TimePoint now) {
    if (const auto gone = gone_at(); gone && now >= *gone)
        return PullAction::unpublish;
    const bool is_resting = status_.state == PullState::resting;
    if (std::exchange(is_move_pending_, false) && !is_resting)
        until_ = now;
    if (is_needed(now) && now < until_)
        return PullAction::wait;
    if (is_needed(now) && is_resting && environment_.is_short_of_memory()) {
        until_ = now + kMemoryPause;
        return PullAction::wait;
    }
    set_state(PullState::choosing, now);
    return choose(now);
}

PullAction Puller::continue_connection(TimePoint now) {
    if (std::exchange(is_move_pending_, false) && environment_.rules().may_move)
        return PullAction::check_location;
    if (is_starting(status_.state)) {
        check_start(now);
    } else {
        if (const auto gone = gone_at(); gone && now >= *gone)
            return PullAction::unpublish;
        check_media(now);
    }
    return is_connected(status_.state) ? PullAction::exchange : next_action(now);
}

void Puller::check_start(TimePoint now) {
    if (now < until_)
        return;
    // An edge answers before its own origin has: an origin that lacks this stream, but sends others, is up.
    if (status_.state == PullState::answered || health_.has_media_after(status_.origin, attempt_.began))
        leave(Leave::refused, "the origin has not begun the stream in time", now);
    else
        leave(Leave::failed, "nothing came from the origin", now);
}

void Puller::check_media(TimePoint now) {
    if (!kick_reason_.empty())
        return leave(Leave::failed, std::exchange(kick_reason_, {}), now);
    if (!is_needed(now))
        return stop(now);
    const auto silent = silent_at();
    if (!silent || now < *silent)
        return;
    if (!has_media(status_.state))
        return leave(Leave::without_fault, "the origin has no media", now);
    const Duration length = now - environment_.silence_from(silence_.media_at());
    const bool is_alive = silence_.is_origin_alive();
    silence_.note_silence(length);
    leave(is_alive ? Leave::without_fault : Leave::failed, fmt::format("no media for {} ms", length / milliseconds(1)), now);
}

bool Puller::is_needed(TimePoint now) const {
    const auto ends = need_ends();
    return !ends || now < *ends;
}

std::optional<TimePoint> Puller::need_ends() const {
    if (!unneeded_since_)
        return std::nullopt;
    return *unneeded_since_ + (media_try_ == 0 ? kLingerWithoutMedia : environment_.rules().linger);
}

std::optional<TimePoint> Puller::gone_at() const {
    if (!kept_for_ || has_media(status_.state))
        return std::nullopt;
    return silence_.media_at() + *kept_for_;
}

// The target of a redirect has a limit in any case: two nodes that were redirected to each other would wait forever.
std::optional<TimePoint> Puller::silent_at() const {
    if (has_media(status_.state))
        return environment_.silence_from(silence_.media_at()) + silence_.limit();
    if (!attempt_.has_others && attempt_.redirects == 0)
        return std::nullopt;
    const Duration limit = attempt_.has_others ? kFirstMediaLimit : Duration(SilenceWatch::kSilenceMax);
    return environment_.silence_from(silence_.waiting_since()) + limit + attempt_.latency;
}

void Puller::begin_attempt(const std::string& origin, TimePoint now) {
    ++status_.tries;
    status_.origin = origin;
    attempt_.began = now;
    attempt_.is_worker = false;
    attempt_.latency = Duration::zero();
    silence_.begin_connection(origin);
    if (kept_for_)
        kept_for_ = kGoneAfter;
    until_ = now + kStartLimit;
    set_state(PullState::dialling, now);
}

void Puller::pause(Duration length, TimePoint now) {
    until_ = now + length;
    set_state(PullState::pausing, now);
}

void Puller::leave(Leave why, const std::string& sentence, TimePoint now) {
    if (!is_connected(status_.state) && status_.state != PullState::dialling)
        return;
    if (why == Leave::failed) {
        health_.report_down(status_.origin, sentence, now, next_random(random_state_));
        notice_ = PullNotice{PullNotice::Kind::failed, status_.origin, sentence};
    } else if (why == Leave::refused && is_starting(status_.state)) {
        health_.report_up(status_.origin, now - attempt_.began, now);
    }
    // A refusal may be repeated until the player gives up.
    if (why == Leave::refused && sentence != status_.last_error)
        notice_ = PullNotice{PullNotice::Kind::refused, status_.origin, sentence};
    if (why != Leave::unheard)
        left_.add(status_.origin);
    if (!sentence.empty())
        status_.last_error = sentence;
    // No backoff delays the next redirect to this target.
    const bool is_useless_target = attempt_.redirects > 0 && media_try_ != status_.tries;
    if (why == Leave::refused || is_useless_target)
        pause(kRefusedPause, now);
    else
        set_state(PullState::choosing, now);
}

void Puller::set_demand(bool exists, TimePoint now) { unneeded_since_ = exists ? std::nullopt : std::optional(now); }

std::optional<std::size_t> Puller::handle_origins(std::span<const std::string> origins, TimePoint now) {
    if (status_.state != PullState::choosing || is_move_pending_ || !is_needed(now))
        return std::nullopt;
    const auto choice = health_.choose(origins, stream_, left_, now);
    if (!choice) {
        handle_no_origins("the stream has no origin", kNoOriginPause, now);
        return std::nullopt;
    }
    if (choice->wait > Duration::zero()) {
        pause(choice->wait, now);
        return std::nullopt;
    }
    status_.asked = origins[choice->index];
    attempt_.has_others = origins.size() > 1;
    attempt_.redirects = 0;
    begin_attempt(status_.asked, now);
    return choice->index;
}

void Puller::handle_no_origins(const std::string& why, Duration retry_after, TimePoint now) {
    if (status_.state != PullState::choosing)
        return;
    if (!why.empty())
        status_.last_error = why;
    pause(retry_after, now);
}

void Puller::handle_dialled(Duration latency, bool is_worker, TimePoint now) {
    if (status_.state != PullState::dialling)
        return;
    attempt_.latency = latency;
    attempt_.is_worker = is_worker;
    if (is_worker)
        silence_.set_worker();
    set_state(PullState::requesting, now);
}

bool Puller::handle_dial_stopped(TimePoint now) {
    if (!is_move_pending_)
        return false;
    leave(Leave::unheard, {}, now);
    return true;
}

void Puller::handle_answered(TimePoint now) {
    if (status_.state == PullState::requesting)
        set_state(PullState::answered, now);
}

void Puller::handle_started(TimePoint now) {
    if (!is_connected(status_.state) || !is_starting(status_.state))
        return;
    health_.report_up(status_.origin, now - attempt_.began, now);
    silence_.begin_waiting(now);
    set_state(PullState::waiting, now);
}

FrameUse Puller::handle_frame(FrameKind kind, TimePoint now) {
    handle_started(now);
    if (!is_connected(status_.state))
        return FrameUse::drop;
    // Existing readers could not decode it.
    if (kind == FrameKind::delta && status_.state != PullState::playing) {
        silence_.note_dropped(now);
        return FrameUse::drop;
    }
    if (!has_media(status_.state))
        return FrameUse::publish;
    if (kind == FrameKind::key)
        set_state(PullState::playing, now);
    silence_.note_media(now);
    return FrameUse::pass;
}

bool Puller::handle_published(TimePoint now) {
    const bool is_failover = media_try_ != 0 && media_try_ != status_.tries;
    media_try_ = status_.tries;
    kept_for_ = kGoneAfter;
    left_.clear();
    silence_.begin_media(now);
    set_state(PullState::without_key, now);
    return is_failover;
}

void Puller::handle_stream_ended(TimePoint now) {
    if (!is_connected(status_.state))
        return;
    handle_started(now);
    const bool had_media = has_media(status_.state);
    // A worker reports the end only when its publisher has left: the publisher may only return on another worker.
    if (kept_for_)
        kept_for_ = had_media && attempt_.is_worker ? kGoneAfterOfWorker : kGoneAfter;
    silence_.forget_gaps();
    silence_.begin_waiting(now);
    set_state(had_media ? PullState::ended : PullState::waiting, now);
}

void Puller::handle_refused(const std::string& sentence, TimePoint now) { leave(Leave::refused, sentence, now); }

void Puller::handle_failed(const std::string& sentence, TimePoint now) { leave(Leave::failed, sentence, now); }

void Puller::handle_unusable(const std::string& sentence, TimePoint now) {
    if (status_.state == PullState::dialling && sentence != status_.last_error)
        notice_ = PullNotice{PullNotice::Kind::refused, status_.origin, sentence};
    left_.add(status_.origin);
    status_.last_error = sentence;
    pause(kRefusedPause, now);
}

void Puller::handle_redirect(std::string url, int redirects_max, TimePoint now) {
    if (!is_connected(status_.state))
        return;
    // It is no refusal in the log.
    status_.last_error = "the origin redirects to another server";
    if (attempt_.redirects >= redirects_max)
        return leave(Leave::refused, status_.last_error, now);
    if (is_starting(status_.state))
        health_.report_up(status_.origin, now - attempt_.began, now);
    left_.add(status_.origin);
    status_.redirect_url = std::move(url);
    set_state(PullState::redirected, now);
}

void Puller::handle_redirect_target(const std::string& origin, TimePoint now) {
    if (status_.state != PullState::redirected)
        return;
    if (!is_needed(now))
        return stop(now);
    ++attempt_.redirects;
    begin_attempt(origin, now);
}

void Puller::handle_moved() { is_move_pending_ = true; }

void Puller::handle_location(bool has_moved, TimePoint now) {
    if (!has_moved)
        return;
    // An origin that had no time to answer was not tried.
    leave(is_starting(status_.state) ? Leave::unheard : Leave::without_fault, {}, now);
}

void Puller::handle_kick(std::string reason) { kick_reason_ = reason.empty() ? "kicked" : std::move(reason); }

void Puller::handle_memory_lost(std::string why, TimePoint now) {
    if (is_connected(status_.state))
        left_.add(status_.origin);
    status_.last_error = std::move(why);
    kept_for_.reset();
    until_ = now + kMemoryPause;
    set_state(PullState::resting, now);
}

void Puller::handle_local_publisher(TimePoint now) {
    kept_for_.reset();
    set_state(PullState::replaced, now);
}

}  // namespace live::engine::relay
