#include "media/ingest/interleaver.hpp"

#include <utility>

namespace live::media {

void Interleaver::push(Packet packet) {
    ++count_[index_of(packet.kind)];
    const MediaTime at = packet.dts;
    held_.emplace(at, std::move(packet));
}

std::optional<Packet> Interleaver::pop() {
    const std::size_t audio = count_[index_of(MediaKind::audio)];
    const std::size_t video = count_[index_of(MediaKind::video)];
    const bool both = audio > 0 && video > 0;
    const bool data_first = !held_.empty() && held_.begin()->second.kind == MediaKind::data;
    return both || data_first || audio >= kHeldMax || video >= kHeldMax ? drain() : std::nullopt;
}

std::optional<Packet> Interleaver::drain() {
    if (held_.empty())
        return std::nullopt;
    Packet packet = std::move(held_.begin()->second);
    held_.erase(held_.begin());
    --count_[index_of(packet.kind)];
    return packet;
}

}  // namespace live::media
