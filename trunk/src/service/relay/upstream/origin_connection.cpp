#include "service/relay/upstream/origin_connection.hpp"

#include <array>
#include <utility>
#include <vector>

#include "base/bytes/random.hpp"
#include "io/fibers/loop.hpp"
#include "service/relay/upstream/flv_upstream.hpp"
#include "service/relay/upstream/rtmp_upstream.hpp"
#include "service/relay/upstream/ts_upstream.hpp"

namespace live::service::relay {

Result<void> OriginConnection::dial(const Wanted& wanted, Signal& interrupt, io::Deadline deadline) {
    const Origin& origin = wanted.origin;
    latency_ = Duration::zero();
    stream_ = origin.scheme == Scheme::worker
                  ? TRY(context_.dial.worker(origin.port))
                  : TRY(rtmp_client::dial({origin.host, origin.port, is_secure(origin.scheme), origin.name, wanted.sent_by},
                                          context_.dial, deadline, &interrupt));
    return {};
}

Result<void> OriginConnection::call(const session::srt::CallUrl& url, io::Deadline deadline) {
    if (!context_.srt)
        return Error(Errc::unsupported, "SRT is not available");
    auto stream = TRY(context_.srt().open(url, deadline));
    latency_ = stream->latency();
    stream_ = std::move(stream);
    return {};
}

Result<void> OriginConnection::begin(const Wanted& wanted, const ClusterOptions& options, const Introduction& introduction,
                                     session::ClientRequest& request) {
    request.protocol = "rtmp";
    if (wanted.origin.scheme == Scheme::srt) {
        request.protocol = "srt";
        upstream_ = std::make_unique<TsUpstream>();
    } else if (is_http(wanted.origin.scheme)) {
        request.protocol = "http-flv";
        upstream_ = std::make_unique<FlvUpstream>(flv_request(wanted, context_.node, introduction));
    } else {
        engine::rtmp::ClientOptions asked = rtmp_request(wanted, options, context_.node, introduction);
        request.tc_url = asked.tc_url;
        upstream_ = std::make_unique<RtmpUpstream>(std::move(asked), random_number());
    }
    return upstream_->start(io::now());
}

void OriginConnection::close() {
    earlier_bytes_ = bytes_received();
    upstream_.reset();
    if (stream_ != nullptr)
        stream_->close();
    stream_.reset();
}

Result<void> OriginConnection::send(io::Deadline deadline) {
    std::vector<std::uint8_t> output;
    upstream_->take_output(output);
    const std::array parts{io::as_part(output)};
    return output.empty() ? Result<void>() : stream_->write_all(parts, deadline);
}

Result<std::size_t> OriginConnection::read(TimePoint now) {
    const auto count = stream_->try_read(context_.dial.scratch);
    if (count.ok())
        TRY(upstream_->handle_bytes(now, context_.dial.scratch.first(*count)));
    else if (count.code() == Errc::closed)
        static_cast<void>(upstream_->handle_end());
    return count;
}

}  // namespace live::service::relay
