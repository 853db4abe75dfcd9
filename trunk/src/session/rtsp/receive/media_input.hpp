// MediaInput: the media of an RTSP publisher, or of a camera that is pulled: the packets of described tracks become frames of a
// publication. Packets of tracks that are not supported are dropped. Dry but for the clock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/log/log.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/rtsp/track_receiver.hpp"
#include "media/ingest/ingest.hpp"
#include "media/ingest/law_converter.hpp"
#include "media/ingest/rtp_track_reader.hpp"
#include "media/rtp/rtp_clock.hpp"
#include "media/source/publication.hpp"
#include "session/common/admission.hpp"
#include "session/rtsp/context.hpp"
#include "wire/rtsp/description.hpp"

namespace live::session::rtsp {

class MediaInput final : private media::AudioListener {
public:
    static constexpr std::chrono::seconds kReportInterval{5};
    // Tracks of one kind; further ones are not published.
    static constexpr std::size_t kTracksOfKindMax = 4;

    // The first supported track of audio and of video, or all supported tracks, with those of data.
    enum class Choice : std::uint8_t { first_of_each, all };
    // The tracks to publish, as indexes of the description; logs the others. Errc::unsupported without audio or video.
    static Result<std::vector<std::size_t>> choose(const wire::rtsp::Description& description, Choice choice, const Log& log);

    // `chosen` is the result of choose(). Everything referred to outlives this, but for the description.
    MediaInput(media::Publication& publication, const StreamPlan& plan, const wire::rtsp::Description& description,
               const std::vector<std::size_t>& chosen, Counters& counters, const Log& log);
    MediaInput(const MediaInput&) = delete;
    MediaInput& operator=(const MediaInput&) = delete;

    // G.711 is published as AAC, as far as this server can convert it.
    void convert_laws(media::AudioTranscoders* transcoders);
    // A packet of the track with that index in the description.
    void take(std::size_t index, bool is_rtcp, Bytes bytes, TimePoint now);
    // Publishes the packets whose wait for missing ones has expired.
    void drain(TimePoint now);
    // When drain() has something to do without further packets.
    std::optional<TimePoint> next_timeout() const;
    // A receiver report is due, once each kReportInterval.
    bool take_report_turn(TimePoint now);
    TimePoint report_at() const { return report_at_; }
    // Appends the report of a track; nothing without packets.
    void write_report(std::size_t index, TimePoint now, ByteWriter& out);

    std::size_t tracks() const { return tracks_.size(); }
    std::size_t held_bytes() const;
    // Sums over all tracks.
    engine::rtsp::TrackReceiver::Counters counters() const;
    bool got_media() const { return got_media_; }
    // Reports whether each track of audio and video has had a frame.
    bool have_all_begun() const;
    // When the last frame was published; at first, when this was made.
    TimePoint silent_since() const { return silent_since_; }
    void restart_silence(TimePoint now) { silent_since_ = now; }

private:
    struct Track {
        engine::rtsp::TrackReceiver receiver;
        std::unique_ptr<media::RtpTrackReader> reader;
        std::uint32_t clock_rate = 0;
        media::TrackId id{};
        // Among the tracks that are not the first of their kind, and those of data; nullopt: the first.
        std::optional<std::size_t> further{};
        bool has_begun = false;  // a frame was published
    };

    void drain(Track& track, TimePoint now);
    void push(Track& track, const engine::rtsp::TrackReceiver::Packet& packet);
    void publish(MediaKind kind, media::TrackId track, wire::codec::Frame frame);
    void publish_converted();
    // AudioListener: a worker thread has converted audio.
    void on_audio() override;

    media::Publication& publication_;
    media::Ingest ingest_;
    const media::BridgeOptions bridge_;
    const Log& log_;
    std::optional<media::LawConverter> laws_;
    Counters& counters_;
    std::vector<std::optional<Track>> tracks_;  // by index in the description; none: not published
    media::RtpClock clock_;
    TimePoint silent_since_;
    TimePoint report_at_;
    bool got_media_ = false;
};

}  // namespace live::session::rtsp
