#include "service/ingest/native_pull.hpp"

#include <utility>

#include "base/backoff.hpp"
#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "service/ffmpeg/own_output.hpp"

namespace live::service::ingest {

std::optional<session::ClientRequest> published_stream(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine,
                                                       const IngestPlace& place) {
    const std::string output = replace_variables(engine.output, variables_of(ingest, engine, place));
    const std::uint16_t port = place.rtmp_port;
    return ffmpeg::own_output(output, {&port, 1});
}

std::optional<session::ClientRequest> copied_stream(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine,
                                                    const IngestPlace& place) {
    if (ingest.input_type != InputType::stream || engine.enabled)
        return std::nullopt;
    return published_stream(ingest, engine, place);
}

// The demand has two owners: the pull, and the fibers of clients that wait.
NativePull::NativePull(Call call, std::string label, session::ClientRequest to, Timing timing, Log log, Hold hold,
                       std::shared_ptr<Demand> demand)
    : call_(std::move(call)),
      label_(std::move(label)),
      to_(std::move(to)),
      timing_(std::move(timing)),
      log_(std::move(log)),
      hold_(std::move(hold)),
      demand_(std::move(demand)),
      since_(io::now()) {}

void NativePull::run(io::Deadline deadline) {
    LOG_INFO(log_, "IGS start {}, url={}{}", timing_.name, label_, demand_ == nullptr ? "" : ", on demand");
    Backoff backoff(timing_.retry_first, timing_.retry_max);
    for (;;) {
        if (!await_demand(deadline).ok())
            break;
        const TimePoint began = io::now();
        const auto ended = call_once(deadline);
        if (!ended.ok() && ended.code() == Errc::cancelled)
            break;
        last_error_ = ended.ok() ? "the pull ended" : ended.error().text();
        // Another publisher, or another worker's pull, is no failure of the camera.
        is_published_ = !ended.ok() && ended.code() == Errc::conflict;
        if (demand_ != nullptr && !demand_->is_wanted(io::now())) {
            LOG_INFO(log_, "IGS pause {}, url={}: nobody watches ({})", timing_.name, label_, last_error_);
            // A pull that had media has ended for that reason.
            if (connected_until_ >= began)
                last_error_.clear();
            hold(false);
            backoff.reset();
            continue;
        }
        if (io::now() - began >= timing_.good_after)
            backoff.reset();
        const auto length = backoff.next(static_cast<std::uint32_t>(random_number()));
        LOG_WARN(log_, "IGS retry in {} ms, {}, url={}: {}", length.count(), timing_.name, label_, last_error_);
        if (demand_ != nullptr)
            demand_->note_failure(ended.ok() ? last_error_ : ended.error().sentence());
        if (!pause(length, deadline).ok())
            break;
    }
    hold(false);
    if (demand_ != nullptr)
        demand_->note_failure("the ingest ends");
    LOG_INFO(log_, "IGS stop {}, url={}", timing_.name, label_);
}

Result<void> NativePull::await_demand(io::Deadline deadline) {
    while (demand_ != nullptr && !demand_->is_wanted(io::now())) {
        set_state(IngestState::idle);
        if (is_published_)
            last_error_.clear();
        TRY(io::wait(demand_->began(), deadline));
    }
    return {};
}

Result<void> NativePull::call_once(io::Deadline deadline) {
    set_state(IngestState::connecting);
    ++calls_;
    session::ClientRequest request = to_;
    const std::string id = random_id();
    request.id = id;
    return call_(std::move(request), log_.with_id(id), [this](session::PulledLink* link) { set_link(link); }, deadline);
}

Result<void> NativePull::pause(std::chrono::milliseconds length, io::Deadline deadline) {
    set_state(IngestState::waiting);
    if (io::now() - connected_until_ > kHeldFor)
        hold(false);
    next_attempt_ = io::now() + length;
    auto slept = io::sleep(deadline.sooner(io::Deadline::at(*next_attempt_)));
    next_attempt_.reset();
    return slept;
}

void NativePull::hold(bool holds) const {
    if (hold_)
        hold_(holds);
}

void NativePull::set_state(IngestState state) {
    if (state_ != state)
        since_ = io::now();
    state_ = state;
}

void NativePull::set_link(session::PulledLink* link) {
    if (link == nullptr && link_ != nullptr) {
        const auto last = link_->pull_figures();
        ended_.received_bytes += last.received_bytes;
        ended_.packets += last.packets;
        ended_.lost_packets += last.lost_packets;
        if (last.has_media)
            connected_until_ = io::now();
    }
    link_ = link;
    set_state(link == nullptr ? IngestState::connecting : IngestState::running);
}

void NativePull::check_demand(TimePoint now) const {
    // The players of a stream that has media wait for it to return.
    if (link_ != nullptr && link_->pull_figures().has_media)
        hold(true);
    if (link_ != nullptr && demand_ != nullptr && !demand_->is_wanted(now))
        link_->end_pull("nobody watches");
}

IngestFacts NativePull::facts() const {
    IngestFacts facts;
    facts.is_native = true;
    facts.is_on_demand = demand_ != nullptr;
    facts.input = label_;
    facts.state = state_;
    facts.since = since_;
    if (link_ != nullptr)
        facts.link = link_->pull_figures();
    if (state_ == IngestState::running && !facts.link.has_media)
        facts.state = IngestState::connecting;
    facts.link.received_bytes += ended_.received_bytes;
    facts.link.packets += ended_.packets;
    facts.link.lost_packets += ended_.lost_packets;
    facts.restarts = calls_ > 0 ? calls_ - 1 : 0;
    facts.last_error = last_error_;
    facts.next_attempt = next_attempt_;
    return facts;
}

}  // namespace live::service::ingest
