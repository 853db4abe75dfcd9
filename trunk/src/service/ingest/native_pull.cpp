#include "service/ingest/native_pull.hpp"

#include <utility>

#include "base/backoff.hpp"
#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/net/endpoint.hpp"
#include "base/net/host_and_port.hpp"
#include "io/fibers/loop.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::service::ingest {

namespace {

constexpr std::string_view kRtmp = "rtmp://";
constexpr std::uint16_t kRtmpPort = 1935;

// Where ffmpeg would reach this server.
bool is_this_server(std::string_view output, std::uint16_t rtmp_port) {
    if (!output.starts_with(kRtmp))
        return false;
    output.remove_prefix(kRtmp.size());
    const auto where = parse_host(output.substr(0, output.find('/')));
    return where.ok() && where->port.value_or(kRtmpPort) == rtmp_port &&
           (where->host == "localhost" || Endpoint{where->host, rtmp_port}.is_loopback());
}

}  // namespace

std::optional<session::ClientRequest> published_stream(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine,
                                                       const IngestPlace& place) {
    const std::string output = replace_variables(engine.output, variables_of(ingest, engine, place));
    if (!is_this_server(output, place.rtmp_port))
        return std::nullopt;
    const auto to = wire::rtmp::parse_stream_url(output);
    if (!to.ok() || !wire::rtmp::admit(*to).ok())
        return std::nullopt;
    session::ClientRequest request;
    // As ffmpeg's would: rules about addresses see a client of this machine.
    request.ip = request.peer_ip = "127.0.0.1";
    request.vhost = to->vhost;
    request.app = to->app;
    request.stream = to->stream;
    request.param = to->param;
    return request;
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
        if (demand_ != nullptr && !demand_->is_wanted(io::now())) {
            LOG_INFO(log_, "IGS pause {}, url={}: nobody watches", timing_.name, label_);
            hold(false);
            backoff.reset();
            continue;
        }
        if (io::now() - began >= timing_.good_after)
            backoff.reset();
        const auto length = backoff.next(static_cast<std::uint32_t>(random_number()));
        last_error_ = ended.ok() ? "the pull ended" : ended.error().text();
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
