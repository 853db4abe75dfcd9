#include "media/ring/splice_points.hpp"

#include <algorithm>

#include "wire/scte35/splice_info.hpp"

namespace live::media {

void SplicePoints::add(const TimedEvent& splice) {
    const Bytes section = splice.data.bytes();
    const auto info = wire::scte35::parse_splice_info(section);
    if (!info.ok())
        return;
    cut_at(splice.at);
    for (const wire::scte35::Cue& cue : wire::scte35::cues_of(*info))
        if (cue.auto_return && cue.ticks)
            cut_at(splice.at + std::min(MediaTime(static_cast<std::int64_t>(*cue.ticks * 100 / 9)), 4 * TimedEvent::kDelayMax));
    if (section.size() > kKeptBytesMax)
        return;
    const auto is_it = [&](const Splice& known) {
        return std::chrono::abs(known.at - splice.at) <= kSlack && std::ranges::equal(known.section, section);
    };
    if (std::ranges::any_of(splices_, is_it))
        return;
    if (splices_.size() == kMax)
        splices_.erase(splices_.begin());
    splices_.push_back({splice.at, {section.begin(), section.end()}});
}

void SplicePoints::cut_at(MediaTime at) {
    const auto after = std::ranges::upper_bound(cuts_, at);
    const auto is_it = [at](MediaTime known) { return std::chrono::abs(known - at) <= kSlack; };
    if (at <= begun_ + kSlack || cuts_.size() == 2 * kMax || std::ranges::any_of(cuts_, is_it))
        return;
    cuts_.insert(after, at);
}

void SplicePoints::begin_segment(MediaTime pts, MediaTime lead) {
    lead_ = lead;
    begun_ = pts;
    std::erase_if(cuts_, [pts](MediaTime at) { return at <= pts + kSlack; });
}

void SplicePoints::restore(const std::vector<Splice>& splices) {
    *this = {};
    for (const Splice& one : splices)
        add({.kind = TimedEvent::Kind::splice, .at = one.at, .data = Slice::copy_of(one.section)});
}

}  // namespace live::media
