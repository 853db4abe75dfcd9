#include "wire/mp4/movie_writer.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "wire/mp4/box.hpp"
#include "wire/mp4/movie_header.hpp"

namespace live::wire::mp4 {

namespace {

// A size of one means that the 64-bit size follows (ISO/IEC 14496-12, 4.2).
constexpr std::uint32_t kLargeSize = 1;
constexpr std::uint64_t kLargeHeaderBytes = 16;
// A placeholder of the same length, replaced by that header later.
constexpr std::string_view kPlaceholder = "free";
// The offset of that box: after ftyp.
constexpr std::uint64_t kTypeBytes = 28;
constexpr std::uint32_t kLoneSampleTicks = kVideoTimescale / 25;

std::uint64_t movie_ticks(MediaTime time) {
    return static_cast<std::uint64_t>(std::chrono::round<std::chrono::milliseconds>(time).count());
}
static_assert(kMovieTimescale == 1'000);

}  // namespace

void MovieWriter::begin(ByteWriter& out) {
    const std::size_t start = out.size();
    write_movie_type(out);
    CHECK(out.size() - start == kTypeBytes);
    {
        const Box placeholder(out, kPlaceholder);
        out.zeros(kLargeHeaderBytes - kBoxHeaderBytes);
    }
    position_ = out.size() - start;
    CHECK(position_ == kTypeBytes + kLargeHeaderBytes);
}

Result<std::size_t> MovieWriter::add_track(TrackFormat format) {
    if (tracks_.size() == kTracksMax)
        return Error(Errc::limit, "an MP4 file of more than " + std::to_string(kTracksMax) + " tracks");
    const TrackClock clock(format.timescale, format.sample_ticks);
    tracks_.push_back({.format = std::move(format), .clock = clock, .table = {}, .start = {}, .composition = {}, .held = {}});
    return tracks_.size() - 1;
}

Result<void> MovieWriter::push(std::size_t index, Sample sample) {
    Track& track = tracks_.at(index);
    if (track.table.samples() == kSamplesMax)
        return Error(Errc::limit, "an MP4 track of " + std::to_string(kSamplesMax) + " samples");
    if (held_samples_ == kHeldSamplesMax || sample.data.size() > kHeldBytesMax ||
        held_bytes_ > kHeldBytesMax - sample.data.size())
        return Error(Errc::limit, "too much MP4 media between two flushes");
    if (track.table.samples() == 0) {
        track.start = sample.dts;
        track.composition = std::max(sample.pts - sample.dts, MediaTime::zero());
    }
    track.table.add(track.clock.advance(sample.dts), track.clock.distance(sample.dts, sample.pts), sample.data.size(),
                    sample.key);
    held_bytes_ += sample.data.size();
    ++held_samples_;
    track.held.push_back(std::move(sample));
    return {};
}

void MovieWriter::flush(ByteWriter& out) {
    if (held_samples_ == 0)
        return;
    const std::size_t start = out.size();
    begin_fragments(out);
    position_ += out.size() - start;
    flush_fragment(out);
    flush_late_tracks(out);
    held_bytes_ = 0;
    held_samples_ = 0;
}

void MovieWriter::begin_fragments(ByteWriter& out) {
    if (fragments_)
        return;
    std::vector<TrackFormat> formats;
    for (const Track& track : tracks_)
        formats.push_back(track.format);
    fragments_.emplace(std::move(formats));
    fragments_->write_movie(out);
}

std::uint64_t MovieWriter::place_held(Track& track, std::uint64_t offset) {
    if (track.held.empty())
        return offset;
    track.table.end_chunk(offset);
    for (const Sample& sample : track.held)
        offset += sample.data.size();
    track.held.clear();
    return offset;
}

void MovieWriter::flush_fragment(ByteWriter& out) {
    const std::size_t count = fragments_->tracks().size();
    for (std::size_t i = 0; i < count; ++i)
        for (const Sample& sample : tracks_[i].held)
            MUST(fragments_->push(i, sample));
    const std::size_t media_bytes = fragments_->bytes();
    const std::size_t start = out.size();
    fragments_->cut(out);
    position_ += out.size() - start;
    // Media is at the end of a fragment, in track order.
    std::uint64_t offset = position_ - media_bytes;
    for (std::size_t i = 0; i < count; ++i)
        offset = place_held(tracks_[i], offset);
}

// Written in an mdat box that players of fragments ignore.
void MovieWriter::flush_late_tracks(ByteWriter& out) {
    for (std::size_t i = fragments_->tracks().size(); i < tracks_.size(); ++i) {
        if (tracks_[i].held.empty())
            continue;
        const std::size_t start = out.size();
        {
            const Box data(out, "mdat");
            for (const Sample& sample : tracks_[i].held)
                out.bytes(sample.data.bytes());
        }
        place_held(tracks_[i], position_ + kBoxHeaderBytes);
        position_ += out.size() - start;
    }
}

void MovieWriter::forget_behind(std::uint64_t end) {
    for (Track& track : tracks_) {
        track.table.forget_behind(end);
        track.held.clear();
    }
    position_ = std::min(position_, end);
    held_bytes_ = 0;
    held_samples_ = 0;
}

FilePatch MovieWriter::finish(ByteWriter& out) const {
    CHECK(held_samples_ == 0);
    const MediaTime origin = this->origin();
    std::uint64_t longest = 0;
    std::uint32_t used = 0;
    for (const Track& track : tracks_)
        longest = std::max(longest, movie_ticks_of(track, origin));
    {
        const Box movie(out, "moov");
        write_movie_header(out, longest, static_cast<std::uint32_t>(tracks_.size() + 1));
        for (const Track& track : tracks_) {
            if (track.table.samples() == 0)
                continue;
            const std::uint32_t last = last_ticks_of(track);
            const TrackHeader header = {.id = ++used,
                                        .media_ticks = track.table.ticks(last),
                                        .movie_ticks = movie_ticks_of(track, origin),
                                        .delay_ticks = movie_ticks(delay_of(track, origin)),
                                        .first_ticks = track.clock.ticks_of(track.composition)};
            write_track(out, header, track.format, [&] { track.table.write(out, last); });
        }
    }
    ByteWriter header;
    header.u32be(kLargeSize).text("mdat").u64be(position_ - kTypeBytes);
    return {.offset = kTypeBytes, .bytes = header.release()};
}

std::size_t MovieWriter::samples() const {
    std::size_t count = 0;
    for (const Track& track : tracks_)
        count += track.table.samples();
    return count;
}

MediaTime MovieWriter::duration() const {
    std::uint64_t longest = 0;
    for (const Track& track : tracks_)
        longest = std::max(longest, movie_ticks_of(track, origin()));
    return std::chrono::milliseconds(longest);
}

std::uint32_t MovieWriter::last_ticks_of(const Track& track) const {
    if (track.format.sample_ticks > 0)
        return track.format.sample_ticks;
    const std::uint32_t previous = track.table.previous_ticks();
    return previous > 0 ? previous : kLoneSampleTicks;
}

std::uint64_t MovieWriter::movie_ticks_of(const Track& track, MediaTime origin) const {
    if (track.table.samples() == 0)
        return 0;
    const std::uint64_t media = track.table.ticks(last_ticks_of(track));
    const std::uint64_t seconds = media / track.format.timescale;
    const std::uint64_t rest = media % track.format.timescale;
    return movie_ticks(delay_of(track, origin)) + seconds * kMovieTimescale + rest * kMovieTimescale / track.format.timescale;
}

// Until the first presentation. Without an edit, a track that begins first is presented by its own times.
MediaTime MovieWriter::delay_of(const Track& track, MediaTime origin) {
    const MediaTime late = track.start - origin;
    return movie_ticks(late) == 0 ? MediaTime::zero() : late + track.composition;
}

MediaTime MovieWriter::origin() const {
    MediaTime first = MediaTime::max();
    for (const Track& track : tracks_)
        if (track.table.samples() > 0)
            first = std::min(first, track.start);
    return first;
}

}  // namespace live::wire::mp4
