#include "service/hls/segment_list.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace live::service::hls {

namespace {

// 8216bis, 4.4.3.8: the skip boundary is six target durations from the end; 4.4.4.9: segments within the last three target
// durations keep their parts.
constexpr int kSkipTargets = 6;
constexpr int kPartTargets = 3;
// Parts longer than this many times their intended duration are treated as outliers.
constexpr int kUsualParts = 2;

MediaTime in_whole_seconds(MediaTime time) { return std::chrono::ceil<std::chrono::seconds>(time); }

std::size_t bytes_of(const segments::FileRef& file) { return file == nullptr ? 0 : file->bytes(); }

wire::hls::Segment entry_of(const ListedSegment& segment) {
    wire::hls::Segment entry;
    entry.uri = segment.name.uri;
    entry.duration = segment.duration;
    entry.discontinuity = segment.discontinuity;
    entry.key = segment.key;
    entry.map = segment.map;
    entry.date = segment.date;
    return entry;
}

void add_parts(wire::hls::Segment& entry, const ListedSegment& segment) {
    for (const ListedPart& part : segment.parts)
        entry.parts.push_back(
            {part.name.uri, part.duration, part.independent, part.file == nullptr || part.file->blocks().empty()});
}

}  // namespace

void SegmentList::recover(std::vector<ListedSegment> segments, std::uint64_t first_number, std::uint64_t discontinuities) {
    next_number_ = first_number;
    discontinuities_ = discontinuities;
    for (ListedSegment& segment : segments) {
        segment.number = next_number_++;
        listed_.push_back(std::move(segment));
    }
    retire();
}

void SegmentList::begin_open(Open open) {
    open_.emplace();
    open_->number = next_number_;
    open_->name = std::move(open.name);
    open_->discontinuity = open.discontinuity;
    open_->map = std::move(open.map);
    open_->date = open.date;
    open_->independent = open.independent;
}

ListedPart& SegmentList::add_part(ListedPart part) {
    usual_part_ = std::max(usual_part_, rules_.part);
    if (part.duration <= kUsualParts * rules_.part)
        usual_part_ = std::max(usual_part_, part.duration);
    open_->parts.push_back(std::move(part));
    return open_->parts.back();
}

ListedSegment& SegmentList::add(ListedSegment segment) {
    segment.number = next_number_++;
    if (open_)
        segment.parts = std::move(open_->parts);
    open_.reset();
    listed_.push_back(std::move(segment));
    retire();
    // Parts are only for players near the live edge.
    MediaTime behind{};
    for (auto at = listed_.rbegin(); at != listed_.rend(); ++at) {
        if (behind >= kPartTargets * target_duration())
            at->parts.clear();
        behind += at->duration;
    }
    return listed_.back();
}

MediaTime SegmentList::listed_time() const {
    return std::accumulate(listed_.begin(), listed_.end(), MediaTime{},
                           [](MediaTime sum, const ListedSegment& segment) { return sum + segment.duration; });
}

void SegmentList::retire_oldest() {
    discontinuities_ += listed_.front().discontinuity ? 1 : 0;
    retired_.push_back(std::move(listed_.front()));
    retired_.back().parts.clear();
    listed_.pop_front();
}

// Removes the oldest segments while the remaining ones still fill the window.
void SegmentList::retire() {
    MediaTime time = listed_time();
    while (listed_.size() > 1 && (time - listed_.front().duration >= rules_.window || listed_.size() > kListedMax)) {
        time -= listed_.front().duration;
        retire_oldest();
    }
    fit();
    expire(listed_time());
}

// Frees the segment's memory; returns its size.
std::size_t SegmentList::release(ListedSegment& segment) {
    const std::size_t bytes = bytes_of(segment.file);
    if (segment.file != nullptr)
        std::ranges::move(segment.file->release(), std::back_inserter(dropped_blocks_));
    return bytes;
}

// Frees retired segments first, then retires the oldest listed ones; all remain on disk.
void SegmentList::fit() {
    std::size_t held = bytes();
    for (ListedSegment& segment : retired_) {
        if (held <= rules_.bytes)
            return;
        held -= release(segment);
    }
    while (held > rules_.bytes && listed_.size() > 1) {
        retire_oldest();
        held -= release(retired_.back());
        is_cut_by_bytes_ = true;
    }
}

void SegmentList::retire_all() {
    const MediaTime time = listed_time();
    while (!listed_.empty())
        retire_oldest();
    expire(time);
}

// Expires retired segments: `time` is the duration of the list they have left.
void SegmentList::expire(MediaTime time) {
    for (std::size_t i = 0; i + kRetiredInMemory < retired_.size(); ++i)
        release(retired_[i]);
    // A player may still hold the playlist from before the segment left it, and load that segment last (RFC 8216, 6.2.2).
    MediaTime since{};
    for (std::size_t i = retired_.size(); i-- > 0;) {
        if (since > time + retired_[i].duration || retired_.size() - i > kListedMax) {
            std::move(retired_.begin(), retired_.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::back_inserter(expired_));
            retired_.erase(retired_.begin(), retired_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            return;
        }
        since += retired_[i].duration;
    }
}

std::vector<ListedSegment> SegmentList::take_expired() { return std::exchange(expired_, {}); }

std::vector<ListedSegment> SegmentList::take_all() {
    std::vector<ListedSegment> all = take_expired();
    for (auto* from : {&retired_, &listed_}) {
        std::move(from->begin(), from->end(), std::back_inserter(all));
        from->clear();
    }
    if (open_)
        all.push_back(*std::exchange(open_, std::nullopt));
    for (ListedSegment& segment : all) {
        for (ListedPart& part : segment.parts)
            std::ranges::move(part.file->release(), std::back_inserter(dropped_blocks_));
        segment.parts.clear();
        release(segment);
    }
    return all;
}

bool SegmentList::needs(const KeyFileRef& key) const {
    const auto has_it = [&key](const ListedSegment& segment) { return segment.key_file == key; };
    return std::ranges::any_of(retired_, has_it) || std::ranges::any_of(listed_, has_it);
}

const ListedSegment* SegmentList::find(std::uint64_t number) const {
    if (open_ && open_->number == number)
        return &*open_;
    // In order, but not always without a gap.
    for (const auto* in : {&listed_, &retired_}) {
        const auto found = std::ranges::lower_bound(*in, number, {}, &ListedSegment::number);
        if (found != in->end() && found->number == number)
            return &*found;
    }
    return nullptr;
}

bool SegmentList::serves_parts_of(std::uint64_t number) const {
    if (open_ && open_->number == number)
        return true;
    MediaTime behind{};
    const auto is_it = [&, limit = 2 * kPartTargets * target_duration()](const ListedSegment& segment) {
        return segment.number == number || (behind += segment.duration) >= limit;
    };
    const auto found = std::find_if(listed_.rbegin(), listed_.rend(), is_it);
    return found != listed_.rend() && found->number == number;
}

std::uint64_t SegmentList::discontinuities_before_next() const {
    return discontinuities_ + static_cast<std::uint64_t>(std::ranges::count_if(listed_, &ListedSegment::discontinuity));
}

void SegmentList::set_discontinuities_before_next(std::uint64_t count) {
    const std::uint64_t listed = discontinuities_before_next() - discontinuities_;
    discontinuities_ = count - std::min(count, listed);
}

void SegmentList::mark_gap(std::uint64_t number) {
    for (ListedSegment& segment : listed_)
        if (segment.number == number)
            segment.gap = true;
}

std::size_t SegmentList::bytes() const {
    std::size_t sum = 0;
    for (const auto* in : {&listed_, &retired_})
        for (const ListedSegment& segment : *in)
            sum += bytes_of(segment.file);
    if (open_)
        for (const ListedPart& part : open_->parts)
            sum += bytes_of(part.file);
    return sum;
}

MediaTime SegmentList::target_duration() const {
    MediaTime longest = rules_.target;
    for (const ListedSegment& segment : listed_)
        longest = std::max(longest, segment.duration);
    return in_whole_seconds(longest);
}

MediaTime SegmentList::part_target() const {
    MediaTime longest = usual_part_;
    const auto look_at = [&longest](const ListedSegment& segment) {
        for (const ListedPart& part : segment.parts)
            longest = std::max(longest, part.duration);
    };
    std::ranges::for_each(listed_, look_at);
    if (open_)
        look_at(*open_);
    return longest;
}

wire::hls::MediaPlaylist SegmentList::playlist(Form form) const {
    wire::hls::MediaPlaylist playlist;
    playlist.media_sequence = listed_.empty() ? next_number_ : listed_.front().number;
    playlist.discontinuity_sequence = discontinuities_;
    playlist.target_duration = target_duration();
    const bool with_parts = rules_.low_latency && form != Form::disk;
    playlist.independent =
        std::ranges::all_of(listed_, &ListedSegment::independent) && (!with_parts || !open_ || open_->independent);
    for (const ListedSegment& segment : listed_) {
        playlist.segments.push_back(entry_of(segment));
        if (with_parts)
            add_parts(playlist.segments.back(), segment);
        playlist.segments.back().gap = segment.absent || (form == Form::disk && segment.gap);
    }
    wire::hls::LowLatency low;
    low.part_target = part_target();
    if (!with_parts || low.part_target == MediaTime::zero())
        return playlist;
    low.can_skip_until = kSkipTargets * target_duration();
    if (open_) {
        low.open = entry_of(*open_);
        add_parts(low.open, *open_);
    }
    low.hint = ended_ ? "" : hint_;
    if (form == Form::delta) {
        MediaTime behind{};
        std::size_t kept = 0;
        for (auto at = listed_.rbegin(); at != listed_.rend() && behind < low.can_skip_until; ++at, ++kept)
            behind += at->duration;
        playlist.skipped = listed_.size() - kept;
    }
    playlist.low_latency = std::move(low);
    return playlist;
}

SegmentList::Wait SegmentList::wait_for(std::uint64_t number, std::optional<std::uint64_t> part) const {
    if (number < next_number_ || ended_) {
        const ListedSegment* segment = number + 1 == next_number_ && part ? find(number) : nullptr;
        // A part index one past the end means the first part of the next segment.
        const bool is_behind = segment != nullptr && !segment->parts.empty() && *part >= segment->parts.size();
        return ended_ || !is_behind || (open_ && !open_->parts.empty()) ? Wait::ready : Wait::later;
    }
    if (number > next_number_ + 1)
        return Wait::never;
    if (number == next_number_ && part && open_ && *part < open_->parts.size())
        return Wait::ready;
    return Wait::later;
}

}  // namespace live::service::hls
