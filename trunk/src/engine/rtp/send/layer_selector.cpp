#include "engine/rtp/send/layer_selector.hpp"

#include <algorithm>
#include <utility>

namespace live::engine::rtp {

namespace {

// A better layer needs some room: its rate varies. A current one may exceed the estimate slightly, which varies too.
constexpr std::uint64_t with_room(std::uint64_t rate) { return rate + rate / 8; }
constexpr std::uint64_t without_room(std::uint64_t rate) { return rate - rate / 8; }

std::uint64_t video_part(std::uint64_t rate, std::uint64_t audio) { return rate > audio ? rate - audio : 0; }

// The next better layer; nothing if the current one is the best.
std::optional<std::size_t> next_better(std::span<const LayerState> layers, std::uint64_t current) {
    std::optional<std::size_t> next;
    for (std::size_t i = 0; i < layers.size(); ++i)
        if (layers[i].is_alive && is_better_layer(layers[i].rate, current) && (!next || layers[i].rate < layers[*next].rate))
            next = i;
    return next;
}

}  // namespace

LayerSelector::Decision LayerSelector::decide(TimePoint now, std::span<const LayerState> layers, std::uint64_t audio,
                                              const LinkState& link, Duration blocked, std::optional<std::size_t> shown) {
    Decision decision;
    const bool waits = waits_for_key(now, layers, shown);
    const bool waits_to_rise = waits && layers[*layer_].rate > layers[*shown].rate;
    // The smaller layer is not there yet.
    if (waits && !waits_to_rise)
        blocked = Duration{0};
    if (link.limits_met != limits_met_) {
        limits_met_ = link.limits_met;
        limit_met_ = now;
        if (padding_since_)
            pause(now);
    }
    if (!layer_ || *layer_ >= layers.size() || !layers[*layer_].is_alive) {
        const std::uint64_t fits = link.reports == LinkState::Reports::none ? UINT64_MAX : video_part(link.received, audio);
        if (const auto first = best_layer_within(layers, layer_ ? fits : fits == UINT64_MAX ? fits : 0))
            change(now, *first, layer_ ? Reason::lost : Reason::start, decision);
    } else if (waits_to_rise) {
        wait_to_rise(now, layers, audio, link, blocked, *shown, decision);
    } else if (link.reports == LinkState::Reports::none) {
        if (const auto best = best_layer_within(layers, UINT64_MAX);
            best && is_better_layer(layers[*best].rate, layers[*layer_].rate))
            change(now, *best, Reason::rise, decision);
    } else if (const auto lower = fall(now, layers, video_part(link.rate, audio), blocked)) {
        if (risen_ && now - *risen_ < kTrial)
            pause(now);
        change(now, *lower, blocked >= kBlockedMax ? Reason::blocked : Reason::estimate, decision);
    } else if (link.reports == LinkState::Reports::arrived && !waits) {
        // The estimate of a link that carries little is only a guess.
        const std::uint64_t proved = video_part(std::min(link.rate, link.received + link.received / 16), audio);
        if (const auto better = rise(now, layers, proved, link))
            change(now, *better, Reason::rise, decision);
        else if (const auto next = next_better(layers, layers[*layer_].rate))
            decision.padded_rate = padding(now, layers[*next], audio, link);
    }
    decision.layer = layer_;
    return decision;
}

void LayerSelector::begin_with(TimePoint now, std::size_t layer) {
    layer_ = layer;
    changed_ = now;
}

// Reports whether the player still gets another layer than the chosen one. Times count from the change.
bool LayerSelector::waits_for_key(TimePoint now, std::span<const LayerState> layers, std::optional<std::size_t> shown) {
    const auto is_alive = [layers](std::optional<std::size_t> layer) {
        return layer && *layer < layers.size() && layers[*layer].is_alive;
    };
    const bool waits = is_alive(shown) && is_alive(layer_) && shown != layer_;
    if (std::exchange(waits_, waits) && shown == layer_) {
        changed_ = now;
        if (risen_)
            risen_ = now;
        over_since_.reset();
    }
    return waits;
}

// The estimate would fall if only the smaller layer were sent.
void LayerSelector::wait_to_rise(TimePoint now, std::span<const LayerState> layers, std::uint64_t audio, const LinkState& link,
                                 Duration blocked, std::size_t shown, Decision& decision) {
    const std::uint64_t rate = layers[*layer_].rate;
    const bool is_over = link.may_pad && video_part(link.rate, audio) < without_room(rate);
    if (link.reports == LinkState::Reports::arrived && (is_over || blocked >= kBlockedMax)) {
        pause(now);
        change(now, shown, blocked >= kBlockedMax ? Reason::blocked : Reason::estimate, decision);
    } else if (link.may_pad && now - changed_ < kPaddingMax && link.queue <= kQueueMax) {
        decision.padded_rate = audio + with_room(rate);
    }
}

std::optional<std::size_t> LayerSelector::fall(TimePoint now, std::span<const LayerState> layers, std::uint64_t video,
                                               Duration blocked) {
    const std::uint64_t rate = layers[*layer_].rate;
    if (without_room(rate) <= video)
        over_since_.reset();
    else if (!over_since_)
        over_since_ = now;
    const bool is_over = over_since_ && now - *over_since_ >= kOverMax;
    if ((!is_over && blocked < kBlockedMax) || now - changed_ < kSettle)
        return std::nullopt;
    const auto lower = best_layer_within(layers, std::min(without_room(video), rate - 1));
    return lower && layers[*lower].rate < rate ? lower : std::nullopt;
}

std::optional<std::size_t> LayerSelector::rise(TimePoint now, std::span<const LayerState> layers, std::uint64_t proved,
                                               const LinkState& link) const {
    if (now - changed_ < kSettle || now < next_try_)
        return std::nullopt;
    const auto next = next_better(layers, layers[*layer_].rate);
    if (!next)
        return std::nullopt;
    if (with_room(layers[*next].rate) <= proved) {
        const auto best = best_layer_within(layers, without_room(proved));
        return best && layers[*best].rate > layers[*next].rate ? best : next;
    }
    const bool is_clear = now - std::max({changed_, limit_met_, link.lossy_at}) >= link.clear_min;
    return !link.may_pad && is_clear ? next : std::nullopt;
}

// Grows with what has arrived, so that a link which carries no more gets a short queue.
std::uint64_t LayerSelector::padding(TimePoint now, const LayerState& next, std::uint64_t audio, const LinkState& link) {
    if (!link.may_pad || now < next_try_ || link.queue > kQueueMax)
        return 0;
    if (!padding_since_)
        padding_since_ = now;
    if (now - *padding_since_ >= kPaddingMax) {
        pause(now);
        return 0;
    }
    const std::uint64_t enough = audio + with_room(with_room(next.rate));
    return std::min({enough, link.received + link.received / 2, link.rate});
}

void LayerSelector::pause(TimePoint now) {
    padding_since_.reset();
    next_try_ = now + pause_;
    pause_ = std::min(2 * pause_, kPauseMax);
}

void LayerSelector::change(TimePoint now, std::size_t to, Reason why, Decision& decision) {
    if (why == Reason::rise) {
        // The previous rise has lasted.
        if (!risen_ || now - *risen_ >= kTrial)
            pause_ = kPauseMin;
        risen_ = now;
    } else {
        risen_.reset();
    }
    layer_ = to;
    changed_ = now;
    over_since_.reset();
    padding_since_.reset();
    decision.changed = why;
}

}  // namespace live::engine::rtp
