#include "service/snapshot/snapshot_service.hpp"

#include <algorithm>
#include <utility>

#include "io/fibers/loop.hpp"
#include "io/fibers/off_loop.hpp"
#include "media/source/cursor.hpp"

namespace live::service::snapshot {

Result<Block> SnapshotService::take(const std::string& url, io::Deadline deadline) {
    const Ref<media::Source> source = streams_.find(url);
    if (!source || !source->is_published()) {
        kept_.erase(url);
        return Error(Errc::not_found, "this stream is not published");
    }
    const auto kept = kept_of(url);
    if (kept->is_making)
        return wait_for(*kept, deadline);
    if (kept->picture && io::now() - kept->made_at < options_.fresh_for)
        return *kept->picture;
    if (making_ >= options_.making_max)
        return Error(Errc::limit, "too many snapshots are being made");
    kept->is_making = true;
    ++making_;
    auto picture = make(source, deadline);
    --making_;
    kept->is_making = false;
    kept->made_at = io::now();
    // Cancelling a request is no failure of the snapshot.
    if (picture.ok() || picture.code() != Errc::cancelled)
        kept->picture = picture;
    else
        kept->picture = Error(Errc::limit, "the snapshot was cancelled; repeat the request");
    kept->waiters.raise();
    return picture;
}

Result<Block> SnapshotService::wait_for(Kept& kept, io::Deadline deadline) {
    if (kept.waiting >= kWaitingMax)
        return Error(Errc::limit, "too many wait for this snapshot");
    ++kept.waiting;
    Signal signal;
    kept.waiters.add(signal);
    Result<void> woken;
    while (kept.is_making && woken.ok())
        woken = io::wait(signal, deadline.sooner(io::Deadline::after(kKeyFrameWait + kMakingLimit)));
    kept.waiters.remove(signal);
    --kept.waiting;
    TRY(woken);
    return *kept.picture;
}

// When there are too many, the oldest is removed, unless it is in use.
SnapshotService::KeptRef SnapshotService::kept_of(const std::string& url) {
    if (const auto found = kept_.find(url); found != kept_.end())
        return found->second;
    if (kept_.size() >= kKeptMax) {
        const auto age = [](const auto& entry) { return std::pair(entry.second->is_making, entry.second->made_at); };
        const auto oldest = std::ranges::min_element(kept_, [&age](const auto& a, const auto& b) { return age(a) < age(b); });
        kept_.erase(oldest);
    }
    return kept_[url] = std::make_shared<Kept>();
}

Result<Block> SnapshotService::make(const Ref<media::Source>& source, io::Deadline deadline) {
    auto frame = TRY(find_key_frame(source, deadline.sooner(io::Deadline::after(kKeyFrameWait))));
    auto jpeg = TRY(io::off_loop([frame = std::move(frame), width = options_.width_max] { return jpeg_of(frame, width); },
                                 deadline.sooner(io::Deadline::after(kMakingLimit))));
    return Block(std::make_shared<const std::vector<std::uint8_t>>(std::move(jpeg)));
}

Result<KeyFrame> SnapshotService::find_key_frame(const Ref<media::Source>& source, io::Deadline deadline) {
    const auto of = [&source](const media::Packet& packet) {
        return key_frame_of(packet, source->tracks().config(MediaKind::video));
    };
    if (const auto newest = source->retention().gop_start(); newest && *newest >= source->ring().first())
        return of(source->ring().at(*newest));
    const auto has_video = [&source] {
        return source->tracks().last_time(MediaKind::video) || source->tracks().config(MediaKind::video).payload.size() > 0;
    };
    media::Cursor cursor(source, media::WakeMode::batched, media::Cursor::Start::now);
    const auto video_due = deadline.sooner(io::Deadline::after(kVideoWait));
    for (;;) {
        while (const auto packet = cursor.take())
            if (packet->kind == MediaKind::video && packet->key)
                return of(*packet);
        const auto woken = io::wait(cursor.readable(), has_video() ? deadline : video_due);
        if (!woken.ok() && woken.code() != Errc::timed_out)
            return woken.error();
        if (!has_video() && video_due.expired())
            return Error(Errc::not_found, "the stream has no video");
        if (deadline.expired())
            return Error(Errc::timed_out, "no key frame came in time");
    }
}

}  // namespace live::service::snapshot
