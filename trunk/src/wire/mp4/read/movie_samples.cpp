#include "wire/mp4/read/movie_samples.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "wire/mp4/read/box_head.hpp"

namespace live::wire::mp4 {

namespace {

constexpr std::size_t kPartBytesMax = 1U << 20;
// Whole entries of each table.
constexpr std::size_t kBlockBytes = 12 * 340;
constexpr std::uint64_t kMovieTicksMax = std::uint64_t{1} << 56;
// Places are noted this many seconds apart, and at most so often.
constexpr std::uint64_t kNotedSeconds = 256;
constexpr std::size_t kNotedMax = 1'024;

Error damaged() { return {Errc::malformed, "an MP4 file whose index is damaged"}; }

bool is_container(std::uint32_t type) {
    return type == box_type("moov") || type == box_type("trak") || type == box_type("mdia") || type == box_type("minf") ||
           type == box_type("stbl") || type == box_type("edts");
}

std::int64_t ticks_on(std::uint64_t ticks, std::uint32_t from, std::uint32_t to) {
    return static_cast<std::int64_t>(ticks / from * to + ticks % from * to / from);
}

}  // namespace

Result<bool> MovieSamples::prepare(const Wanted&, const ReadAt& read) {
    TRY(read_boxes(0, size_, 0, read));
    if (!has_movie_)
        return Error(Errc::unsupported, "an MP4 file without an index");
    lay_out();
    return true;
}

Result<void> MovieSamples::read_boxes(std::uint64_t at, std::uint64_t end, int depth, const ReadAt& read) {
    constexpr std::size_t kBoxesMax = 1'024;
    for (std::size_t box = 0; box < kBoxesMax && at < end && (depth > 0 || !has_movie_); ++box) {
        const BoxStart head = TRY(read_box_head_of(TRY(read(at, BoxStart::kBytesMax))));
        if (head.size > end - at)
            return Error(Errc::need_more, "an MP4 file that is not complete");
        TRY(read_box(head.type, at + head.head_bytes, head.size - head.head_bytes, depth, read));
        at += head.size;
    }
    return {};
}

Result<void> MovieSamples::read_box(std::uint32_t type, std::uint64_t at, std::uint64_t bytes, int depth, const ReadAt& read) {
    constexpr int kDepthMax = 5;
    if ((depth == 0) != (type == box_type("moov")))
        return {};
    has_movie_ = true;
    if (type == box_type("trak")) {
        if (tracks_.size() == FragmentedHeader::kTracksMax)
            return Error(Errc::limit, "a movie of too many tracks");
        tracks_.emplace_back();
    }
    if (is_container(type))
        return depth < kDepthMax ? read_boxes(at, at + bytes, depth + 1, read) : damaged();
    const bool is_part = type == box_type("mvhd") || type == box_type("tkhd") || type == box_type("mdhd") ||
                         type == box_type("hdlr") || type == box_type("stsd") || type == box_type("elst");
    if (!is_part)
        return tracks_.empty() ? Result<void>() : note_table(type, at, bytes, read);
    if (bytes > kPartBytesMax)
        return Error(Errc::limit, "an MP4 file with a box that is too long");
    const auto content = TRY(read(at, static_cast<std::size_t>(bytes)));
    ByteReader in(content);
    if (type == box_type("mvhd")) {
        const bool is_long = TRY(in.u8()) == 1;
        TRY(in.skip(is_long ? 19 : 11));
        movie_timescale_ = std::max(TRY(in.u32be()), 1U);
        return {};
    }
    if (tracks_.empty())
        return {};
    Track& track = tracks_.back();
    if (type == box_type("elst"))
        return read_edits(content, track);
    if (type != box_type("hdlr"))
        return read_track_part(type, content, track.format);
    TRY(in.skip(8));
    const std::uint32_t kind = TRY(in.u32be());
    track.is_known = track.is_known || kind == box_type("vide") || kind == box_type("soun");
    if (kind == box_type("soun"))
        track.format.kind = MediaKind::audio;
    return {};
}

// 8.6.6: empty edits, and then the media from some time on.
Result<void> MovieSamples::read_edits(Bytes content, Track& track) const {
    ByteReader in(content);
    const bool is_long = TRY(in.u8()) == 1;
    TRY(in.skip(3));
    for (std::uint32_t left = TRY(in.u32be()); left > 0; --left) {
        const std::uint64_t duration = is_long ? TRY(in.u64be()) : TRY(in.u32be());
        const auto time =
            is_long ? static_cast<std::int64_t>(TRY(in.u64be())) : std::int64_t{static_cast<std::int32_t>(TRY(in.u32be()))};
        TRY(in.skip(4));
        if (time < 0) {
            track.delay = std::min(track.delay + std::min(duration, kMovieTicksMax), kMovieTicksMax);
            continue;
        }
        track.cut = std::min(static_cast<std::uint64_t>(time), kMovieTicksMax);
        return {};
    }
    return {};
}

Result<void> MovieSamples::note_table(std::uint32_t type, std::uint64_t at, std::uint64_t bytes, const ReadAt& read) {
    constexpr std::size_t kHead = 12;
    Track& track = tracks_.back();
    for (const bool is_far : {false, true}) {
        for (std::size_t i = 0; i < kTables; ++i) {
            const auto table = static_cast<Table>(i);
            const TableForm form = form_of(table, is_far);
            if (type != box_type(form.type))
                continue;
            const auto head = TRY(read(at, static_cast<std::size_t>(std::min<std::uint64_t>(kHead, bytes))));
            ByteReader in(head);
            TRY(in.skip(4));
            const bool is_sizes = table == Table::sizes;
            if (is_sizes)
                track.common_bytes = TRY(in.u32be());
            TableInFile found;
            found.entries = TRY(in.u32be());
            found.at = at + (is_sizes ? 12 : 8);
            if (is_sizes)
                track.samples = found.entries;
            const bool is_whole = std::uint64_t{found.entries} * form.entry_bytes <= bytes - (found.at - at);
            if (!is_whole && !(is_sizes && track.common_bytes > 0))
                return damaged();
            track.is_far = track.is_far || (is_far && table == Table::offsets);
            track.tables[i] = std::move(found);
            return {};
        }
    }
    return {};
}

// The edits of the first track of video make up for its reordering; the other tracks are as late as without it.
void MovieSamples::lay_out() {
    std::erase_if(
        tracks_, [](const Track& track) { return !track.is_known || track.samples == 0 || track.format.sample_entries.empty(); });
    std::int64_t reordering = 0;
    std::uint32_t scale = 1;
    for (const Track& track : tracks_) {
        if (track.format.kind != MediaKind::video)
            continue;
        scale = track.format.timescale;
        reordering =
            std::max<std::int64_t>(static_cast<std::int64_t>(track.cut) - ticks_on(track.delay, movie_timescale_, scale), 0);
        break;
    }
    for (Track& track : tracks_) {
        const std::uint32_t timescale = track.format.timescale;
        track.shift = ticks_on(track.delay, movie_timescale_, timescale) - static_cast<std::int64_t>(track.cut) +
                      ticks_on(static_cast<std::uint64_t>(reordering), scale, timescale);
        header_.tracks.push_back(track.format);
    }
    header_.bytes = 1;
    places_.tracks.resize(tracks_.size());
}

Result<std::uint32_t> MovieSamples::word(Track& track, Table table, std::uint32_t entry, std::uint32_t field,
                                         const ReadAt& read) {
    TableInFile& in = track.tables[static_cast<std::size_t>(table)];
    if (entry >= in.entries)
        return damaged();
    const std::uint64_t place = std::uint64_t{entry} * form_of(table, track.is_far).entry_bytes + std::uint64_t{field} * 4;
    if (in.block.empty() || place < in.block_at || place + 4 > in.block_at + in.block.size()) {
        in.block_at = place / kBlockBytes * kBlockBytes;
        in.block = TRY(read(in.at + in.block_at, kBlockBytes));
        if (in.block_at + in.block.size() < place + 4)
            return damaged();
    }
    return MUST(ByteReader(Bytes(in.block).subspan(static_cast<std::size_t>(place - in.block_at))).u32be());
}

// To the run of the next sample.
Result<void> MovieSamples::advance(Track& track, Table table, Place::Run& run, const ReadAt& read) {
    if (run.left == 0) {
        run.left = TRY(word(track, table, run.next, 0, read));
        run.value = TRY(word(track, table, run.next, 1, read));
        ++run.next;
        if (run.left == 0)
            return damaged();
    }
    --run.left;
    return {};
}

Result<void> MovieSamples::begin_chunk(Track& track, Place& place, const ReadAt& read) {
    const std::uint32_t runs = track.tables[static_cast<std::size_t>(Table::chunks)].entries;
    ++place.chunk;
    while (place.chunk_run + 1 < runs && TRY(word(track, Table::chunks, place.chunk_run + 1, 0, read)) <= place.chunk)
        ++place.chunk_run;
    place.left_in_chunk = TRY(word(track, Table::chunks, place.chunk_run, 1, read));
    place.entry = std::max(TRY(word(track, Table::chunks, place.chunk_run, 2, read)), 1U) - 1;
    place.offset = TRY(word(track, Table::offsets, place.chunk - 1, 0, read));
    if (track.is_far)
        place.offset = place.offset << 32 | TRY(word(track, Table::offsets, place.chunk - 1, 1, read));
    return place.left_in_chunk > 0 ? Result<void>() : damaged();
}

Result<FragmentSample> MovieSamples::next_sample(Track& track, Place& place, const ReadAt& read) {
    FragmentSample sample;
    const auto has = [&track](Table table) { return track.tables[static_cast<std::size_t>(table)].entries > 0; };
    TRY(advance(track, Table::times, place.times, read));
    sample.ticks = place.times.value;
    if (has(Table::compositions)) {
        TRY(advance(track, Table::compositions, place.compositions, read));
        sample.composition = static_cast<std::int32_t>(place.compositions.value);
    }
    const std::uint32_t number = place.sample + 1;
    if (place.key < number && place.keys < track.tables[static_cast<std::size_t>(Table::keys)].entries)
        place.key = TRY(word(track, Table::keys, place.keys++, 0, read));
    // Without this table every sample is a sync sample.
    sample.key = !has(Table::keys) || place.key == number;
    if (place.left_in_chunk == 0)
        TRY(begin_chunk(track, place, read));
    sample.bytes = track.common_bytes > 0 ? track.common_bytes : TRY(word(track, Table::sizes, place.sample, 0, read));
    sample.offset = place.offset;
    sample.tick = tick_of(track, place);
    if (sample.offset > size_ || sample.bytes > size_ - sample.offset || place.tick > kMovieTicksMax)
        return damaged();
    ++place.sample;
    --place.left_in_chunk;
    place.offset += sample.bytes;
    place.tick += sample.ticks;
    return sample;
}

std::uint64_t MovieSamples::tick_of(const Track& track, const Place& place) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(static_cast<std::int64_t>(place.tick) + track.shift, 0));
}

// That of the earliest sample; the maximum at the end.
std::uint64_t MovieSamples::next_second() const {
    std::uint64_t second = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t i = 0; i < tracks_.size(); ++i)
        if (places_.tracks[i].sample < tracks_[i].samples)
            second = std::min(second, tick_of(tracks_[i], places_.tracks[i]) / tracks_[i].format.timescale);
    return second;
}

// To places from which this second can be reached.
void MovieSamples::seek(std::uint64_t second) {
    if (places_.second <= second)
        return;
    const auto after = std::ranges::upper_bound(noted_, second, {}, &Places::second);
    if (after != noted_.begin())
        places_ = *std::prev(after);
    else
        places_ = {.second = 0, .tracks = std::vector<Place>(tracks_.size())};
}

Result<void> MovieSamples::read(std::uint64_t offset, const ReadAt& read, Fragment& fragment) {
    fragment.clear(tracks_.size());
    seek(offset - 1);
    std::uint64_t second = 0;
    for (bool is_wanted = false; !is_wanted;) {
        second = next_second();
        if (second == std::numeric_limits<std::uint64_t>::max())
            return Error(Errc::need_more, "the end of an MP4 file");
        is_wanted = second >= offset - 1;
        for (std::size_t i = 0; i < tracks_.size(); ++i) {
            Place& place = places_.tracks[i];
            while (place.sample < tracks_[i].samples && tick_of(tracks_[i], place) / tracks_[i].format.timescale == second) {
                const auto sample = TRY(next_sample(tracks_[i], place, read));
                if (!is_wanted)
                    continue;
                if (fragment.samples[i].size() == Fragment::kSamplesMax)
                    return Error(Errc::limit, "a second of too many samples");
                fragment.samples[i].push_back(sample);
                fragment.entries[i] = place.entry;
            }
        }
        places_.second = second + 1;
        const std::uint64_t newest = noted_.empty() ? 0 : noted_.back().second;
        if (places_.second >= newest + kNotedSeconds && noted_.size() < kNotedMax)
            noted_.push_back(places_);
    }
    fragment.events = second + 1;
    fragment.offset = second + 1;
    fragment.bytes = 1;
    return {};
}

void MovieSamples::release() {
    noted_ = {};
    places_ = {.second = 0, .tracks = std::vector<Place>(tracks_.size())};
    for (Track& track : tracks_)
        for (TableInFile& table : track.tables)
            table.block = {};
}

}  // namespace live::wire::mp4
