#include "service/hls/segmenter.hpp"

#include <algorithm>
#include <utility>

namespace live::service::hls {

using media::Kind;
using media::Packet;

namespace {

// A part may end this much before its time is full: stamps are whole milliseconds.
constexpr MediaTime kPartSlack = 5ms;

}  // namespace

Segmenter::Segmenter(const CutRules& rules, std::unique_ptr<Packager> packager) : rules_(rules), packager_(std::move(packager)) {
    rules_.cut_at = std::max(rules_.cut_at, kCutMin);
    rules_.hard_cut_at = std::max(rules_.hard_cut_at, kCutMin);
}

void Segmenter::push(const Packet& packet) {
    if (packet.kind == Kind::data)
        return;
    if (packet.is_config())
        return configure(packet);
    if (!is_wanted(packet))
        return;
    if (open_ && cuts(packet))
        close(packet.dts, packet.kind);
    else if (open_ && cut_before_ == packet.kind)
        return;  // the segment cannot have it, and the next one has not begun
    else if (open_ && ends_part(packet))
        end_part(packet.dts, packet.kind);
    if (!open_)
        open(packet.dts);
    const std::size_t before = output_.size();
    const bool carried = packager_->add(packet, output_);
    block_bytes_ += output_.size() - before;
    if (!carried)
        return;
    const bool is_start = packet.kind == Kind::video ? packet.key : !track(Kind::video).seen;
    part_independent_ = part_independent_ || is_start;
    has_frames_ = part_has_frames_ = true;
    note(packet);
    if (output_.size() >= kBlockBytes)
        seal();
}

void Segmenter::configure(const Packet& packet) {
    const Bytes payload = packet.payload.bytes();
    Track& of = track(packet.kind);
    if (std::ranges::equal(payload, of.config))
        return;  // some encoders send it with every key frame
    of.config.assign(payload.begin(), payload.end());
    const Packager::Change change = packager_->configure(packet);
    if (change == Packager::Change::none)
        return;
    if (!open_)
        next_discontinuity_ = true;
    else if (change == Packager::Change::new_segment)
        cut_before_ = packet.kind;
    else if (!told_parts_)
        discontinuity_ = true;
}

// The first frame that a player can begin with begins the frames.
bool Segmenter::is_wanted(const Packet& packet) const {
    const bool begins = packet.kind == Kind::video && !tracks_[media::index_of(Kind::video)].seen;
    return !begins || packet.key || !rules_.waits_for_key;
}

bool Segmenter::cuts(const Packet& packet) const {
    if (!has_frames_)
        return false;
    if (block_bytes_ >= kSegmentBytesMax)
        return true;
    const MediaTime length = packet.dts - start_;
    if (packet.kind == Kind::video)
        return (cut_before_ || length >= rules_.cut_at) && (packet.key || !rules_.waits_for_key);
    const bool waits_for_video = rules_.waits_for_key && tracks_[media::index_of(Kind::video)].seen;
    return length >= rules_.hard_cut_at || (cut_before_ == Kind::audio && !waits_for_video);
}

// Parts follow the frames where there are any, and begin anew with a key frame.
bool Segmenter::ends_part(const Packet& packet) const {
    if (!rules_.part || !part_has_frames_)
        return false;
    const bool has_video = tracks_[media::index_of(Kind::video)].seen;
    const MediaTime length = packet.dts - part_start_;
    if (has_video && packet.kind != Kind::video)
        return length >= 2 * *rules_.part;  // the frames have stopped
    return length >= *rules_.part - kPartSlack;
}

void Segmenter::open(MediaTime at) {
    open_ = true;
    start_ = part_start_ = std::max(at, covered_);
    discontinuity_ = std::exchange(next_discontinuity_, false);
    if (std::exchange(cut_before_, std::nullopt))
        discontinuity_ = true;
    has_frames_ = part_has_frames_ = told_parts_ = false;
    part_block_ = 0;
    packager_->begin_segment(output_);
    block_bytes_ = output_.size();
}

void Segmenter::close(MediaTime at, std::optional<Kind> next) {
    if (!open_)
        return;
    open_ = false;
    at = std::max(at, part_start_);  // kinds interleave by some milliseconds
    const MediaTime duration = at - start_;
    const bool is_kept = has_frames_ && (duration >= kKeptMin || told_parts_);
    if (is_kept) {
        end_part(at, next);
        covered_ = at;
        made_.emplace_back(SegmentMade{start_, duration, discontinuity_, std::move(blocks_), block_bytes_, init_});
    } else {
        packager_->end_part(at, next, output_);
        next_discontinuity_ = next_discontinuity_ || discontinuity_;
    }
    output_.clear();
    blocks_.clear();
    block_bytes_ = 0;
}

void Segmenter::end_part(MediaTime at, std::optional<Kind> next) {
    at = std::max(at, part_start_);
    const std::size_t before = output_.size();
    packager_->end_part(at, next, output_);
    block_bytes_ += output_.size() - before;
    keep_init();
    seal();
    if (rules_.part && part_has_frames_) {
        PartMade part{at - part_start_, part_independent_, discontinuity_, {}, init_};
        part.blocks.assign(blocks_.begin() + static_cast<std::ptrdiff_t>(part_block_), blocks_.end());
        made_.emplace_back(std::move(part));
        told_parts_ = true;
    }
    part_start_ = at;
    part_block_ = blocks_.size();
    part_has_frames_ = false;
    part_independent_ = false;
}

void Segmenter::keep_init() {
    if (auto init = packager_->init(); init.empty())
        init_.reset();
    else if (init_ == nullptr || *init_ != init)
        init_ = std::make_shared<const std::vector<std::uint8_t>>(std::move(init));
}

void Segmenter::seal() {
    if (output_.empty())
        return;
    if (output_.capacity() - output_.size() > output_.size() / 8)
        output_.shrink_to_fit();
    blocks_.push_back(std::make_shared<const std::vector<std::uint8_t>>(std::exchange(output_, {})));
}

void Segmenter::note(const Packet& packet) {
    Track& of = track(packet.kind);
    if (of.seen && packet.dts > of.last)
        of.step = packet.dts - of.last;
    of.seen = true;
    of.last = packet.dts;
}

// Each frame is taken to last as long as the one before.
MediaTime Segmenter::end_of_last() const {
    MediaTime end = start_;
    for (const Track& of : tracks_)
        if (of.seen)
            end = std::max(end, of.last + of.step);
    return end;
}

void Segmenter::interrupt() {
    close(end_of_last());
    next_discontinuity_ = true;
    for (Track& of : tracks_)
        of.seen = false;
}

void Segmenter::restart(std::unique_ptr<Packager> packager) {
    interrupt();
    cut_before_.reset();
    tracks_ = {};
    packager_ = std::move(packager);
}

std::vector<Made> Segmenter::take() { return std::exchange(made_, {}); }

}  // namespace live::service::hls
