// RtpLogs: the RTP logs of a source, one for each track choice that has readers, and their converters. A publisher that brings
// RTP fills only the default log; the others are empty then.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/log/log.hpp"
#include "media/ring/options.hpp"
#include "media/ring/timeline.hpp"
#include "media/ring/track.hpp"
#include "media/rtp/rtp_log.hpp"
#include "media/source/retention.hpp"

namespace live::media {

class AudioTranscoders;
class FramesToRtp;

class RtpLogs {
public:
    // Track choices that are played at the same time; each one is converted separately.
    static constexpr std::size_t kMax = 32;

    // The other parts of the source, all of which must outlive this.
    struct Parts {
        const PlayOptions& options;
        const Retention& retention;
        const Timeline& timeline;
        const Tracks& tracks;
        const Publications& publications;
        Readers& readers;
    };
    explicit RtpLogs(const Parts& parts);
    ~RtpLogs();
    RtpLogs(const RtpLogs&) = delete;
    RtpLogs& operator=(const RtpLogs&) = delete;

    // A log exists while it is held. Each reader calls hold and release once.
    RtpLog& hold(const TrackChoice& choice = {});
    void release(const TrackChoice& choice = {});
    // The default log, for a publisher that fills it and does not count as a reader.
    RtpLog& hold_for_writer();
    void release_for_writer();
    // Converts some `bytes` more of the frames since the newest key frame for a new RTP log that is held; true: it has them all.
    // It also catches up with each packet that is appended.
    bool catch_up(const TrackChoice& choice, std::size_t bytes);
    // nullptr if it is not held.
    RtpLog* find(const TrackChoice& choice = {}) const;
    // Whether a log of this video track is held, other than the default log.
    bool reads_video(TrackId track) const {
        return std::ranges::any_of(logs_, [track](const Held& held) { return held.choice.video == track; });
    }
    // nullptr unless frames are being converted for the default RTP log.
    const FramesToRtp* converter() const;
    template <class Each>
    void for_each(Each&& each) const {
        for (const Held& held : logs_)
            each(*held.rtp_log);
    }
    // Whether an RTP log of these tracks exists or can be created.
    bool has_room_for(const TrackChoice& choice) const { return find(choice) != nullptr || logs_.size() < kMax; }
    bool has_listeners() const;
    std::size_t held_bytes() const;

    // Dependencies of the conversion in higher rooms: `transcoders` (may be nullptr) must outlive this; `log` receives its
    // messages.
    void set_conversion(AudioTranscoders* transcoders, const Log& log);
    const Log& log() const { return log_; }

    // For the source. Large frames, and those after them, are left to convert_some(); a log that lags because of that is
    // `is_lagging`.
    enum class Converted : std::uint8_t { all, left };
    Converted append(const Packet& packet, bool is_lagging);
    // Converts a frame that append() has left; false if there was none.
    bool convert_some();
    // Ends a batch.
    void flush() {
        for_each([](RtpLog& rtp_log) { rtp_log.flush(); });
    }
    void start_publisher();
    // Converters with unconverted frames remain until the next publisher starts or the last player leaves.
    void end_publisher();

private:
    // A log that has readers, or that the publisher fills.
    struct Held {
        TrackChoice choice;
        std::unique_ptr<RtpLog> rtp_log;
        std::unique_ptr<FramesToRtp> converter;
        std::size_t holders = 0;
        // The next packet that the converter takes, and the first one of which it takes audio.
        Sequence next = 0;
        Sequence audio_from = 0;
        bool has_caught_up = false;  // once; then it lacks at most what append() has left
    };
    using Logs = std::vector<Held>;

    Held& hold_log(const TrackChoice& choice);
    void release_log(const TrackChoice& choice);
    void start_conversion(Held& held);
    bool catch_up(Held& held, std::size_t bytes) const;

    Logs logs_;  // few; in order of creation
    const Parts parts_;
    AudioTranscoders* transcoders_ = nullptr;
    Log log_;
};

}  // namespace live::media
