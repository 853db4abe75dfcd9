#include "service/hls/timed/date_ranges.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "wire/scte35/splice_info.hpp"

namespace live::service::hls {

namespace scte35 = wire::scte35;
using wire::hls::CueTag;

namespace {

std::chrono::milliseconds whole_ms(MediaTime time) { return std::chrono::floor<std::chrono::milliseconds>(time); }

}  // namespace

std::size_t DateRanges::add(const media::TimedEvent& splice, MediaTime lead) {
    const Bytes bytes = splice.data.bytes();
    const auto info = scte35::parse_splice_info(bytes);
    if (!info.ok())
        return 0;
    std::size_t displaced = 0;
    const MediaTime at = splice.at - lead;
    const std::vector<std::uint8_t> section(bytes.begin(), bytes.end());
    for (const scte35::Cue& cue : scte35::cues_of(*info)) {
        if (cue.kind == scte35::CueKind::in) {
            Range* const begun = find_break(cue.event_id, at);
            if (begun != nullptr && !begun->end) {
                begun->end = at;
                begun->tag.in = section;
                begun->has_dates = false;
            }
            if (begun != nullptr)
                continue;
        }
        const auto is_it = [&](const Range& range) {
            return range.event_id == cue.event_id && range.is_break == (cue.kind == scte35::CueKind::out) &&
                   std::chrono::abs(range.start - at) <= kSameMax;
        };
        if (std::ranges::any_of(ranges_, is_it))
            continue;
        Range& range = ranges_.emplace_back();
        range.event_id = cue.event_id;
        range.is_break = cue.kind == scte35::CueKind::out;
        range.returns = cue.auto_return;
        range.start = at;
        range.tag.id = fmt::format("{}-{}", cue.event_id, whole_ms(at).count());
        if (cue.ticks)
            range.tag.planned = MediaTime(static_cast<std::int64_t>(std::min(*cue.ticks, scte35::kTicksMask) * 100 / 9));
        if (cue.kind == scte35::CueKind::in)
            range.end = at;
        (range.is_break ? range.tag.out : cue.kind == scte35::CueKind::in ? range.tag.in : range.tag.command) = section;
        if (ranges_.size() > most_) {
            ranges_.pop_front();
            ++displaced;
        }
    }
    return displaced;
}

// The break that a return at `before` ends: that of the same event, otherwise the newest one that has not ended. A repeated
// return finds the break that it has ended.
DateRanges::Range* DateRanges::find_break(std::uint32_t event_id, MediaTime before) {
    Range* newest = nullptr;
    for (Range& range : ranges_) {
        if (!range.is_break || range.start >= before)
            continue;
        const bool is_ended_here = range.end && std::chrono::abs(*range.end - before) <= kSameMax;
        if (is_ended_here || (!range.end && (range.event_id == event_id || newest == nullptr || newest->event_id != event_id)))
            newest = &range;
    }
    return newest;
}

void DateRanges::forget_before(UtcTime date) {
    std::erase_if(ranges_, [date](const Range& range) {
        const auto end = end_of(range);
        return range.has_dates && end && *end < date - kSameMax;
    });
}

void DateRanges::drop_open() {
    std::erase_if(ranges_, [](const Range& range) { return range.is_break && !range.end; });
}

void DateRanges::set_dates(const DateOf& date_of) {
    for (Range& range : ranges_) {
        if (range.has_dates)
            continue;
        const auto start = date_of(range.start);
        const auto end = range.end ? date_of(*range.end) : std::nullopt;
        if (!start)
            continue;
        if (range.tag.start == UtcTime{})
            range.tag.start = *start;
        if (range.end)
            range.tag.end = std::max(*end, range.tag.start);
        range.has_dates = true;
    }
}

std::optional<UtcTime> DateRanges::end_of(const Range& range) {
    if (range.tag.end)
        return range.tag.end;
    if (range.tag.planned && (range.returns || !range.is_break))
        return range.tag.start + whole_ms(*range.tag.planned);
    return range.is_break ? std::nullopt : std::optional(range.tag.start);
}

void DateRanges::describe(wire::hls::MediaPlaylist& playlist, bool has_cues) const {
    if (ranges_.empty())
        return;
    const auto first =
        std::ranges::find_if(playlist.segments, [](const wire::hls::Segment& one) { return one.date.has_value(); });
    for (const Range& range : ranges_) {
        const auto end = end_of(range);
        const bool is_over = first != playlist.segments.end() && end && *end < *first->date;
        if (range.has_dates && !is_over)
            playlist.date_ranges.push_back(range.tag);
    }
    if (!has_cues)
        return;
    std::optional<UtcTime> previous;
    const auto mark = [&](wire::hls::Segment& segment) {
        if (!segment.date)
            return;
        segment.cue = cue_before(*segment.date, previous);
        previous = segment.date;
    };
    for (wire::hls::Segment& segment : playlist.segments)
        mark(segment);
    if (playlist.low_latency)
        mark(playlist.low_latency->open);
}

std::optional<CueTag> DateRanges::cue_before(UtcTime date, std::optional<UtcTime> previous) const {
    std::optional<CueTag> cue;
    for (const Range& range : ranges_) {
        const UtcTime start = range.tag.start - kSlack;
        const auto end = end_of(range);
        if (!range.is_break || !range.has_dates || date < start)
            continue;
        if (end && date >= *end - kSlack) {
            // A list may begin with the segment after the break.
            const bool follows = previous ? *previous < *end - kSlack : date - *end < kSameMax;
            if (follows)
                cue = CueTag{CueTag::Kind::in, {}, {}};
            continue;
        }
        const bool begins = !previous || *previous < start;
        const MediaTime elapsed = std::max<MediaTime>(date - range.tag.start, {});
        const bool is_later = begins && elapsed > kSameMax;  // the list begins within the break
        cue = CueTag{begins && !is_later ? CueTag::Kind::out : CueTag::Kind::more, elapsed, range.tag.planned};
    }
    return cue;
}

}  // namespace live::service::hls
