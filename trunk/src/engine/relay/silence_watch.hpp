// SilenceWatch: measures the gaps between the media of a pull, and decides when its origin is silent. Dry: time is passed in.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "engine/relay/origin_health.hpp"

namespace live::engine::relay {

class SilenceWatch {
public:
    // An origin whose frames arrive without a key frame for this long counts as silent.
    static constexpr std::chrono::seconds kKeyLimit{60};
    // The limit of silence after media: twice the longest gap on the connection, or the silence for which the origin was left
    // before, within these bounds. It is the upper bound while other streams arrive from the origin. The upper bound is the
    // virtual host's normal_timeout if that is longer.
    static constexpr std::chrono::milliseconds kSilenceMin{1'000};
    static constexpr std::chrono::milliseconds kSilenceMax{5'000};
    // For another worker of this server: the connection loses nothing, and the master ends a worker that hangs.
    static constexpr std::chrono::hours kSilenceOfWorker{24};
    // The shortest time between two reports of media to OriginHealth.
    static constexpr std::chrono::milliseconds kReportInterval{100};

    // `limit`: an upper bound of silence if it is longer than kSilenceMax.
    SilenceWatch(OriginHealth& health, Duration limit, TimePoint now)
        : health_(health), limit_max_(std::max<Duration>(kSilenceMax, limit)), media_at_(now) {}

    // A connection to this origin begins. An origin that was left for its silence may have a stream with gaps of that length.
    void begin_connection(const std::string& origin) {
        origin_ = origin;
        is_worker_ = false;
        longest_gap_ = silent_origin_ == origin ? silence_ : Duration::zero();
    }
    void set_worker() { is_worker_ = true; }
    // The origin has agreed to send media, or has ended the stream.
    void begin_waiting(TimePoint now) { waiting_since_ = key_wait_since_ = now; }
    void forget_gaps() { longest_gap_ = silence_ = Duration::zero(); }
    // The pull publishes its first media on this connection.
    void begin_media(TimePoint now) { media_at_ = now; }

    void note_media(TimePoint now) {
        longest_gap_ = std::max<Duration>(longest_gap_, now - media_at_);
        media_at_ = now;
        report(now);
    }
    // A frame was dropped while the pull waits for a key frame. It proves that the origin has the stream, and a key frame from
    // another origin would not arrive sooner.
    void note_dropped(TimePoint now) {
        if (now - key_wait_since_ >= kKeyLimit)
            return;
        waiting_since_ = media_at_ = now;
        report(now);
    }
    // The origin is left because it was silent.
    void note_silence(Duration length) {
        silence_ = length;
        silent_origin_ = origin_;
    }

    TimePoint waiting_since() const { return waiting_since_; }
    TimePoint media_at() const { return media_at_; }
    Duration limit() const {
        if (is_worker_)
            return kSilenceOfWorker;
        return is_origin_alive() ? limit_max_ : std::clamp<Duration>(2 * longest_gap_, kSilenceMin, limit_max_);
    }
    // Reports whether other streams arrived from the origin well after the last media of this one: then the publisher is silent,
    // and not the origin.
    bool is_origin_alive() const { return health_.has_media_after(origin_, media_at_ + kSilenceMin / 2); }

private:
    void report(TimePoint now) {
        if (now - reported_at_ < kReportInterval)
            return;
        reported_at_ = now;
        health_.note_media(origin_, now);
    }

    OriginHealth& health_;
    const Duration limit_max_;
    std::string origin_;
    bool is_worker_ = false;
    TimePoint waiting_since_{};   // for the first media, or the first after the end of the stream
    TimePoint key_wait_since_{};  // the same; dropped frames do not change it
    TimePoint media_at_;
    TimePoint reported_at_{};
    Duration longest_gap_{};
    Duration silence_{};  // for which silent_origin_ was left
    std::string silent_origin_;
};

}  // namespace live::engine::relay
