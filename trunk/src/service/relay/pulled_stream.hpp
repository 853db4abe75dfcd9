// PulledStream: publishes the media that a pull receives into its source. Each connection with media is a new publisher of the
// source that begins with a key frame, so that every output splices. Readers stay on the source.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/log/log.hpp"
#include "engine/relay/puller.hpp"
#include "engine/rtmp/events.hpp"
#include "media/ingest/ingest.hpp"
#include "media/source/publication.hpp"
#include "service/relay/pull_context.hpp"
#include "service/relay/upstream/upstream.hpp"

namespace live::service::relay {

class PulledStream {
public:
    // Data messages kept until the first audio or video of a connection.
    static constexpr std::size_t kEarlyMax = 16;

    // The pull, as a client of this server. Referenced objects must outlive the PulledStream.
    struct Publisher {
        session::ClientEntry& entry;
        const session::ClientRequest& request;
        const session::StreamPlan& plan;
        const Log& log;
    };

    PulledStream(const PullContext& context, engine::relay::Puller& puller, PullTotals& totals, Publisher publisher,
                 Ref<media::Source> source);

    // Call before the events that arrived at this time.
    void note_arrival(TimePoint now);
    // Reports whether the stream has new packets, which need a flush of the source. Errors: a publication cannot start.
    // `keeps_timeline`: see Upstream.
    Result<bool> push(engine::rtmp::GotMedia& media, bool keeps_timeline);
    Result<bool> push(GotFrame& got);
    // The publisher has left at the origin.
    void note_stream_ended();
    // The connection has ended. The publication is kept for the next one.
    void end_connection();
    void unpublish();

    media::Source& source() const { return *source_; }
    // Another client publishes the stream on this node.
    bool is_replaced() const { return publication_ != nullptr && !publication_->is_current(); }

private:
    Result<engine::relay::FrameUse> use_of(engine::relay::FrameKind kind);
    engine::relay::FrameKind kind_of(const engine::rtmp::GotMedia& media) const;
    bool awaits_key() const { return puller_.status().state != engine::relay::PullState::playing; }
    Result<void> publish();
    void push_data(engine::rtmp::GotMedia& media);
    void append_sync(const engine::rtmp::GotMedia& media);
    bool name_renditions(std::string_view text);
    void push_rtp_data(const engine::rtmp::GotMedia& media);

    const PullContext& context_;
    engine::relay::Puller& puller_;
    PullTotals& totals_;
    const Publisher publisher_;
    const Ref<media::Source> source_;
    std::unique_ptr<media::Publication> publication_;
    std::optional<media::Ingest> ingest_;        // of this connection, once it has media
    std::vector<engine::rtmp::GotMedia> early_;  // data before the first audio or video
    std::optional<session::StreamStay> stay_;
};

}  // namespace live::service::relay
