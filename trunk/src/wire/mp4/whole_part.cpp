#include "wire/mp4/whole_part.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "wire/mp4/box.hpp"
#include "wire/mp4/movie_header.hpp"

namespace live::wire::mp4 {

namespace {

constexpr std::size_t kLargeBoxHeaderBytes = 16;

struct BoxHead {
    std::string type;
    std::uint64_t size = 0;  // including the header
    std::size_t header_bytes = kBoxHeaderBytes;
};

Result<BoxHead> read_box_head(Bytes bytes) {
    ByteReader in(bytes);
    BoxHead head;
    head.size = TRY(in.u32be());
    head.type = std::string(as_text(TRY(in.take(4))));
    if (head.size == 1) {
        head.size = TRY(in.u64be());
        head.header_bytes = kLargeBoxHeaderBytes;
    }
    if (head.size < head.header_bytes)
        return Error(Errc::malformed, "a box that is shorter than its header");
    return head;
}

// Calls visit(type, content) for each complete box in the content of a box. This file nests at most four levels.
template <class Visit>
void for_each_box(Bytes bytes, Visit&& visit) {
    while (!bytes.empty()) {
        const auto head = read_box_head(bytes);
        if (!head.ok() || head->size > bytes.size())
            return;
        const auto size = static_cast<std::size_t>(head->size);
        visit(std::string_view(head->type), bytes.subspan(head->header_bytes, size - head->header_bytes));
        bytes = bytes.subspan(size);
    }
}

// The end time of a fragment in ticks, by track.
using Ends = std::map<std::uint32_t, std::uint64_t>;

// 8.8.7, 8.8.8 and 8.8.12, in the form that FragmentWriter writes.
struct TrackFragment {
    std::uint32_t id = 0;
    std::uint32_t default_ticks = 0;
    std::uint64_t start = 0;
    std::uint64_t ticks = 0;
};

Result<void> read_fragment_header(Bytes content, TrackFragment& fragment) {
    constexpr std::uint32_t kDefaultDuration = 0x8;
    ByteReader in(content);
    const std::uint32_t flags = TRY(in.u32be()) & 0xFF'FFFF;
    fragment.id = TRY(in.u32be());
    if ((flags & kDefaultDuration) != 0)
        fragment.default_ticks = TRY(in.u32be());
    return {};
}

Result<void> read_fragment_time(Bytes content, TrackFragment& fragment) {
    ByteReader in(content);
    TRY(in.skip(4));
    fragment.start = TRY(in.u64be());
    return {};
}

Result<void> read_run(Bytes content, TrackFragment& fragment) {
    enum RunFlags : std::uint32_t { kDataOffset = 0x1, kDuration = 0x100, kSize = 0x200, kFlags = 0x400, kComposition = 0x800 };
    ByteReader in(content);
    const std::uint32_t flags = TRY(in.u32be()) & 0xFF'FFFF;
    const std::uint32_t count = TRY(in.u32be());
    if ((flags & kDuration) == 0) {
        fragment.ticks = std::uint64_t{count} * fragment.default_ticks;
        return {};
    }
    if ((flags & kDataOffset) != 0)
        TRY(in.skip(4));
    std::size_t rest = 0;
    for (const std::uint32_t flag : {kSize, kFlags, kComposition})
        rest += (flags & flag) != 0 ? 4 : 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        fragment.ticks += TRY(in.u32be());
        TRY(in.skip(rest));
    }
    return {};
}

Ends ends_of(Bytes moof) {
    Ends ends;
    for_each_box(moof, [&ends](std::string_view type, Bytes content) {
        if (type != "traf")
            return;
        TrackFragment fragment;
        bool is_good = true;
        for_each_box(content, [&](std::string_view kind, Bytes inner) {
            if (kind == "tfhd")
                is_good = is_good && read_fragment_header(inner, fragment).ok();
            else if (kind == "tfdt")
                is_good = is_good && read_fragment_time(inner, fragment).ok();
            else if (kind == "trun")
                is_good = is_good && read_run(inner, fragment).ok();
        });
        if (is_good)
            ends[fragment.id] = fragment.start + fragment.ticks;
    });
    return ends;
}

std::uint32_t u32_at(Bytes content, std::size_t at) { return MUST(ByteReader(content.subspan(at)).u32be()); }

// mvhd and mdhd, version 0: version and flags, two dates, the timescale, the duration (8.2.2, 8.4.2).
constexpr std::size_t kTimescaleAt = 12;
constexpr std::size_t kDurationAt = 16;
// tkhd: version and flags, two dates, the ID, a reserved word, the duration (8.3.2).
constexpr std::size_t kTrackIdAt = 12;
constexpr std::size_t kTrackDurationAt = 20;

// A header in memory whose durations are filled in.
class Header {
public:
    explicit Header(std::vector<std::uint8_t> moov) : bytes_(std::move(moov)) {}

    // Returns the duration of the longest track.
    MediaTime fill_in(const Ends& ends) {
        const Bytes all(bytes_);
        MediaTime longest{};
        std::optional<std::size_t> movie_at;
        for_each_box(all.subspan(std::min<std::size_t>(kBoxHeaderBytes, all.size())), [&](std::string_view type, Bytes content) {
            if (type == "mvhd")
                movie_at = place_of(content, kDurationAt);
            else if (type == "trak")
                longest = std::max(longest, fill_in_track(content, ends));
        });
        if (movie_at)
            put(*movie_at, milliseconds(longest));
        return longest;
    }
    std::vector<std::uint8_t> release() { return std::move(bytes_); }

private:
    static std::uint64_t milliseconds(MediaTime time) {
        return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
    }
    // Position of a four-byte field in a full box of version 0.
    std::optional<std::size_t> place_of(Bytes content, std::size_t at) const {
        if (content.size() < at + 4 || content[0] != 0)
            return std::nullopt;
        return static_cast<std::size_t>(content.data() - bytes_.data()) + at;
    }
    void put(std::size_t at, std::uint64_t value) {
        if (value > std::numeric_limits<std::uint32_t>::max())
            return;
        ByteWriter out;
        out.u32be(static_cast<std::uint32_t>(value));
        copy_bytes(out.written(), MutBytes(bytes_).subspan(at));
    }
    MediaTime fill_in_track(Bytes track, const Ends& ends) {
        std::uint32_t id = 0;
        std::uint32_t timescale = 0;
        std::optional<std::size_t> track_at;
        std::optional<std::size_t> media_at;
        for_each_box(track, [&](std::string_view type, Bytes content) {
            if (type == "tkhd" && (track_at = place_of(content, kTrackDurationAt))) {
                id = u32_at(content, kTrackIdAt);
            } else if (type == "mdia") {
                for_each_box(content, [&](std::string_view kind, Bytes inner) {
                    if (kind == "mdhd" && (media_at = place_of(inner, kDurationAt)))
                        timescale = u32_at(inner, kTimescaleAt);
                });
            }
        });
        const auto end = ends.find(id);
        if (!track_at || !media_at || timescale == 0 || end == ends.end())
            return {};
        // Exceeds the range of a version 0 header: the file is damaged.
        if (end->second / timescale >= std::numeric_limits<std::uint32_t>::max() / kMovieTimescale)
            return {};
        const std::uint64_t ms =
            end->second / timescale * kMovieTimescale + end->second % timescale * kMovieTimescale / timescale;
        put(*track_at, ms);
        put(*media_at, end->second);
        return std::chrono::milliseconds(ms);
    }

    std::vector<std::uint8_t> bytes_;
};

struct Extent {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};

// The top-level boxes of the file.
struct Layout {
    std::optional<Extent> movie;
    std::optional<Extent> last_fragment;  // including its media
    std::uint64_t end = 0;                // of the complete part
    bool has_data = false;
};

Result<Layout> layout_of(std::uint64_t size, const ReadAt& read) {
    Layout layout;
    std::optional<Extent> fragment;
    for (std::uint64_t at = 0; at < size;) {
        const auto bytes = TRY(read(at, kLargeBoxHeaderBytes));
        const auto head = read_box_head(bytes);
        if (at == 0 && (!head.ok() || head->type != "ftyp"))
            return Error(Errc::malformed, "no MP4 file");
        if (!head.ok() || head->size > size - at)
            break;
        const Extent extent{at, head->size};
        at += head->size;
        if (head->type == "moof") {
            fragment = extent;
            continue;  // useless without its media
        }
        if (head->type == "moov") {
            // The header of a movie that was finished except for the patch at the start of the file.
            if (layout.movie && layout.last_fragment)
                break;
            layout.movie = extent;
        } else if (head->type == "mdat") {
            layout.has_data = true;
            if (fragment)
                layout.last_fragment = std::exchange(fragment, std::nullopt);
        } else if (head->type != "ftyp" && head->type != "free" && head->type != "uuid" && head->type != "emsg") {
            break;  // not written by us: garbage after a system crash
        }
        layout.end = at;
    }
    return layout;
}

}  // namespace

Result<WholePart> whole_part(std::uint64_t size, const ReadAt& read) {
    const Layout layout = TRY(layout_of(size, read));
    WholePart part{.bytes = layout.end, .has_media = layout.movie && layout.has_data, .duration = {}, .patch = {}};
    if (!layout.movie || !layout.last_fragment || layout.movie->size > kHeaderBytesMax ||
        layout.last_fragment->size > kHeaderBytesMax)
        return part;
    const auto fragment = TRY(read(layout.last_fragment->offset, static_cast<std::size_t>(layout.last_fragment->size)));
    Header header(TRY(read(layout.movie->offset, static_cast<std::size_t>(layout.movie->size))));
    part.duration = header.fill_in(ends_of(Bytes(fragment).subspan(std::min<std::size_t>(kBoxHeaderBytes, fragment.size()))));
    part.patch = FilePatch{.offset = layout.movie->offset, .bytes = header.release()};
    return part;
}

}  // namespace live::wire::mp4
