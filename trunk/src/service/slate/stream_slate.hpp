// StreamSlate: the slate of one stream. It has the slate prepared while a publisher feeds the stream, and feeds the stream itself
// when the publisher has left, until the next one's key frame.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/bytes/ref.hpp"
#include "base/log/log.hpp"
#include "base/signal.hpp"
#include "io/fibers/deadline.hpp"
#include "media/source/publication.hpp"
#include "media/source/source.hpp"
#include "service/slate/slate_cache.hpp"
#include "session/common/admission.hpp"

namespace live::media {
class Ingest;
}

namespace live::service::slate {

struct SlateTotals {
    std::uint64_t shows = 0;  // that have begun
};

// All outlive the slates.
struct SlateContext {
    SlateCache& cache;
    session::StreamEvents& events;
    SlateTotals& totals;
    // The publisher may return at another worker or node, which does not report it here: a slate without viewers ends.
    bool ends_unwatched = false;
};

class StreamSlate final : private media::StandIn {
public:
    // How often the form of the stream is checked.
    static constexpr std::chrono::seconds kLookEvery{1};
    // Frames are pushed in batches.
    static constexpr std::chrono::milliseconds kTick{20};
    // The slate of a stream without a publisher ends after this time without viewers.
    static constexpr std::chrono::seconds kLinger{10};

    // For a stream that `request` publishes, or for one that players request: then `plan` is a player's.
    StreamSlate(SlateContext context, Ref<media::Source> source, session::ClientRequest request, session::StreamPlan plan,
                Log log);
    ~StreamSlate();
    StreamSlate(const StreamSlate&) = delete;
    StreamSlate& operator=(const StreamSlate&) = delete;

    // Until cancelled, or until a stream that nobody has published has no viewers.
    void run(io::Deadline deadline);

    // Another publisher has the stream.
    void follow(const session::ClientRequest& request, const session::StreamPlan& plan);
    // Shows this slate now, unless the stream is published.
    void show(std::shared_ptr<const PreparedSlate> slate);
    bool is_shown() const { return publication_ != nullptr; }
    const std::string& url() const { return source_->url(); }

private:
    // Why a slate ends.
    enum class End : std::uint8_t { published, late, unwatched, cancelled };

    // media::StandIn
    void on_publisher_gone() override;
    void prepare_ahead();
    void begin(std::shared_ptr<const PreparedSlate> slate);
    void play(io::Deadline deadline);
    End push_frames(io::Deadline deadline);
    void push_due(media::Ingest& ingest, SlateClock& clock, MediaTime now);
    std::optional<End> is_over(TimePoint now);

    const SlateContext context_;
    Ref<media::Source> source_;
    session::ClientRequest request_;
    session::StreamPlan plan_;
    Log log_;
    std::optional<SlateForm> form_;                    // of the publisher's tracks
    std::shared_ptr<const PreparedSlate> slate_;       // while it is shown. Owners: this, the cache
    std::unique_ptr<media::Publication> publication_;  // likewise
    Signal woken_;
    TimePoint began_{};
    TimePoint watched_{};
    bool is_wanted_always_ = false;  // nobody has published the stream yet
    bool is_ending_ = false;
};

}  // namespace live::service::slate
