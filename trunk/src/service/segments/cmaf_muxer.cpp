#include "service/segments/cmaf_muxer.hpp"

#include <utility>

#include "base/bytes/byte_writer.hpp"
#include "wire/mp4/event_message.hpp"

namespace live::service::segments {

using media::Codec;
using media::Packet;

namespace {

// In two steps, so that the multiplication cannot overflow 64 bits.
MediaTime time_of(std::uint64_t ticks, std::uint32_t timescale) {
    constexpr std::uint64_t kMicros = 1'000'000;
    return MediaTime(static_cast<std::int64_t>(ticks / timescale * kMicros + ticks % timescale * kMicros / timescale));
}

}  // namespace

bool CmafMuxer::may_change_format(const Packet& packet) const {
    const bool is_self_describing = packet.codec == Codec::av1 || packet.codec == Codec::vp9;
    return packet.is_config() || !knows(packet.kind) || (packet.key && is_self_describing);
}

bool CmafMuxer::knows(MediaKind kind) const { return (kind == MediaKind::video ? reader_.video() : reader_.audio()).has_value(); }

Muxer::Change CmafMuxer::configure(const Packet& packet) {
    const std::uint32_t before = reader_.version();
    // An unsupported codec drops only its own track.
    static_cast<void>(packet.kind == MediaKind::video ? reader_.push_video(frame_of(packet))
                                                      : reader_.push_audio(frame_of(packet)));
    return reader_.version() == before ? Change::none : Change::new_segment;
}

void CmafMuxer::begin_segment(std::vector<std::uint8_t>&, const MuxerState* resumed) {
    is_fresh_ = true;
    length_ = 0;
    renew();
    if (resumed != nullptr)
        restore(*resumed);
    state_ = read_state();
}

// The fragment's sequence number, then two numbers per track: its newest tick plus one, or 0, and its last duration.
MuxerState CmafMuxer::read_state() const {
    if (!writer_)
        return {};
    const auto state = writer_->state();
    MuxerState numbers = {state.sequence};
    for (const auto& track : state.tracks)
        numbers.insert(numbers.end(), {track.tick ? *track.tick + 1 : 0, track.last_ticks});
    return numbers;
}

void CmafMuxer::restore(const MuxerState& state) {
    if (!writer_ || state.empty())
        return;
    wire::mp4::FragmentWriter::State writer{static_cast<std::uint32_t>(state.front()), {}};
    for (std::size_t i = 1; i + 1 < state.size(); i += 2)
        writer.tracks.push_back(
            {state[i] > 0 ? std::optional(state[i] - 1) : std::nullopt, static_cast<std::uint32_t>(state[i + 1])});
    writer_->restore(writer);
}

// Rebuilds the header from the tracks known now.
void CmafMuxer::renew() {
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

bool CmafMuxer::add(const Packet& packet, std::vector<std::uint8_t>& out) {
    auto sample = packet.kind == MediaKind::video ? reader_.push_video(frame_of(packet)) : reader_.push_audio(frame_of(packet));
    const auto place = track(packet.kind);
    if (!sample.ok() || !*sample || !writer_ || !place)
        return false;
    const std::size_t with_it = writer_->bytes() + (*sample)->data.size();
    if (!writer_->empty() && with_it > wire::mp4::FragmentWriter::kLiveBytes)
        end_part(packet.dts, packet.kind, out);
    auto pushed = writer_->push(*place, **sample);
    if (!pushed.ok() && pushed.code() == Errc::limit) {
        cut({}, out);
        pushed = writer_->push(*place, **std::move(sample));
    }
    return pushed.ok();
}

void CmafMuxer::add_event(const media::TimedEvent& event, std::vector<std::uint8_t>&) {
    if (event.kind != media::TimedEvent::Kind::id3 || messages_.size() + event.data.size() > kMessageBytesMax)
        return;
    ByteWriter out(std::move(messages_));
    wire::mp4::write_event_at(out, wire::mp4::kId3Scheme, event.at, event.data.bytes());
    messages_ = out.release();
}

void CmafMuxer::end_part(MediaTime end, std::optional<MediaKind> next, std::vector<std::uint8_t>& out) {
    if (!writer_ || writer_->empty())
        return;
    std::optional<wire::mp4::FragmentWriter::Next> after;
    if (next && track(*next))
        after = wire::mp4::FragmentWriter::Next{*track(*next), end};
    cut(after, out);
}

void CmafMuxer::cut(std::optional<wire::mp4::FragmentWriter::Next> next, std::vector<std::uint8_t>& out) {
    ByteWriter fragment(out.empty() ? std::exchange(out, {}) : std::vector<std::uint8_t>());
    if (std::exchange(is_fresh_, false) && type_ == SegmentType::said)
        wire::mp4::write_segment_type(fragment);
    fragment.bytes(std::exchange(messages_, {}));
    writer_->cut(fragment, next);
    const auto& cut = writer_->last_cut(0);
    if (length_ == 0)
        start_ = cut.start;
    if (cut.length > 0)
        length_ = cut.start + cut.length - start_;
    if (out.empty()) {
        out = fragment.release();  // megabytes are not copied again
        return;
    }
    const auto written = fragment.written();
    out.insert(out.end(), written.begin(), written.end());
}

std::optional<wire::mp4::TrackFormat> CmafMuxer::format() const {
    return tracks_.size() == 1 ? std::optional(tracks_.front()) : std::nullopt;
}

std::optional<Extent> CmafMuxer::extent() const {
    if (tracks_.size() != 1 || length_ == 0)
        return std::nullopt;
    const std::uint32_t timescale = tracks_.front().timescale;
    const MediaTime start = time_of(start_, timescale);
    return Extent{start, time_of(start_ + length_, timescale) - start};
}

}  // namespace live::service::segments
