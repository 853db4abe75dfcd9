#include "engine/rtp/receive/track_streams.hpp"

#include <algorithm>
#include <string>

#include "base/check.hpp"

namespace live::engine::rtp {

ReceiveStream* TrackStreams::find(std::uint32_t ssrc) const {
    const auto found = std::ranges::find(streams_, ssrc, &ReceiveStream::ssrc);
    return found == streams_.end() ? nullptr : found->get();
}

ReceiveStream* TrackStreams::find_rtx(std::uint32_t rtx_ssrc) const {
    const auto found = std::ranges::find_if(streams_, [rtx_ssrc](const auto& stream) { return stream->rtx_ssrc == rtx_ssrc; });
    return found == streams_.end() ? nullptr : found->get();
}

ReceiveStream* TrackStreams::find_rid(std::string_view rid) const {
    ReceiveStream* latest = nullptr;
    for (const auto& stream : streams_)
        if (stream->rid() == rid)
            latest = stream.get();
    return latest;
}

const ReceiveStream* TrackStreams::surplus(const ReceiveStream* kept) const {
    if (streams_.size() < kStreamsMax)
        return nullptr;
    const ReceiveStream* oldest = nullptr;
    for (const auto& stream : streams_)
        if (stream.get() != kept && (oldest == nullptr || stream->received_at() < oldest->received_at()))
            oldest = stream.get();
    return oldest;
}

ReceiveStream& TrackStreams::add(TimePoint now, std::uint32_t ssrc, std::string_view rid, std::chrono::microseconds round_trip) {
    CHECK(streams_.size() < kStreamsMax);
    const ReceiveStream::Options options{
        .ssrc = ssrc, .clock_rate = clock_rate_, .rid = std::string(rid), .has_nack = has_nack_, .round_trip = round_trip};
    streams_.push_back(std::make_unique<ReceiveStream>(options, now));
    return *streams_.back();
}

void TrackStreams::remove(const ReceiveStream& stream) {
    const auto found = std::ranges::find_if(streams_, [&stream](const auto& each) { return each.get() == &stream; });
    CHECK(found != streams_.end());
    given_up_before_ += stream.given_up();
    lost_before_ += stream.reception().lost();
    requested_before_ += stream.nacks().requested();
    streams_.erase(found);
}

std::uint64_t TrackStreams::given_up() const {
    std::uint64_t sum = given_up_before_;
    for_each([&sum](const ReceiveStream& stream) { sum += stream.given_up(); });
    return sum;
}

std::int64_t TrackStreams::lost() const {
    std::int64_t sum = lost_before_;
    for_each([&sum](const ReceiveStream& stream) { sum += stream.reception().lost(); });
    return sum;
}

std::uint64_t TrackStreams::requested() const {
    std::uint64_t sum = requested_before_;
    for_each([&sum](const ReceiveStream& stream) { sum += stream.nacks().requested(); });
    return sum;
}

}  // namespace live::engine::rtp
