#include "media/source/cursor.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace live::media {

namespace {

Sequence place_of(const Source& source, Cursor::Start start) {
    switch (start) {
        case Cursor::Start::join_point: return source.retention().join_point();
        case Cursor::Start::overlapping: return source.retention().join_point(Cursor::kOverlap);
        case Cursor::Start::now: break;
    }
    return source.ring().next();
}

}  // namespace

Cursor::Cursor(Ref<Source> source, WakeMode mode, Start start, Tracks tracks, Audience audience)
    : source_(std::move(source)), next_(place_of(*source_, start)), tracks_(tracks), audience_(audience) {
    source_->readers().add(*this, mode);
    introduce();
}

Cursor::~Cursor() { source_->readers().remove(*this); }

void Cursor::set_audience(Audience audience) {
    audience_ = audience;
    source_->readers().note_viewers();
}

void Cursor::introduce() {
    first_.clear();
    const Ring& ring = source_->ring();
    const MediaTime at = next_ < ring.next() ? ring.at(next_).dts : source_->timeline().newest();
    const std::vector<Packet>& extra = source_->tracks().extra_configs();
    std::copy_if(extra.rbegin(), extra.rend(), std::back_inserter(first_),
                 [this](const Packet& config) { return config.is_of(tracks_); });
    for (const MediaKind kind : {MediaKind::video, MediaKind::audio, MediaKind::data})
        if (const Packet& config = source_->tracks().config(kind); config.is_config())
            first_.push_back(config);
    for (Packet& config : first_)
        config.dts = at;
}

void Cursor::jump(Sequence to) {
    dropped_ += to - next_;
    source_->count_dropped(to - next_);
    next_ = to;
    introduce();
}

std::optional<Packet> Cursor::take() {
    if (!first_.empty()) {
        Packet packet = std::move(first_.back());
        first_.pop_back();
        return packet;
    }
    skip_left_out();
    if (next_ >= source_->ring().next())
        return std::nullopt;
    return source_->ring().at(next_++);
}

std::size_t Cursor::next_bytes() {
    if (!first_.empty())
        return first_.back().payload.size();
    const Sequence at = next();
    return at < source_->ring().next() ? source_->ring().at(at).payload.size() : 0;
}

void Cursor::skip_left_out() {
    const Ring& ring = source_->ring();
    while (next_ < ring.next() && !ring.at(next_).is_of(tracks_))
        ++next_;
}

}  // namespace live::media
