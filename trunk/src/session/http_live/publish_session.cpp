#include "session/http_live/publish_session.hpp"

#include <utility>

#include "base/log/log_format.hpp"
#include "base/text/secret.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/pause.hpp"
#include "session/common/admitted_publish.hpp"
#include "session/common/join.hpp"
#include "session/http/status_for.hpp"
#include "wire/http/status.hpp"

namespace live::session::http_live {

namespace flv = wire::flv;

namespace {

using wire::http::Status;

// For as long as the client may be silent while the process runs.
auto read_part(http::Exchange& exchange, Duration patience, io::Deadline deadline) {
    const TimePoint since = io::now();
    const auto due = [&] { return deadline.sooner(io::Deadline::at(io::silence_from(since) + patience)); };
    auto part = exchange.read_body(due());
    while (!part.ok() && part.code() == Errc::timed_out && io::now() < due().when())
        part = exchange.read_body(due());
    return part;
}

}  // namespace

PublishSession::PublishSession(http::Exchange& exchange, Context& context, ClientRequest request)
    : exchange_(exchange), context_(context), request_(std::move(request)), entry_(context.clients, *this) {}

// For callbacks a posted stream is like an RTMP publisher, including the end of its connection.
Result<void> PublishSession::run(io::Deadline deadline) {
    const io::Urgent urgent;
    auto ended = publish(deadline);
    context_.events.on_closed(request_, {figures_.received_bytes, figures_.sent_bytes});
    return ended;
}

Result<void> PublishSession::publish(io::Deadline deadline) {
    LOG_INFO(exchange_.log(), "client identified, type={}, vhost={}, app={}, stream={}, param={}", name_of(request_.kind),
             request_.vhost, request_.app, request_.stream, redacted(request_.param));
    auto publication = admit_publisher(context_.admission, context_.streams, request_, plan_, deadline);
    if (!publication.ok())
        return refuse(publication.error(), deadline);
    StreamStay stay(entry_, plan_, io::now());
    const AdmittedPublish published(context_.streams, context_.events, request_, plan_);
    LOG_INFO(exchange_.log(), "start publish url={}, p1stpt={}, pnt={}", plan_.url, plan_.publish.first_packet_timeout.count(),
             plan_.publish.normal_timeout.count());
    auto ended = receive(*std::move(publication), deadline);
    if (!kick_reason_.empty())
        ended = Error(Errc::closed, kick_reason_);
    stay.end(ended);
    LOG_INFO(exchange_.log(), "cleanup when unpublish, url={}", plan_.url);
    if (ended.ok())
        return exchange_.send({Status::ok, "application/json", "{\"code\":0}\n", {}}, deadline);
    if (ended.code() == Errc::malformed || ended.code() == Errc::unsupported || ended.code() == Errc::limit)
        TRY(exchange_.send(http::error_reply(Status::bad_request, "the body is no FLV"), deadline));
    return ended;
}

// The rest of the body is useless, so the connection ends after this.
Result<void> PublishSession::refuse(const Error& error, io::Deadline deadline) {
    entry_.refuse(error);
    return exchange_.send(http::refusal_of(error), deadline);
}

void PublishSession::kick(std::string reason) {
    kick_reason_ = std::move(reason);
    exchange_.stream().close();
}

Result<void> PublishSession::receive(std::unique_ptr<media::Publication> publication, io::Deadline deadline) {
    media::Ingest ingest(*publication, plan_.play, plan_.publish, exchange_.log());
    auto patience = plan_.publish.first_packet_timeout;
    for (;;) {
        const auto part = read_part(exchange_, patience, deadline);
        if (!part.ok() && part.code() == Errc::timed_out)
            return Error(Errc::timed_out, fmt::format("no media for {} ms", patience.count()));
        if (!part.ok())
            return Error(part.error());
        if (!publication->is_current())
            return Error(Errc::conflict, "another publisher took the stream over");
        if (part->empty())
            return {};
        figures_.received_bytes += part->size();
        publication->source().set_arrival(io::now());
        TRY(take(as_bytes(*part), ingest));
        TRY(encode_rest(publication->source(), deadline));
        publication->source().flush();
        patience = plan_.publish.normal_timeout;
    }
}

Result<void> PublishSession::take(Bytes bytes, media::Ingest& ingest) {
    while (!bytes.empty()) {
        bytes = bytes.subspan(TRY(reader_.feed(bytes)));
        auto tag = reader_.next();
        if (!tag)
            continue;
        const std::uint32_t time_ms = tag->header.timestamp_ms;
        switch (tag->header.type) {
            case flv::TagType::audio: ingest.push_body(MediaKind::audio, time_ms, std::move(tag->body)); break;
            case flv::TagType::video: ingest.push_body(MediaKind::video, time_ms, std::move(tag->body)); break;
            case flv::TagType::script: ingest.push_data(time_ms, std::move(tag->body)); break;
        }
    }
    exchange_.memory().set(reader_.unfinished_bytes());
    return {};
}

}  // namespace live::session::http_live
