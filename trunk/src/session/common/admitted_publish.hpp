// How an admitted publisher acquires and holds its stream, whatever the protocol.
#pragma once

#include <memory>
#include <utility>

#include "base/result.hpp"
#include "media/stream_table.hpp"
#include "session/common/admission.hpp"

namespace live::session {

// The right to publish the stream of `plan`. Errc::conflict when another publisher has it and takeover is not allowed,
// Errc::limit.
inline Result<std::unique_ptr<media::Publication>> take_stream(media::StreamTable& streams, const StreamPlan& plan) {
    using media::Source;
    const auto source = TRY(streams.find_or_create(plan.url, plan.play, plan.chunk_size));
    source->set_options(plan.play);
    return source->publish(plan.publish.takeover ? Source::Takeover::replace : Source::Takeover::refuse);
}

// Lives as long as the publisher has the stream. Reports its beginning and, after the publication is gone, its end. Everything
// referred to outlives it.
class AdmittedPublish {
public:
    AdmittedPublish(media::StreamTable& streams, StreamEvents& events, const ClientRequest& request, const StreamPlan& plan)
        : streams_(streams), events_(events), request_(request), plan_(plan) {
        events_.on_published(request_, plan_);
    }
    ~AdmittedPublish() {
        events_.on_publish_ended(request_, plan_);
        const auto source = streams_.find(plan_.url);
        if (!source || !source->is_published())
            events_.on_unpublished(plan_.url);
    }
    AdmittedPublish(const AdmittedPublish&) = delete;
    AdmittedPublish& operator=(const AdmittedPublish&) = delete;

private:
    media::StreamTable& streams_;
    StreamEvents& events_;
    const ClientRequest& request_;
    const StreamPlan& plan_;
};

}  // namespace live::session
