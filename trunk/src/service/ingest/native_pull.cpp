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

std::optional<session::ClientRequest> copied_stream(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine,
                                                    const IngestPlace& place) {
    const std::string output = replace_variables(engine.output, variables_of(ingest, engine, place));
    if (ingest.input_type != InputType::stream || engine.enabled || !is_this_server(output, place.rtmp_port))
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

NativePull::NativePull(Call call, std::string label, session::ClientRequest to, Timing timing, Log log)
    : call_(std::move(call)), label_(std::move(label)), to_(std::move(to)), timing_(std::move(timing)), log_(std::move(log)) {}

void NativePull::run(io::Deadline deadline) {
    LOG_INFO(log_, "IGS start {}, url={}", timing_.name, label_);
    Backoff backoff(timing_.retry_first, timing_.retry_max);
    for (;;) {
        const TimePoint began = io::now();
        session::ClientRequest request = to_;
        const std::string id = random_id();
        request.id = id;
        const auto ended = call_(std::move(request), log_.with_id(id), deadline);
        if (!ended.ok() && ended.code() == Errc::cancelled)
            break;
        if (io::now() - began >= timing_.good_after)
            backoff.reset();
        const auto pause = backoff.next(static_cast<std::uint32_t>(random_number()));
        LOG_WARN(log_, "IGS retry in {} ms, {}, url={}: {}", pause.count(), timing_.name, label_,
                 ended.ok() ? "the pull ended" : ended.error().text());
        if (!io::sleep(deadline.sooner(io::Deadline::after(pause))).ok())
            break;
    }
    LOG_INFO(log_, "IGS stop {}, url={}", timing_.name, label_);
}

}  // namespace live::service::ingest
