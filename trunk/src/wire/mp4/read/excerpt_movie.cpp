#include "wire/mp4/read/excerpt_movie.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "wire/mp4/box.hpp"
#include "wire/mp4/movie_header.hpp"
#include "wire/mp4/read/box_head.hpp"

namespace live::wire::mp4 {

namespace {

constexpr std::size_t kLargeHeadBytes = 16;
// Version and flags, and the number of entries; stsz has a common size before it.
constexpr std::size_t kTableHeadBytes = kBoxHeaderBytes + 8;

// The positions of the boxes at the end of `bytes`, each the last one of the box around it: trak, mdia, minf, stbl.
std::vector<std::size_t> open_boxes(const std::vector<std::uint8_t>& bytes) {
    constexpr std::size_t kNested = 4;
    std::vector<std::size_t> places;
    std::size_t at = 0;
    while (places.size() < kNested) {
        places.push_back(at);
        // The last child, whose end is that of all.
        for (std::size_t child = at + kBoxHeaderBytes; child < bytes.size();) {
            at = child;
            child += static_cast<std::size_t>(MUST(read_box_head_of(Bytes(bytes).subspan(child))).size);
        }
    }
    return places;
}

std::array<TableEncoder, kTables> counters() {
    const auto counter = [](Table table) { return TableEncoder(table, nullptr, false, nullptr); };
    return {counter(Table::times),  counter(Table::compositions), counter(Table::keys),
            counter(Table::chunks), counter(Table::sizes),        counter(Table::offsets)};
}

}  // namespace

bool ExcerptMovie::Track::has(Table table) const {
    if (table == Table::compositions)
        return has_composition;
    // Without this box every sample is a sync sample.
    return table != Table::keys || entries[static_cast<std::size_t>(Table::keys)] != samples;
}

ExcerptMovie::ExcerptMovie(Excerpt excerpt, std::size_t held_samples_max)
    : excerpt_(std::move(excerpt)),
      held_{.samples_max = held_samples_max, .samples = 0, .pieces = {}},
      counted_(excerpt_.begin()) {
    tracks_.resize(excerpt_.tracks().size());
    for (std::size_t i = 0; i < tracks_.size(); ++i)
        counters_.push_back(counters());
}

Result<bool> ExcerptMovie::count(std::size_t pieces) {
    for (; pieces > 0; --pieces) {
        if (!TRY(excerpt_.next(counted_, piece_))) {
            TRY(finish_count());
            lay_out();
            return true;
        }
        count_piece(piece_);
        hold(piece_);
    }
    return false;
}

void ExcerptMovie::hold(const ExcerptPiece& piece) {
    for (const auto& track : piece.tracks)
        held_.samples += track.samples.size();
    if (held_.has_all())
        held_.pieces.push_back(piece);
    else
        held_.pieces = {};
}

// Returns the next piece of the walk in progress; nullptr at the end.
Result<const ExcerptPiece*> ExcerptMovie::next_piece() {
    if (held_.has_all())
        return progress_.piece < held_.pieces.size() ? &held_.pieces[progress_.piece++] : nullptr;
    return TRY(excerpt_.next(progress_.cursor, piece_)) ? &piece_ : nullptr;
}

Result<void> ExcerptMovie::finish_count() {
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
        if (tracks_[i].samples > std::numeric_limits<std::uint32_t>::max() / 16)
            return Error(Errc::limit, "a span of more samples than a file has");
        for (std::size_t table = 0; table < kTables; ++table) {
            counters_[i][table].finish();
            tracks_[i].entries[table] = counters_[i][table].entries();
        }
    }
    counters_.clear();
    return {};
}

void ExcerptMovie::count_piece(const ExcerptPiece& piece) {
    note_range(piece);
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
        Track& track = tracks_[i];
        const auto& samples = piece.tracks[i].samples;
        if (samples.empty())
            continue;
        if (track.samples == 0)
            track.first = samples.front().tick;
        track.samples += samples.size();
        track.end = samples.back().tick + samples.back().ticks;
        for (const ExcerptSample& sample : samples)
            track.shown_end = std::max(track.shown_end, sample.tick + sample.composition + sample.ticks);
        track.has_composition = track.has_composition ||
                                std::ranges::any_of(samples, [](const ExcerptSample& sample) { return sample.composition != 0; });
        for (TableEncoder& counter : counters_[i])
            counter.add(piece.file, piece.tracks[i]);
    }
}

// From the first byte of a sample to the last one.
void ExcerptMovie::note_range(const ExcerptPiece& piece) {
    std::uint64_t first = UINT64_MAX;
    std::uint64_t end = 0;
    for (const auto& track : piece.tracks)
        for (const ExcerptSample& sample : track.samples) {
            first = std::min(first, sample.offset);
            end = std::max(end, sample.offset + sample.bytes);
        }
    if (ranges_.empty() || ranges_.back().file != piece.file)
        ranges_.push_back({piece.file, first, 0});
    FileRange& range = ranges_.back();
    end = std::max(end, range.offset + range.count);
    range.offset = std::min(range.offset, first);
    range.count = end - range.offset;
}

std::uint64_t ExcerptMovie::ticks_of_movie(std::size_t track) const {
    const auto& format = excerpt_.tracks()[track];
    const std::uint64_t shown = static_cast<std::uint64_t>(std::max<std::int64_t>(tracks_[track].shown_end, 0));
    const std::uint64_t ticks =
        shown / format.timescale * kMovieTimescale + shown % format.timescale * kMovieTimescale / format.timescale;
    const auto asked =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(excerpt_.duration()).count());
    return std::min(ticks, asked);
}

std::uint64_t ExcerptMovie::table_bytes(const Track& track, Table table) const {
    if (!track.has(table))
        return 0;
    return kTableHeadBytes + (table == Table::sizes ? 4 : 0) +
           std::uint64_t{track.entries[static_cast<std::size_t>(table)]} * form_of(table, is_far_).entry_bytes;
}

// The tables follow: the boxes around them are larger by their sizes.
void ExcerptMovie::write_track_head(std::size_t index) {
    Track& track = tracks_[index];
    const ExcerptTrack& format = excerpt_.tracks()[index];
    const auto delay = static_cast<std::uint64_t>(std::max<std::int64_t>(track.first, 0));
    const TrackHeader header = {.id = static_cast<std::uint32_t>(index + 1),
                                .media_ticks = static_cast<std::uint64_t>(std::max<std::int64_t>(track.end - track.first, 0)),
                                .movie_ticks = ticks_of_movie(index),
                                .delay_ticks = delay * kMovieTimescale / format.timescale,
                                .first_ticks = static_cast<std::uint64_t>(std::max<std::int64_t>(-track.first, 0)),
                                // Frames that are decoded before the end and shown after it are cut off.
                                .is_cut = track.first < 0 || track.has_composition,
                                .sample_entries = format.sample_entries};
    ByteWriter out;
    write_track(out, header, format_of(format), [] {});
    std::uint64_t tables = 0;
    for (std::size_t table = 0; table < kTables; ++table)
        tables += table_bytes(track, static_cast<Table>(table));
    track.head = out.release();
    for (const std::size_t at : open_boxes(track.head)) {
        const auto size = MUST(ByteReader(Bytes(track.head).subspan(at)).u32be());
        ByteWriter patch;
        patch.u32be(static_cast<std::uint32_t>(size + tables));
        copy_bytes(patch.written(), MutBytes(track.head).subspan(at));
    }
}

void ExcerptMovie::lay_out() {
    for (const FileRange& range : ranges_) {
        range_places_.push_back(media_bytes_);
        media_bytes_ += range.count;
    }
    std::uint64_t tables = 0;
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
        movie_ticks_ = std::max(movie_ticks_, ticks_of_movie(i));
        for (std::size_t table = 0; table < kTables; ++table)
            tables += table_bytes(tracks_[i], static_cast<Table>(table));
    }
    // Half of the range of 32 bits is left for the header.
    is_far_ = media_bytes_ + 2 * tables > std::numeric_limits<std::uint32_t>::max() / 2;
    std::uint64_t movie = 0;
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
        write_track_head(i);
        movie += tracks_[i].head.size();
        for (std::size_t table = 0; table < kTables; ++table)
            movie += table_bytes(tracks_[i], static_cast<Table>(table));
    }
    ByteWriter& out = progress_.made;
    write_movie_type(out);
    const std::size_t box = out.size();
    out.u32be(0).text("moov");
    write_movie_header(out, movie_ticks_, static_cast<std::uint32_t>(tracks_.size() + 1));
    out.patch_u32be(box, static_cast<std::uint32_t>(out.size() - box + movie));
    header_bytes_ = out.size() + movie + kLargeHeadBytes;
    place_ = [this](std::size_t file, std::uint64_t offset) { return place_of(file, offset); };
}

std::uint64_t ExcerptMovie::place_of(std::size_t file, std::uint64_t offset) const {
    const auto range = std::ranges::lower_bound(ranges_, file, {}, &FileRange::file);
    if (range == ranges_.end() || range->file != file)
        return 0;
    return header_bytes_ + range_places_[static_cast<std::size_t>(range - ranges_.begin())] + offset - range->offset;
}

void ExcerptMovie::begin_table(ByteWriter& out) {
    const Track& track = tracks_[progress_.track];
    const auto table = static_cast<Table>(progress_.table);
    const TableForm form = form_of(table, is_far_);
    out.u32be(static_cast<std::uint32_t>(table_bytes(track, table))).text(form.type);
    out.u32be(table == Table::compositions ? 1U << 24 : 0);  // version 1: they may be negative
    if (table == Table::sizes)
        out.u32be(0);
    out.u32be(track.entries[progress_.table]);
    progress_.cursor = excerpt_.begin();
    progress_.piece = 0;
    progress_.encoder.emplace(table, &out, is_far_, &place_);
}

// Reads one piece for the table in progress.
Result<void> ExcerptMovie::step(ByteWriter& out) {
    Progress& now = progress_;
    if (now.track == tracks_.size()) {
        now.is_over = true;
        out.u32be(1).text("mdat").u64be(kLargeHeadBytes + media_bytes_);
        return {};
    }
    const Track& track = tracks_[now.track];
    if (!now.encoder) {
        if (now.table == 0)
            out.bytes(track.head);
        if (!track.has(static_cast<Table>(now.table))) {
            ++now.table;
            return {};
        }
        begin_table(out);
        return {};
    }
    if (const ExcerptPiece* const piece = TRY(next_piece())) {
        now.encoder->add(piece->file, piece->tracks[now.track]);
        return {};
    }
    now.encoder->finish();
    if (now.encoder->entries() != track.entries[now.table])
        return Error(Errc::closed, "the recordings have changed while they are read");
    now.encoder.reset();
    if (++now.table == kTables) {
        now.table = 0;
        ++now.track;
    }
    return {};
}

Result<void> ExcerptMovie::read_header(ByteWriter& out, std::size_t count, std::size_t pieces) {
    // The beginning is there already.
    const bool is_first = !std::exchange(progress_.has_begun, true);
    for (; !is_first && !progress_.is_over && progress_.made.size() < count && pieces > 0; --pieces)
        TRY(step(progress_.made));
    out.bytes(progress_.made.release());
    return {};
}

}  // namespace live::wire::mp4
