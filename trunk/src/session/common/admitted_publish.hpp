// How an admitted publisher acquires and holds its stream, whatever the protocol.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "base/result.hpp"
#include "base/signal.hpp"
#include "io/fibers/deadline.hpp"
#include "io/fibers/loop.hpp"
#include "media/source/publication.hpp"
#include "media/source/source_watch.hpp"
#include "media/source/stream_table.hpp"
#include "session/common/admission.hpp"

namespace live::session {

// How long a new publisher waits for the current publisher to check its own connection.
inline constexpr std::chrono::milliseconds kConfirmLimit{500};

// A publisher that returns at once after its connection broke finds itself on the stream: that connection is read on a tick, or
// its fiber has not run yet. Waits until the current publisher, if there is one, has ended or is known to be there.
[[gnu::noinline]] inline Result<void> end_gone_publisher(const Ref<media::Source>& source, io::Deadline deadline) {
    class Watch final : public media::SourceWatch {
    public:
        using SourceWatch::SourceWatch;
        Signal answered;

    private:
        // The stand-in.
        void on_publisher_began() override { answered.raise(); }
        void on_publisher_left() override { answered.raise(); }
        void on_publisher_confirmed() override { answered.raise(); }
    };
    constexpr int kTurns = 3;  // for a holder that is not on a tick: its fiber reads the end, and ends
    Watch watch(source);
    if (source->publications().ask()) {
        const auto answered = io::wait(watch.answered, deadline.sooner(io::Deadline::after(kConfirmLimit)));
        return answered.ok() || answered.code() == Errc::timed_out ? Result<void>() : answered;
    }
    for (int turn = 0; turn < kTurns && source->publications().owner() != nullptr; ++turn)
        TRY(io::yield(deadline));
    return {};
}

// The right to publish the stream of `plan`. Errc::conflict when another publisher has it and takeover is not allowed,
// Errc::limit.
inline Result<std::unique_ptr<media::Publication>> take_stream(media::StreamTable& streams, const StreamPlan& plan,
                                                               io::Deadline deadline) {
    using media::Source;
    const auto source = TRY(streams.find_or_create(plan.url, plan.play, plan.chunk_size));
    if (source->publications().owner() != nullptr && !plan.publish.takeover)
        TRY(end_gone_publisher(source, deadline));
    source->set_options(plan.play);
    return media::Publication::start(source, plan.publish.takeover ? media::Takeover::replace : media::Takeover::refuse);
}

// Asks whether the client may publish, sets `plan`, and takes the stream of it. The errors of Admission::serve_publish() and
// take_stream().
[[gnu::noinline]] inline Result<std::unique_ptr<media::Publication>> admit_publisher(Admission& admission,
                                                                                     media::StreamTable& streams,
                                                                                     const ClientRequest& request,
                                                                                     StreamPlan& plan, io::Deadline deadline) {
    plan = TRY(admission.serve_publish(request, deadline));
    return take_stream(streams, plan, deadline);
}

// Lives as long as the publisher has the stream. Reports its beginning, after that of a publication that waits for a key frame,
// and, after the publication is gone, its end. Everything referred to outlives it.
class AdmittedPublish final : private media::BeginListener {
public:
    AdmittedPublish(media::StreamTable& streams, StreamEvents& events, const ClientRequest& request, const StreamPlan& plan)
        : streams_(streams), events_(events), request_(request), plan_(plan) {
        const auto source = streams_.find(plan_.url);
        if (media::Publisher* const owner = source ? source->publications().owner() : nullptr; owner && owner->is_waiting())
            owner->set_begin_listener(*this);
        else
            events_.on_published(request_, plan_);
    }
    ~AdmittedPublish() {
        events_.on_publish_ended(request_, plan_);
        const auto source = streams_.find(plan_.url);
        if (media::Publisher* const owner = source ? source->publications().owner() : nullptr)
            owner->remove_begin_listener(*this);
        if (!source || !source->is_published())
            events_.on_unpublished(plan_.url);
    }
    AdmittedPublish(const AdmittedPublish&) = delete;
    AdmittedPublish& operator=(const AdmittedPublish&) = delete;

private:
    void on_begun() override { events_.on_published(request_, plan_); }

    media::StreamTable& streams_;
    StreamEvents& events_;
    const ClientRequest& request_;
    const StreamPlan& plan_;
};

}  // namespace live::session
