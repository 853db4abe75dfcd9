#include "service/hls/ts_packager.hpp"

namespace live::service::hls {

Packager::Change TsPackager::configure(const media::Packet& config) {
    std::vector<std::uint8_t> nothing;
    const wire::ts::Tracks before = converter_.tracks();
    const Bytes body = config.payload.bytes();
    // A codec that cannot be carried costs the stream that kind, and nothing else.
    static_cast<void>(config.kind == media::Kind::video ? converter_.push_video(config.dts, body, nothing)
                                                        : converter_.push_audio(config.dts, body, nothing));
    if (config.kind == media::Kind::video)
        return converter_.tracks().video ? Change::new_segment : Change::none;
    // Each frame of sound says itself what it is.
    if (before == converter_.tracks())
        return converter_.tracks().audio ? Change::in_place : Change::none;
    return before.audio ? Change::new_segment : Change::in_place;
}

void TsPackager::begin_segment(std::vector<std::uint8_t>& out) { converter_.write_tables(out); }

bool TsPackager::add(const media::Packet& packet, std::vector<std::uint8_t>& out) {
    const std::size_t before = out.size();
    const Bytes body = packet.payload.bytes();
    const auto added = packet.kind == media::Kind::video ? converter_.push_video(packet.dts, body, out)
                                                         : converter_.push_audio(packet.dts, body, out);
    return added.ok() && out.size() > before;
}

}  // namespace live::service::hls
