// SnapshotService: the newest key frame of a stream as a JPEG. Decoded in a worker thread, a few at once; a snapshot serves all
// requests while it is fresh, and requests during its decoding wait for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes/block.hpp"
#include "base/log/log.hpp"
#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "media/source/stream_table.hpp"
#include "service/files/waiters.hpp"
#include "service/snapshot/key_frame.hpp"

namespace live::service::snapshot {

class SnapshotService {
public:
    static constexpr std::chrono::seconds kFreshFor{2};
    // At once, over all streams: leaves some workers for files.
    static constexpr std::size_t kMakingMax = 2;

    struct Options {
        std::chrono::seconds fresh_for = kFreshFor;
        std::size_t making_max = kMakingMax;
        int width_max = kWidthMax;
    };
    // For pages that anybody may open.
    static constexpr Options thumbnails() { return {std::chrono::seconds(10), 1, kThumbnailWidthMax}; }

    // Requests that wait for one snapshot.
    static constexpr std::size_t kWaitingMax = 64;
    // Snapshots that are kept, of different streams.
    static constexpr std::size_t kKeptMax = 64;
    // Wait for the next key frame of a stream without a cached one (gop_cache off); and for everything else.
    static constexpr std::chrono::seconds kKeyFrameWait{5};
    // For any video: a stream that has just begun, or whose pull has, may have sent only audio yet.
    static constexpr std::chrono::seconds kVideoWait{1};
    static constexpr std::chrono::seconds kMakingLimit{10};

    // `streams` outlives this.
    explicit SnapshotService(const media::StreamTable& streams) : SnapshotService(streams, Options()) {}
    SnapshotService(const media::StreamTable& streams, const Options& options) : streams_(streams), options_(options) {}

    // Errc::not_found: the stream is not published, or has no video. Errc::limit: too many requests at once. Errc::timed_out: no
    // key frame arrived. Errc::unsupported, Errc::malformed and others of jpeg_of(). Errc::cancelled.
    Result<Block> take(const std::string& url, io::Deadline deadline);

    // Snapshots and errors that are kept.
    std::size_t size() const { return kept_.size(); }

private:
    // Its second owner is a waiting request.
    struct Kept {
        std::optional<Result<Block>> picture;
        TimePoint made_at{};
        bool is_making = false;
        std::size_t waiting = 0;
        files::Waiters waiters;
    };

    using KeptRef = std::shared_ptr<Kept>;

    Result<Block> make(const Ref<media::Source>& source, io::Deadline deadline);
    static Result<KeyFrame> find_key_frame(const Ref<media::Source>& source, io::Deadline deadline);
    static Result<Block> wait_for(Kept& kept, io::Deadline deadline);
    KeptRef kept_of(const std::string& url);

    const media::StreamTable& streams_;
    const Options options_;
    std::unordered_map<std::string, KeptRef> kept_;
    std::size_t making_ = 0;
};

}  // namespace live::service::snapshot
