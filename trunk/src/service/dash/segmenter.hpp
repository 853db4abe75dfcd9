// Segmenter: one stream as segments of pictures and segments of sound, which begin and end together, at key frames. Packets go
// in; headers, segments and the chunks inside them come out as bytes. It knows media time only: no clock, no file. Dry.
//
// Nothing comes out before both kinds are known: an MPD here has always both.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "base/time.hpp"
#include "io/replace_file.hpp"
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
    io::Block bytes;
};
struct HeadersMade {
    PerTrack<Header> headers;
};

// A piece of the segment that is open, one fragment of each track that has something; a nullptr for a track that has not.
struct ChunkMade {
    std::uint64_t number = 0;
    bool begins = false;  // the segment
    MediaTime start{};    // of the segment
    MediaTime end{};      // of the chunk
    PerTrack<io::Block> blocks;
};

struct TrackSegment {
    MediaTime start{};
    MediaTime duration{};
    std::vector<io::Block> blocks;
    std::size_t bytes = 0;
};
// A segment is whole; its blocks are those of its chunks.
struct SegmentMade {
    std::uint64_t number = 0;
    PerTrack<TrackSegment> tracks;
};

// Chunks of this segment have been told, and it came to nothing: it lacks pictures or sound.
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

    // A segment ends at the first key frame behind `length`. With `chunk` it is made in pieces of that length.
    Segmenter(MediaTime length, std::optional<MediaTime> chunk) : length_(length), chunk_(chunk) {}

    void push(const media::Packet& packet);
    // Ends the segment where its last frame ends: the stream is over, or packets are missing. The next begins with a key frame.
    void finish();
    // The same, and what follows is another publisher's.
    void restart();
    // What was made since the last call, in order.
    std::vector<Made> take() { return std::exchange(made_, {}); }
    // Of the next segment, or of the open one.
    std::uint64_t number() const { return number_; }

private:
    struct Writer {
        std::optional<wire::mp4::FragmentWriter> writer;
        TrackSegment segment;
        std::uint64_t start = 0;   // of the segment, in ticks
        std::uint64_t length = 0;  // so far
    };

    void push_video(const wire::mp4::Sample& sample);
    void begin(const wire::mp4::Sample& key);
    void renew_headers();
    // None when there was nothing to cut.
    io::Block cut(Track track, std::optional<MediaTime> next);
    void end_chunk(std::optional<MediaTime> next);
    void end(std::optional<MediaTime> next);
    void drop();
    Writer& of(Track track) { return writers_[index_of(track)]; }
    bool is_full() const { return bytes_ >= kSegmentBytesMax; }

    MediaTime length_;
    std::optional<MediaTime> chunk_;
    std::uint64_t number_ = 0;
    wire::mp4::SampleReader reader_;
    std::uint32_t version_ = 0;  // of the reader, when the segment began
    PerTrack<Writer> writers_;
    std::optional<MediaTime> begun_;  // the open segment's first picture
    MediaTime chunk_start_{};
    MediaTime last_picture_{};
    std::size_t bytes_ = 0;     // of the open segment
    bool told_chunks_ = false;  // of the open segment
    std::vector<Made> made_;
};

}  // namespace live::service::dash
