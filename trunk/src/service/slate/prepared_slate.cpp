#include "service/slate/prepared_slate.hpp"

#include <algorithm>
#include <utility>

namespace live::service::slate {

namespace {

using wire::codec::Content;

// When the frame after the last one of its kind would be due.
MediaTime end_of(const std::vector<SlateFrame>& frames, MediaKind kind) {
    MediaTime first{};
    MediaTime last{};
    MediaTime::rep count = 0;
    for (const SlateFrame& one : frames) {
        if (one.kind != kind)
            continue;
        first = count++ == 0 ? one.frame.dts : first;
        last = one.frame.dts;
    }
    if (count == 0)
        return {};
    constexpr MediaTime kUsual = std::chrono::milliseconds(40);
    return last + (count > 1 ? (last - first) / (count - 1) : kUsual);
}

}  // namespace

void SlateReader::take() {
    while (auto unit = reader_.next()) {
        if (unit->kind == MediaKind::data || unit->frame.content == Content::other || is_full_)
            continue;
        unit->frame.track = {};
        unit->frame.shares_memory = false;
        slate_.bytes += unit->frame.data.size();
        is_full_ = slate_.bytes > kBytesMax;
        auto& kept = unit->frame.content == Content::config ? slate_.configs : slate_.frames;
        // Kept for long, so that it must not keep the memory that it shares with others.
        unit->frame.data = Slice::copy_of(unit->frame.data.bytes());
        const bool is_first_config =
            std::ranges::none_of(slate_.configs, [&unit](const SlateFrame& known) { return known.kind == unit->kind; });
        if (&kept == &slate_.frames || is_first_config)
            kept.push_back({unit->kind, std::move(unit->frame)});
    }
}

bool SlateReader::feed(Bytes transport_stream) {
    reader_.feed(transport_stream);
    take();
    return !is_full_;
}

Result<PreparedSlate> SlateReader::finish() {
    reader_.finish();
    take();
    auto& frames = slate_.frames;
    std::ranges::stable_sort(frames, {}, [](const SlateFrame& one) { return one.frame.dts; });
    const auto first_video = std::ranges::find(frames, MediaKind::video, &SlateFrame::kind);
    if (frames.empty() || (first_video != frames.end() && !first_video->frame.key))
        return Error(Errc::malformed, "ffmpeg's output does not begin with a key frame");
    const MediaTime base = frames.front().frame.dts;
    for (SlateFrame& one : frames)
        one.frame.dts -= base;
    slate_.length = std::max(end_of(frames, MediaKind::video), end_of(frames, MediaKind::audio));
    return std::move(slate_);
}

void SlateClock::advance() {
    if (++next_ < slate_.frames.size())
        return;
    next_ = 0;
    round_ += slate_.length;
}

}  // namespace live::service::slate
