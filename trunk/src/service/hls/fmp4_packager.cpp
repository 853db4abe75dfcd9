#include "service/hls/fmp4_packager.hpp"

#include <utility>

#include "base/byte_writer.hpp"

namespace live::service::hls {

using media::Kind;

Packager::Change Fmp4Packager::configure(const media::Packet& config) {
    const std::uint32_t before = reader_.version();
    // A codec that cannot be carried costs the stream that kind, and nothing else.
    static_cast<void>(config.kind == Kind::video ? reader_.push_video(frame_of(config)) : reader_.push_audio(frame_of(config)));
    return reader_.version() == before ? Change::none : Change::new_segment;
}

// The header of the tracks that are known now.
void Fmp4Packager::renew() {
    std::vector<wire::mp4::TrackFormat> tracks;
    video_.reset();
    audio_.reset();
    if (reader_.video()) {
        video_ = tracks.size();
        tracks.push_back(*reader_.video());
    }
    if (reader_.audio()) {
        audio_ = tracks.size();
        tracks.push_back(*reader_.audio());
    }
    if (tracks.empty() || (writer_ && tracks == tracks_))
        return;
    tracks_ = tracks;
    writer_.emplace(std::move(tracks));
    ByteWriter header;
    writer_->write_init(header);
    init_ = header.release();
}

bool Fmp4Packager::add(const media::Packet& packet, std::vector<std::uint8_t>& out) {
    auto sample = packet.kind == Kind::video ? reader_.push_video(frame_of(packet)) : reader_.push_audio(frame_of(packet));
    if (!sample.ok() || !*sample)
        return false;
    if (std::exchange(is_fresh_, false))
        renew();
    const auto place = track(packet.kind);
    if (!writer_ || !place)
        return false;
    if (writer_->bytes() >= wire::mp4::FragmentWriter::kLiveBytes)
        end_part(packet.dts, packet.kind, out);
    auto pushed = writer_->push(*place, **sample);
    if (!pushed.ok() && pushed.code() == Errc::limit) {
        ByteWriter fragment;
        writer_->cut(fragment);
        const auto written = fragment.written();
        out.insert(out.end(), written.begin(), written.end());
        pushed = writer_->push(*place, **std::move(sample));
    }
    return pushed.ok();
}

void Fmp4Packager::end_part(MediaTime end, std::optional<Kind> next, std::vector<std::uint8_t>& out) {
    if (!writer_ || writer_->empty())
        return;
    std::optional<wire::mp4::FragmentWriter::Next> behind;
    if (next && track(*next))
        behind = wire::mp4::FragmentWriter::Next{*track(*next), end};
    ByteWriter fragment;
    writer_->cut(fragment, behind);
    const auto written = fragment.written();
    out.insert(out.end(), written.begin(), written.end());
}

}  // namespace live::service::hls
