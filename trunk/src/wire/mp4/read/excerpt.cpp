#include "wire/mp4/read/excerpt.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "wire/mp4/read/flv_samples.hpp"
#include "wire/mp4/read/movie_samples.hpp"

namespace live::wire::mp4 {

namespace {

constexpr std::int64_t kMicrosPerSecond = 1'000'000;

// In two steps, so that years do not overflow.
std::int64_t to_ticks(MediaTime time, std::uint32_t timescale) {
    const std::int64_t seconds = time.count() / kMicrosPerSecond;
    const std::int64_t rest = time.count() % kMicrosPerSecond;
    const std::int64_t half = rest < 0 ? -kMicrosPerSecond / 2 : kMicrosPerSecond / 2;
    return seconds * timescale + (rest * timescale + half) / kMicrosPerSecond;
}

MediaTime to_time(std::int64_t ticks, std::uint32_t timescale) {
    return MediaTime(ticks / timescale * kMicrosPerSecond + ticks % timescale * kMicrosPerSecond / timescale);
}

std::uint64_t rescaled(std::uint64_t ticks, std::uint32_t from, std::uint32_t to) {
    return from == to ? ticks : ticks / from * to + ticks % from * to / from;
}

// nullptr for files of unknown formats.
std::unique_ptr<SampleFile> open_samples(std::uint64_t size, const ReadAt& read) {
    constexpr std::size_t kHead = 8;
    const auto bytes = read(0, kHead);
    if (!bytes.ok() || bytes->size() < kHead)
        return nullptr;
    const std::string_view text = as_text(*bytes);
    if (text.starts_with("FLV"))
        return std::make_unique<FlvSamples>(size);
    if (text.substr(4) == "ftyp")
        return std::make_unique<MovieSamples>(size);
    return nullptr;
}

bool is_same_track(const FragmentedTrack& a, const FragmentedTrack& b) {
    return a.id == b.id && a.kind == b.kind && a.timescale == b.timescale && a.sample_entries == b.sample_entries &&
           a.default_ticks == b.default_ticks && a.default_bytes == b.default_bytes && a.default_flags == b.default_flags;
}

}  // namespace

bool ExcerptPiece::is_empty() const {
    return std::ranges::all_of(tracks, [](const Track& track) { return track.samples.empty(); });
}

Result<Excerpt> Excerpt::start(std::vector<ExcerptFile> files, ReadFile read, MediaTime duration, ReadScript read_script) {
    if (files.size() > kFilesMax)
        return Error(Errc::limit, "a span of too many recordings");
    Excerpt excerpt;
    excerpt.read_ = std::move(read);
    excerpt.read_script_ = std::move(read_script);
    excerpt.duration_ = duration;
    excerpt.search_.files = std::move(files);
    return excerpt;
}

Result<Excerpt> Excerpt::create(std::vector<ExcerptFile> files, ReadFile read, MediaTime duration, ReadScript read_script) {
    constexpr std::size_t kAtOnce = 1'000;
    Excerpt excerpt = TRY(start(std::move(files), std::move(read), duration, std::move(read_script)));
    while (!TRY(excerpt.prepare(kAtOnce))) {
    }
    return excerpt;
}

Result<bool> Excerpt::prepare(std::size_t reads) {
    for (; reads > 0; --reads) {
        if (search_.added < search_.files.size()) {
            if (TRY(add_file(search_.added, search_.files[search_.added])))
                ++search_.added;
            continue;
        }
        if (TRY(locate())) {
            TRY(finish_search());
            search_ = {};
            return true;
        }
    }
    return false;
}

// Returns whether the file has been added, or left out: one that was damaged on the disk costs its own media only.
Result<bool> Excerpt::add_file(std::size_t index, const ExcerptFile& file) {
    const ReadAt read = [this, index](std::uint64_t offset, std::size_t count) { return read_(index, offset, count); };
    if (search_.opening == nullptr) {
        auto header = read_fragmented_header(file.size, read);
        if (!header.ok() && header.code() == Errc::cancelled)
            return header.error();
        if (header.ok()) {
            if (header->has_fragments)
                add(index, file, *std::move(header), nullptr);
            return true;
        }
        search_.opening = open_samples(file.size, read);
        return search_.opening == nullptr;
    }
    const auto is_ready = search_.opening->prepare({-file.start, duration_ - file.start}, read);
    if (!is_ready.ok() && is_ready.code() == Errc::cancelled)
        return is_ready.error();
    if (is_ready.ok() && !*is_ready)
        return false;
    auto samples = std::exchange(search_.opening, nullptr);
    if (is_ready.ok()) {
        FragmentedHeader header = samples->header();
        add(index, file, std::move(header), std::move(samples));
    }
    return true;
}

void Excerpt::add(std::size_t index, const ExcerptFile& file, FragmentedHeader header, std::unique_ptr<SampleFile> samples) {
    if (header.tracks.empty())
        return;
    const std::uint64_t first = header.bytes;
    file_numbers_.push_back(index);
    files_.push_back({.size = file.size,
                      .start = file.start,
                      .header = header_index(std::move(header)),
                      .first = first,
                      .samples = std::move(samples)});
}

std::size_t Excerpt::header_index(FragmentedHeader header) {
    for (std::size_t i = 0; i < headers_.size(); ++i)
        if (std::ranges::equal(headers_[i].header.tracks, header.tracks, is_same_track))
            return i;
    Header added;
    std::size_t counts[2] = {};
    for (const FragmentedTrack& track : header.tracks)
        added.mappings.push_back(map_track(track, counts[track.kind == MediaKind::audio ? 1 : 0]++));
    added.header = std::move(header);
    headers_.push_back(std::move(added));
    return headers_.size() - 1;
}

// The tracks of one kind continue each other in their order. One more than there may be continues the last.
Excerpt::Mapping Excerpt::map_track(const FragmentedTrack& track, std::size_t ordinal) {
    std::size_t at = 0;
    for (std::size_t seen = 0; at < tracks_.size(); ++at)
        if (tracks_[at].kind == track.kind && seen++ == ordinal)
            break;
    if (at == tracks_.size()) {
        tracks_.push_back({.kind = track.kind,
                           .timescale = track.timescale,
                           .width = track.width,
                           .height = track.height,
                           .sample_entries = {},
                           .first_tick = {}});
        at = tracks_.size() - 1;
    }
    Mapping mapping{.track = at, .entries = {}};
    auto& entries = tracks_[at].sample_entries;
    for (const auto& entry : track.sample_entries) {
        const auto known = std::ranges::find(entries, entry);
        mapping.entries.push_back(static_cast<std::uint32_t>(known - entries.begin()));
        if (known == entries.end())
            entries.push_back(entry);
    }
    return mapping;
}

std::int64_t Excerpt::start_of(const Cursor& cursor, std::size_t source_track) const {
    const File& file = files_[cursor.file];
    const std::size_t track = headers_[file.header].mappings[source_track].track;
    return to_ticks(file.start + cursor.shift, tracks_[track].timescale);
}

std::int64_t Excerpt::tick_of(const Cursor& cursor, std::size_t source_track, std::uint64_t tick) const {
    const Header& header = headers_[files_[cursor.file].header];
    const std::uint32_t timescale = tracks_[header.mappings[source_track].track].timescale;
    return start_of(cursor, source_track) +
           static_cast<std::int64_t>(rescaled(tick, header.header.tracks[source_track].timescale, timescale));
}

// Frames that are reordered are shown later than they are decoded. The file's start is the time at which its first frame is
// shown.
void Excerpt::align(std::size_t index) {
    File& file = files_[index];
    if (std::exchange(file.is_aligned, true))
        return;
    const auto& tracks = headers_[file.header].header.tracks;
    for (std::size_t i = 0; i < fragment_.samples.size(); ++i) {
        if (tracks[i].kind != MediaKind::video || fragment_.samples[i].empty())
            continue;
        const std::int32_t delay = std::max(fragment_.samples[i].front().composition, 0);
        file.start -= std::min(to_time(delay, tracks[i].timescale), kReorderMax);
        return;
    }
}

// Reads the fragment at the cursor into fragment_, or that of the next file; false at the end. A file ends where its bytes are no
// whole fragment: there it is being written, or was cut off.
Result<bool> Excerpt::read_fragment(Cursor& cursor) {
    for (; cursor.file < files_.size(); ++cursor.file, cursor.offset = 0, cursor.is_shifted = false, cursor.shift = {}) {
        const File& file = files_[cursor.file];
        const std::size_t number = file_numbers_[cursor.file];
        const ReadAt read = [this, number](std::uint64_t offset, std::size_t count) { return read_(number, offset, count); };
        const std::uint64_t offset = cursor.offset == 0 ? file.first : cursor.offset;
        const auto got = file.samples != nullptr
                             ? read_samples(cursor.file, offset, read)
                             : FragmentReader(headers_[file.header].header, file.size, read).read(offset, fragment_);
        if (!got.ok() && got.code() == Errc::cancelled)
            return got.error();
        if (got.ok()) {
            align(cursor.file);
            return true;
        }
    }
    return false;
}

Result<void> Excerpt::read_samples(std::size_t index, std::uint64_t offset, const ReadAt& read) {
    if (const auto newest = std::exchange(newest_file_, index); newest != index && files_[newest].samples != nullptr)
        files_[newest].samples->release();
    return files_[index].samples->read(offset, read, fragment_);
}

// Two publishers in a row, or a clock that was set back a little: the later file continues where the earlier one ends.
void Excerpt::shift(Cursor& cursor) const {
    if (std::exchange(cursor.is_shifted, true))
        return;
    const Header& header = headers_[files_[cursor.file].header];
    for (std::size_t i = 0; i < fragment_.samples.size(); ++i) {
        if (fragment_.samples[i].empty())
            continue;
        const std::size_t track = header.mappings[i].track;
        const std::int64_t begin = tick_of(cursor, i, fragment_.samples[i].front().tick);
        if (cursor.tracks[track].end > begin + to_ticks(kOverlapMax, tracks_[track].timescale))
            cursor.shift += to_time(cursor.tracks[track].end - begin, tracks_[track].timescale) + MediaTime(1);
    }
}

bool Excerpt::has_media_after_zero(const Cursor& cursor) const {
    for (std::size_t i = 0; i < fragment_.samples.size(); ++i)
        for (const FragmentSample& sample : fragment_.samples[i])
            if (tick_of(cursor, i, sample.tick) + sample.composition + sample.ticks > 0)
                return true;
    return false;
}

// A file that ends before the asked time has no part in the excerpt.
void Excerpt::leave_file() {
    for (ExcerptTrack& track : tracks_)
        if (!search_.runs)
            track.first_tick.reset();
}

// Looks into the next fragment for the first sample of each track. Returns whether the search is over.
Result<bool> Excerpt::locate() {
    Cursor& cursor = search_.cursor;
    cursor.tracks.resize(tracks_.size());
    search_.starts.resize(tracks_.size());
    if (!TRY(read_fragment(cursor)))
        return true;
    if (cursor.file != std::exchange(search_.file, cursor.file))
        leave_file();
    search_.runs = search_.runs || has_media_after_zero(cursor);
    cursor.offset = fragment_.events;
    const bool is_done = note_starts(cursor);
    cursor.offset = fragment_.offset + fragment_.bytes;
    // The first fragment of each file aligns it.
    if (const File& file = files_[cursor.file]; file.samples != nullptr)
        cursor.offset = std::max(cursor.offset, file.samples->late_start());
    return is_done;
}

// Finds the first fragment that has one of the first samples.
Result<void> Excerpt::finish_search() {
    leave_file();
    bool is_found = false;
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
        if (!tracks_[i].first_tick || *tracks_[i].first_tick >= to_ticks(duration_, tracks_[i].timescale))
            continue;
        const Cursor& start = search_.starts[i];
        if (!is_found || std::pair(start.file, start.offset) < std::pair(begin_.file, begin_.offset))
            begin_ = start;
        is_found = true;
    }
    if (!is_found)
        return Error(Errc::not_found, "there is no recording of this time");
    for (Cursor::Track& track : begin_.tracks)
        track = {};
    return {};
}

// Returns whether the search is over.
bool Excerpt::note_starts(const Cursor& cursor) {
    const Header& header = headers_[files_[cursor.file].header];
    bool is_late = false;
    bool is_complete = true;
    for (std::size_t i = 0; i < fragment_.samples.size(); ++i) {
        const std::size_t at = header.mappings[i].track;
        ExcerptTrack& track = tracks_[at];
        const std::int64_t search_end = to_ticks(kSearchMax, track.timescale);
        for (const FragmentSample& sample : fragment_.samples[i]) {
            const std::int64_t tick = tick_of(cursor, i, sample.tick);
            const bool is_audio = track.kind == MediaKind::audio;
            const bool is_before = is_audio ? tick + sample.ticks <= 0 : tick + sample.composition <= 0;
            const bool may_begin = is_audio ? !is_before && !track.first_tick : sample.key && (is_before || !track.first_tick);
            if (may_begin) {
                track.first_tick = tick;
                search_.starts[at] = cursor;
            }
            is_late = is_late || tick > search_end;
            // Frames that are shown before the asked time may follow in decoding order.
            is_complete = is_complete && (tick > 0 || (is_audio && track.first_tick));
        }
        is_complete = is_complete && track.first_tick && !fragment_.samples[i].empty();
    }
    return is_late || is_complete;
}

bool Excerpt::select(Cursor& cursor, ExcerptPiece& piece) {
    const Header& header = headers_[files_[cursor.file].header];
    bool is_behind = true;
    piece.file = file_numbers_[cursor.file];
    piece.events = fragment_.events;
    piece.offset = fragment_.offset;
    piece.start = files_[cursor.file].start + cursor.shift;
    piece.bytes = fragment_.bytes;
    piece.scripts = fragment_.scripts;
    piece.tracks.resize(tracks_.size());
    for (auto& track : piece.tracks)
        track.samples.clear();
    for (std::size_t i = 0; i < fragment_.samples.size(); ++i) {
        const Mapping& mapping = header.mappings[i];
        const ExcerptTrack& track = tracks_[mapping.track];
        Cursor::Track& state = cursor.tracks[mapping.track];
        const std::int64_t end = to_ticks(duration_, track.timescale);
        piece.tracks[mapping.track].entry =
            mapping.entries[std::min<std::size_t>(fragment_.entries[i], mapping.entries.size() - 1)];
        const std::uint32_t from = header.header.tracks[i].timescale;
        const std::int64_t start = start_of(cursor, i);
        auto& samples = piece.tracks[mapping.track].samples;
        samples.reserve(fragment_.samples[i].size());
        bool is_last = false;  // later fragments have nothing to show of this track
        for (const FragmentSample& sample : fragment_.samples[i]) {
            std::int64_t tick = start + static_cast<std::int64_t>(rescaled(sample.tick, from, track.timescale));
            if (!state.is_running)
                state.is_running =
                    track.first_tick ? tick >= *track.first_tick : tick >= 0 && (track.kind == MediaKind::audio || sample.key);
            is_last = is_last || tick + sample.ticks >= end;
            if (tick >= end)
                continue;
            is_behind = false;
            if (!state.is_running)
                continue;
            tick = std::max(tick, state.end == INT64_MIN ? tick : state.last + 1);
            samples.push_back(
                {.tick = tick,
                 .ticks = static_cast<std::uint32_t>(rescaled(sample.ticks, from, track.timescale)),
                 .composition = from == track.timescale
                                    ? sample.composition
                                    : static_cast<std::int32_t>(std::int64_t{sample.composition} * track.timescale / from),
                 .bytes = sample.bytes,
                 .offset = sample.offset,
                 .key = sample.key});
            state.last = tick;
            state.end = tick + samples.back().ticks;
        }
        // Frames at the end that are shown later, and that no earlier one needs.
        while (is_last && !samples.empty() && samples.back().tick + samples.back().composition >= end)
            samples.pop_back();
    }
    const bool is_empty = std::ranges::all_of(fragment_.samples, [](const auto& samples) { return samples.empty(); });
    return is_empty || !is_behind;
}

Result<std::vector<EventMessage>> Excerpt::events_of(const ExcerptPiece& piece) {
    std::vector<EventMessage> events;
    if (piece.events != piece.offset)
        events = events_in(TRY(read_(piece.file, piece.events, static_cast<std::size_t>(piece.offset - piece.events))));
    for (const Fragment::Script& script : piece.scripts) {
        if (!read_script_)
            break;
        const auto bytes = TRY(read_(piece.file, script.offset, script.bytes));
        std::ranges::move(read_script_(bytes, script.at), std::back_inserter(events));
    }
    return events;
}

Result<bool> Excerpt::next(Cursor& cursor, ExcerptPiece& piece) {
    while (TRY(read_fragment(cursor))) {
        shift(cursor);
        const bool goes_on = select(cursor, piece);
        cursor.offset = fragment_.offset + fragment_.bytes;
        if (!goes_on) {
            cursor.file = files_.size();
            return false;
        }
        if (!piece.is_empty())
            return true;
    }
    return false;
}

}  // namespace live::wire::mp4
