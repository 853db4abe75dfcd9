#include "service/ingest/srt_pull.hpp"

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

std::optional<SrtPullTarget> srt_pull_target(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine,
                                             const IngestPlace& place) {
    const std::string output = replace_variables(engine.output, variables_of(ingest, engine, place));
    if (ingest.input_type != InputType::stream || engine.enabled || !is_this_server(output, place.rtmp_port))
        return std::nullopt;
    auto from = session::srt::parse_call_url(ingest.input_url);
    const auto to = wire::rtmp::parse_stream_url(output);
    if (!from.ok() || !to.ok() || !wire::rtmp::admit(*to).ok())
        return std::nullopt;
    SrtPullTarget target;
    target.from = *std::move(from);
    // As ffmpeg's would: rules about addresses see a client of this machine.
    target.to.ip = target.to.peer_ip = "127.0.0.1";
    target.to.vhost = to->vhost;
    target.to.app = to->app;
    target.to.stream = to->stream;
    target.to.param = to->param;
    target.to.tc_url = "srt://" + to->vhost + "/" + to->app;
    return target;
}

SrtPull::SrtPull(session::srt::Dialler& dialler, SrtPullTarget target, Timing timing, Log log)
    : dialler_(&dialler), target_(std::move(target)), timing_(std::move(timing)), log_(std::move(log)) {}

void SrtPull::run(io::Deadline deadline) {
    LOG_INFO(log_, "IGS start {}, url={}", timing_.name, target_.from.label());
    Backoff backoff(timing_.retry_first, timing_.retry_max);
    for (;;) {
        const TimePoint began = io::now();
        session::ClientRequest request = target_.to;
        const std::string id = random_id();
        request.id = id;
        const auto ended = dialler_->pull(target_.from, std::move(request), log_.with_id(id), deadline);
        if (!ended.ok() && ended.code() == Errc::cancelled)
            break;
        if (io::now() - began >= timing_.good_after)
            backoff.reset();
        const auto pause = backoff.next(static_cast<std::uint32_t>(random_number()));
        LOG_WARN(log_, "IGS retry in {} ms, {}, url={}: {}", pause.count(), timing_.name, target_.from.label(),
                 ended.ok() ? "the pull ended" : ended.error().text());
        if (!io::sleep(deadline.sooner(io::Deadline::after(pause))).ok())
            break;
    }
    LOG_INFO(log_, "IGS stop {}, url={}", timing_.name, target_.from.label());
}

}  // namespace live::service::ingest
