#include "wire/rtp_payload/latm.hpp"

#include <utility>

namespace live::wire::rtp_payload {

Result<LatmDepacketizer> LatmDepacketizer::make(Bytes stream_mux_config, std::uint32_t clock_rate) {
    LatmDepacketizer made(clock_rate);
    made.is_in_band_ = stream_mux_config.empty();
    if (!made.is_in_band_)
        TRY(made.reader_.set_config(stream_mux_config));
    return made;
}

// The marker is set on the last packet of an element.
Result<void> LatmDepacketizer::push(const Fragment& fragment) {
    if (!open_.empty() && fragment.sequence != next_sequence_)
        is_broken_ = true;
    next_sequence_ = fragment.sequence + 1;
    const bool is_long = open_.size() + fragment.payload.size() > kElementBytesMax;
    is_broken_ = is_broken_ || is_long;
    if (!is_broken_)
        open_.insert(open_.end(), fragment.payload.begin(), fragment.payload.end());
    Result<void> result;
    if (is_long)
        result = Error(Errc::limit, "LATM in RTP: an element of more than " + std::to_string(kElementBytesMax) + " bytes");
    else if (fragment.marker && !is_broken_)
        result = read(fragment.timestamp);
    if (fragment.marker) {
        open_.clear();
        is_broken_ = false;
    }
    return result;
}

Result<void> LatmDepacketizer::read(std::uint32_t timestamp) {
    constexpr std::uint64_t kSamples = 1'024;
    std::vector<Slice> units;
    TRY(is_in_band_ ? reader_.read_element(open_, units) : reader_.read_payloads(open_, units));
    const std::uint32_t rate = reader_.parsed().sample_rate;
    const auto ticks = rate == 0 ? 0U : static_cast<std::uint32_t>(kSamples * clock_rate_ / rate);
    for (const Slice& unit : units) {
        Frame frame;
        frame.timestamp = timestamp;
        frame.is_key = true;
        frame.data.assign(unit.bytes().begin(), unit.bytes().end());
        frames_.push_back(std::move(frame));
        timestamp += ticks;
    }
    return {};
}

std::optional<Frame> LatmDepacketizer::poll() {
    if (frames_.empty())
        return std::nullopt;
    Frame frame = std::move(frames_.front());
    frames_.pop_front();
    return frame;
}

}  // namespace live::wire::rtp_payload
