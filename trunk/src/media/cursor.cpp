#include "media/cursor.hpp"

#include <utility>

namespace live::media {

Cursor::Cursor(Ref<Source> source, Listens how, Start start)
    : source_(std::move(source)), next_(start == Start::now ? source_->ring().next() : source_->join_point()) {
    source_->add_reader(*this);
    source_->add_listener(*this, how);
    introduce();
}

Cursor::~Cursor() {
    source_->remove_listener(*this);
    source_->remove_reader(*this);
}

void Cursor::introduce() {
    first_.clear();
    const Ring& ring = source_->ring();
    const MediaTime at = next_ < ring.next() ? ring.at(next_).dts : source_->timeline().newest();
    for (const Kind kind : {Kind::video, Kind::audio})
        if (!source_->config(kind).empty())
            first_.push_back({kind, false, true, at, source_->config(kind)});
    if (!source_->metadata().empty())
        first_.push_back({Kind::data, false, true, at, source_->metadata()});
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
    if (next_ >= source_->ring().next())
        return std::nullopt;
    return source_->ring().at(next_++);
}

}  // namespace live::media
