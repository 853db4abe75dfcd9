// LayerSelector: chooses the layer of the video for one player by the estimate of its link, and requests padding where the
// estimate can only rise if more is sent. Dry: the caller gives the time, the layers and the link.
//
// A player starts with the smallest layer. It rises when the link has carried the rate of a better one, padding included, and
// falls when the estimate is too low for a while or frames wait for the link. A rise that fails is tried again later each time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/time.hpp"
#include "engine/rtp/layer_state.hpp"

namespace live::engine::rtp {

// The link to one player. Rates in bits per second, of audio and video together.
struct LinkState {
    enum class Reports : std::uint8_t {
        none,     // the player sends no reports: the link is unknown
        awaited,  // it will
        arrived,
    } reports = Reports::none;
    std::uint64_t rate = 0;        // the estimate
    std::uint64_t received = 0;    // by the player, lately
    std::uint64_t limits_met = 0;  // how often the estimate was lowered
    Duration queue{0};             // of the link, as last reported
    bool may_pad = false;          // padding can be sent
    // Without padding, a better layer is tried without proof once neither a limit nor loss has been seen for this long.
    Duration clear_min = std::chrono::seconds(5);
    TimePoint lossy_at{};  // the newest loss
};

class LayerSelector {
public:
    // Frames that wait for the link for this long show that the layer is too large for it; a layer above the estimate for
    // kOverMax, too.
    static constexpr std::chrono::milliseconds kBlockedMax{200};
    static constexpr std::chrono::milliseconds kOverMax{700};
    // No change within this time after another one: it waits for a key frame, which is long.
    static constexpr std::chrono::milliseconds kSettle{1'000};
    // The longest time of padding, and the pauses after padding that showed a limit, or after a rise that failed.
    static constexpr std::chrono::seconds kPaddingMax{8};
    // No padding is sent while the link has a longer queue.
    static constexpr std::chrono::milliseconds kQueueMax{20};
    static constexpr std::chrono::seconds kPauseMin{2};
    static constexpr std::chrono::seconds kPauseMax{60};
    // A rise has failed if the player falls again this soon.
    static constexpr std::chrono::seconds kTrial{10};

    enum class Reason : std::uint8_t { start, estimate, blocked, rise, lost };
    static constexpr std::size_t kReasons = 5;

    struct Decision {
        std::optional<std::size_t> layer;  // nothing while none is alive
        std::optional<Reason> changed;     // why it differs from the previous decision
        std::uint64_t padded_rate = 0;     // fill up to this rate with padding; 0: none
    };
    // `layers` in any order, which must not change; further ones may follow. `audio` is the rate of everything but the video.
    // `blocked` is how long frames wait for the link. `shown` is the layer that the player still gets while the chosen one has no
    // key frame yet, where a key frame cannot be requested: meanwhile padding proves that the link carries a better one.
    Decision decide(TimePoint now, std::span<const LayerState> layers, std::uint64_t audio, const LinkState& link,
                    Duration blocked, std::optional<std::size_t> shown = std::nullopt);
    // The player has this layer already.
    void begin_with(TimePoint now, std::size_t layer);

private:
    std::optional<std::size_t> fall(TimePoint now, std::span<const LayerState> layers, std::uint64_t video, Duration blocked);
    std::optional<std::size_t> rise(TimePoint now, std::span<const LayerState> layers, std::uint64_t proved,
                                    const LinkState& link) const;
    std::uint64_t padding(TimePoint now, const LayerState& next, std::uint64_t audio, const LinkState& link);
    bool waits_for_key(TimePoint now, std::span<const LayerState> layers, std::optional<std::size_t> shown);
    void wait_to_rise(TimePoint now, std::span<const LayerState> layers, std::uint64_t audio, const LinkState& link,
                      Duration blocked, std::size_t shown, Decision& decision);
    void pause(TimePoint now);
    void change(TimePoint now, std::size_t to, Reason why, Decision& decision);

    std::optional<std::size_t> layer_;
    bool waits_ = false;  // for a key frame of layer_
    TimePoint changed_{};
    std::optional<TimePoint> risen_;       // when the current layer was reached from below
    std::optional<TimePoint> over_since_;  // the layer exceeds the estimate
    std::optional<TimePoint> padding_since_;
    TimePoint next_try_{};
    std::chrono::seconds pause_ = kPauseMin;
    std::uint64_t limits_met_ = 0;
    TimePoint limit_met_{};
};

}  // namespace live::engine::rtp
