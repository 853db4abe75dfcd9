// Segmenter: one stream as segments of video and segments of audio, which begin and end together, at key frames; a stream of one
// kind has segments of that kind alone. Packets go in; headers, segments and the chunks inside them come out as bytes. It knows
// media time only: no clock, no file. Dry.
//
// Which kinds there are is decided anew for each segment: those that are known and have sent a frame of late. Another answer than
// before needs other headers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "base/block.hpp"
#include "base/time.hpp"
#include "media/packet.hpp"
#include "wire/mp4/fragment_writer.hpp"
#include "wire/mp4/sample_reader.hpp"

namespace live::service::dash {

enum class Track : std::uint8_t { audio, video };
inline constexpr std::size_t kTrackCount = 2;
inline constexpr std::array kTracks = {Track::audio, Track::video};

inline std::size_t index_of(Track track) { return static_cast<std::size_t>(track); }

template <class T>
using PerTrack = std::array<T, kTrackCount>;

// What players need in front of the segments from here on.
struct Header {
    wire::mp4::TrackFormat format;
    Block bytes;
};
struct HeadersMade {
    PerTrack<std::optional<Header>> headers;  // none of a track that is not there
};

// A piece of the segment that is open, one fragment of each track that has something; a nullptr for a track that has not.
struct ChunkMade {
    std::uint64_t number = 0;
    bool begins = false;  // the segment
    MediaTime start{};    // of the segment
    MediaTime end{};      // of the chunk
    PerTrack<Block> blocks;
};

struct TrackSegment {
    MediaTime start{};
    MediaTime duration{};
    std::vector<Block> blocks;
    std::size_t bytes = 0;
};
// A segment is whole; its blocks are those of its chunks. A track without blocks is not there.
struct SegmentMade {
    std::uint64_t number = 0;
    PerTrack<TrackSegment> tracks;
};

// Chunks of this segment have been told, and it came to nothing: it lacks a track that its header has.
struct SegmentDropped {
    std::uint64_t number = 0;
};

using Made = std::variant<HeadersMade, ChunkMade, SegmentMade, SegmentDropped>;

class Segmenter {
public:
    // What is shorter, at the end of the stream, is left out; unless chunks of it have been told.
    static constexpr MediaTime kKeptMin = 100ms;
    // A segment that grows over this ends, and the next begins at a key frame.
    static constexpr std::size_t kSegmentBytesMax = 64 << 20;
    // A kind that has sent nothing for so long is not there; and so long the first segment waits for the other kind.
    static constexpr MediaTime kSilence = 1s;

    // A segment ends at the first key frame after `length`; of audio alone every frame is one. With `chunk` it is made in pieces
    // of that length.
    Segmenter(MediaTime length, std::optional<MediaTime> chunk) : length_(length), chunk_(chunk) {}

    void push(const media::Packet& packet);
    // Ends the segment where its last frame ends: the stream is over, or packets are missing. The next begins with a key frame.
    void finish();
    // The same, and what follows is another publisher's.
    void restart();
    // What was made since the last call, in order.
    std::vector<Made> take() { return std::exchange(made_, {}); }
    // Of the segment that is being made.
    std::size_t bytes() const { return begun_ ? bytes_ : 0; }
    // Of the next segment, or of the open one.
    std::uint64_t number() const { return number_; }

private:
    struct Writer {
        std::optional<wire::mp4::FragmentWriter> writer;
        TrackSegment segment;
        std::uint64_t start = 0;   // of the segment, in ticks
        std::uint64_t length = 0;  // so far
    };

    void push_sample(Track track, const wire::mp4::Sample& sample);
    void lead(const wire::mp4::Sample& sample);
    bool is_there(Track track, MediaTime now) const;
    bool is_current(Track track) const;
    bool can_begin(Track track, const wire::mp4::Sample& sample) const;
    void begin(Track track, const wire::mp4::Sample& sample);
    void renew_writers(MediaTime now);
    void report_headers();
    // None when there was nothing to cut.
    Block cut(Track track, std::optional<MediaTime> next);
    void end_chunk(std::optional<MediaTime> next);
    void end(std::optional<MediaTime> next);
    void drop();
    Writer& of(Track track) { return writers_[index_of(track)]; }
    const std::optional<wire::mp4::TrackFormat>& format(Track track) const {
        return track == Track::audio ? reader_.audio() : reader_.video();
    }
    bool is_full() const { return bytes_ >= kSegmentBytesMax; }

    MediaTime length_;
    std::optional<MediaTime> chunk_;
    std::uint64_t number_ = 0;
    wire::mp4::SampleReader reader_;
    std::uint32_t version_ = 0;                // of the reader, when the segment began
    PerTrack<std::optional<MediaTime>> seen_;  // the newest frame of each
    std::optional<MediaTime> first_;           // frame of this publisher, of either kind
    PerTrack<Writer> writers_;                 // of the tracks that are there
    Track leader_ = Track::video;              // whose frames say where segments begin: video where there is some
    std::optional<MediaTime> begun_;           // the open segment's first frame of the leader
    MediaTime chunk_start_{};
    MediaTime last_{};          // of the leader
    std::size_t bytes_ = 0;     // of the open segment
    bool told_chunks_ = false;  // of the open segment
    std::vector<Made> made_;
};

}  // namespace live::service::dash
