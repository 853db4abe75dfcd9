#include "media/source/readers.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace live::media {

Readers::~Readers() { CHECK(attached_ == 0 && packet_readers_.empty() && log_readers_ == 0); }

void Readers::add(PacketReader& reader, WakeMode mode) {
    packet_readers_.push_back(&reader);
    add_listener(reader, mode);
    note_viewers();
}

void Readers::remove(PacketReader& reader) {
    std::erase(packet_readers_, &reader);
    remove_listener(reader);
    note_viewers();
}

void Readers::notify() const {
    for (const auto* listeners : {&listeners_, &batched_listeners_})
        for (std::size_t i = listeners->size(); i-- > 0;)
            (*listeners)[i]->on_packets();
}

void Readers::add_log() {
    ++attached_;
    ++logs_;
}

void Readers::remove_log() {
    --attached_;
    --logs_;
}

void Readers::add_log_reader(Audience audience) {
    ++log_readers_;
    unwatched_log_readers_ += audience == Audience::none ? 1 : 0;
    note_viewers();
}

void Readers::remove_log_reader(Audience audience) {
    --log_readers_;
    unwatched_log_readers_ -= audience == Audience::none ? 1 : 0;
    note_viewers();
}

bool Readers::has_viewer() const {
    return log_readers_ > unwatched_log_readers_ ||
           std::ranges::any_of(packet_readers_, [](const PacketReader* reader) { return reader->is_watched(); });
}

void Readers::note_viewers() {
    const bool watched = has_viewer();
    if (watched != std::exchange(watched_, watched))
        watches_.notify_watched(watched);
}

}  // namespace live::media
