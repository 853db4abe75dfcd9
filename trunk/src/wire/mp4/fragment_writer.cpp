#include "wire/mp4/fragment_writer.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "wire/mp4/box.hpp"
#include "wire/mp4/movie_header.hpp"

namespace live::wire::mp4 {

namespace {

// ISO/IEC 14496-12, 8.8.3.1.
constexpr std::uint32_t kIsSync = 0x0200'0000;     // does not depend on other samples
constexpr std::uint32_t kIsNotSync = 0x0101'0000;  // depends on others, not a sync sample
// Duration of a frame that has no neighbour.
constexpr std::uint32_t kLoneFrameTicks = kVideoTimescale / 25;

std::uint32_t default_flags(MediaKind kind) { return kind == MediaKind::audio ? kIsSync : kIsNotSync; }

std::uint32_t first_guess(const TrackFormat& format) {
    constexpr std::uint32_t kLoneAudioFramesASecond = 50;
    if (format.sample_ticks > 0)
        return format.sample_ticks;
    return format.kind == MediaKind::video ? kLoneFrameTicks : std::max(1U, format.timescale / kLoneAudioFramesASecond);
}

}  // namespace

FragmentWriter::FragmentWriter(std::vector<TrackFormat> tracks) : formats_(std::move(tracks)) {
    CHECK(!formats_.empty() && formats_.size() <= kTracksMax);
    for (const TrackFormat& format : formats_)
        tracks_.push_back({.clock = TrackClock(format.timescale, format.sample_ticks),
                           .last_ticks = first_guess(format),
                           .entries = {},
                           .cut = {}});
}

void FragmentWriter::write_init(ByteWriter& out, MediaTime duration) const {
    write_fragmented_type(out);
    write_movie(out, duration);
}

void FragmentWriter::write_movie(ByteWriter& out, MediaTime duration) const {
    const Box movie(out, "moov");
    const TrackClock movie_clock(kMovieTimescale, 0);
    const std::uint64_t movie_ticks = movie_clock.ticks_of(duration);
    write_movie_header(out, movie_ticks, static_cast<std::uint32_t>(formats_.size() + 1));
    for (std::size_t i = 0; i < formats_.size(); ++i) {
        const TrackHeader header = {.id = static_cast<std::uint32_t>(i + 1),
                                    .media_ticks = tracks_[i].clock.ticks_of(duration),
                                    .movie_ticks = movie_ticks};
        write_track(out, header, formats_[i], [&out] {
            // Empty tables: the samples are in the fragments.
            for (const std::string_view type : {"stts", "stsc", "stco"}) {
                const Box box(out, type, 0, 0);
                out.u32be(0);
            }
            const Box sizes(out, "stsz", 0, 0);
            out.u32be(0).u32be(0);
        });
    }
    const Box extends(out, "mvex");
    for (std::size_t i = 0; i < formats_.size(); ++i) {
        const Box defaults(out, "trex", 0, 0);
        out.u32be(static_cast<std::uint32_t>(i + 1)).u32be(1).u32be(0).u32be(0).u32be(default_flags(formats_[i].kind));
    }
}

Result<void> FragmentWriter::push(std::size_t index, Sample sample) {
    Track& track = tracks_.at(index);
    if (samples_ == kSamplesMax)
        return Error(Errc::limit, "a fragment of " + std::to_string(kSamplesMax) + " samples");
    if (sample.data.size() > kBytesMax || bytes_ > kBytesMax - sample.data.size())
        return Error(Errc::limit, "a fragment of more than " + std::to_string(kBytesMax) + " bytes");
    Entry entry;
    entry.tick = track.clock.advance(sample.dts);
    entry.composition = track.clock.distance(sample.dts, sample.pts);
    entry.key = sample.key;
    entry.data = std::move(sample.data);
    ++samples_;
    bytes_ += entry.data.size();
    track.entries.push_back(std::move(entry));
    return {};
}

std::vector<std::uint32_t> FragmentWriter::durations_of(std::size_t index, std::optional<Next> next) {
    Track& track = tracks_[index];
    const auto& entries = track.entries;
    std::vector<std::uint32_t> durations(entries.size());
    const auto between = [](std::uint64_t from, std::uint64_t to) {
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(to - from, UINT32_MAX));
    };
    for (std::size_t i = 0; i + 1 < entries.size(); ++i)
        durations[i] = track.last_ticks = between(entries[i].tick, entries[i + 1].tick);
    if (next && next->track == index)
        track.last_ticks = between(entries.back().tick, track.clock.peek(next->dts));
    else if (formats_[index].sample_ticks > 0)
        track.last_ticks = formats_[index].sample_ticks;
    durations.back() = track.last_ticks;
    return durations;
}

void FragmentWriter::cut(ByteWriter& out, std::optional<Next> next) {
    for (Track& track : tracks_)
        track.cut = {};
    if (empty())
        return;
    struct Patch {
        std::size_t at;
        std::size_t track;
    };
    std::vector<Patch> patches;
    out.reserve(bytes_ + samples_ * 16 + 256);
    const std::size_t start = out.size();
    {
        const Box fragment(out, "moof");
        {
            const Box header(out, "mfhd", 0, 0);
            out.u32be(sequence_++);
        }
        for (std::size_t i = 0; i < tracks_.size(); ++i) {
            if (tracks_[i].entries.empty())
                continue;
            const auto durations = durations_of(i, next);
            tracks_[i].cut = {tracks_[i].entries.front().tick,
                              std::accumulate(durations.begin(), durations.end(), std::uint64_t{0})};
            patches.push_back({write_track_fragment(out, i, durations), i});
        }
    }
    const Box data(out, "mdat");
    for (const Patch& patch : patches) {
        out.patch_u32be(patch.at, static_cast<std::uint32_t>(out.size() - start));
        for (const Entry& entry : tracks_[patch.track].entries)
            out.bytes(entry.data.bytes());
        tracks_[patch.track].entries.clear();
    }
    samples_ = 0;
    bytes_ = 0;
}

FragmentWriter::State FragmentWriter::state() const {
    State state{sequence_, {}};
    for (const Track& track : tracks_)
        state.tracks.push_back({track.clock.last(), track.last_ticks});
    return state;
}

void FragmentWriter::restore(const State& state) {
    sequence_ = state.sequence;
    for (std::size_t i = 0; i < std::min(tracks_.size(), state.tracks.size()); ++i) {
        tracks_[i].clock.restore(state.tracks[i].tick);
        tracks_[i].last_ticks = state.tracks[i].last_ticks;
    }
}

// 8.8.6 to 8.8.8 and 8.8.12.
std::size_t FragmentWriter::write_track_fragment(ByteWriter& out, std::size_t index,
                                                 const std::vector<std::uint32_t>& durations) const {
    enum HeaderFlags : std::uint32_t { kDefaultDuration = 0x8, kBaseIsMoof = 0x2'0000 };
    enum RunFlags : std::uint32_t { kDataOffset = 0x1, kDuration = 0x100, kSize = 0x200, kFlags = 0x400, kComposition = 0x800 };
    const auto& entries = tracks_[index].entries;
    const bool same_durations =
        std::all_of(durations.begin(), durations.end(), [&](auto ticks) { return ticks == durations[0]; });
    const bool has_flags = formats_[index].kind == MediaKind::video;
    const bool has_composition =
        std::any_of(entries.begin(), entries.end(), [](const Entry& entry) { return entry.composition != 0; });
    const Box fragment(out, "traf");
    {
        const Box header(out, "tfhd", 0, kBaseIsMoof | (same_durations ? kDefaultDuration : 0U));
        out.u32be(static_cast<std::uint32_t>(index + 1));
        if (same_durations)
            out.u32be(durations[0]);
    }
    {
        const Box time(out, "tfdt", 1, 0);
        out.u64be(entries.front().tick);
    }
    const Box run(out, "trun", 1,
                  kDataOffset | kSize | (same_durations ? 0U : kDuration) | (has_flags ? kFlags : 0U) |
                      (has_composition ? kComposition : 0U));
    out.u32be(static_cast<std::uint32_t>(entries.size()));
    const std::size_t offset_at = out.size();
    out.u32be(0);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (!same_durations)
            out.u32be(durations[i]);
        out.u32be(static_cast<std::uint32_t>(entries[i].data.size()));
        if (has_flags)
            out.u32be(entries[i].key ? kIsSync : kIsNotSync);
        if (has_composition)
            out.u32be(static_cast<std::uint32_t>(entries[i].composition));
    }
    return offset_at;
}

void write_segment_type(ByteWriter& out) {
    const Box box(out, "styp");
    out.text("msdh").u32be(0).text("msdh").text("msix").text("cmfs");
}

}  // namespace live::wire::mp4
