#include "service/engines/engine_publisher.hpp"

#include <utility>
#include <vector>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/text/secret.hpp"
#include "io/fibers/loop.hpp"
#include "session/common/admitted_publish.hpp"
#include "session/common/join.hpp"

namespace live::service::engines {

namespace {

constexpr std::size_t kPublishedBlockBytes = 64U << 10;

session::ClientRequest as_engine(session::ClientRequest request) {
    request.id = random_id();
    request.kind = session::ClientKind::engine_publish;
    request.protocol = "pipe";
    request.peer = "ffmpeg";
    request.tc_url = "rtmp://" + request.vhost + "/" + request.app;
    // It acts for the stream that it is made of, which was admitted.
    request.is_admitted = true;
    return request;
}

}  // namespace

EnginePublisher::EnginePublisher(PublishContext context, session::ClientRequest request,
                                 std::optional<session::StreamPlan> hidden, io::PipeReader& pipe, const Log& log)
    : context_(context), request_(as_engine(std::move(request))), pipe_(pipe), log_(log) {
    if (hidden)
        plan_ = *std::move(hidden);
    else
        entry_.emplace(context.clients, static_cast<session::Client&>(*this));
}

// The stream begins with the first output, so that an idle child publishes nothing.
Result<void> EnginePublisher::run(const std::function<void(std::size_t)>& on_bytes, io::Deadline deadline) {
    std::vector<std::uint8_t> block(kPublishedBlockBytes);
    const std::size_t got = TRY(pipe_.read_some(block, deadline));
    on_bytes(got);
    block.resize(got);
    return entry_ ? publish(block, on_bytes, deadline) : publish_hidden(block, on_bytes, deadline);
}

Result<void> EnginePublisher::publish_hidden(Bytes first, const std::function<void(std::size_t)>& on_bytes,
                                             io::Deadline deadline) {
    const auto publication = TRY(session::take_stream(context_.streams, plan_, deadline));
    return receive(first, *publication, on_bytes, deadline);
}

Result<void> EnginePublisher::publish(Bytes first, const std::function<void(std::size_t)>& on_bytes, io::Deadline deadline) {
    LOG_INFO(log_, "client identified, type={}, vhost={}, app={}, stream={}, param={}", name_of(request_.kind), request_.vhost,
             request_.app, request_.stream, redacted(request_.param));
    auto admitted = context_.admission.serve_publish(request_, deadline);
    if (!admitted.ok()) {
        entry_->refuse(admitted.error());
        return std::move(admitted).error();
    }
    plan_ = *std::move(admitted);
    plan_.publish.takeover = false;  // a publisher of its own has the stream
    auto publication = session::take_stream(context_.streams, plan_, deadline);
    if (!publication.ok()) {
        entry_->refuse(publication.error());
        return std::move(publication).error();
    }
    session::StreamStay stay(*entry_, plan_, io::now());
    const session::AdmittedPublish published(context_.streams, context_.events, request_, plan_);
    LOG_INFO(log_, "start publish url={}", plan_.url);
    auto ended = [&, owned = *std::move(publication)] { return receive(first, *owned, on_bytes, deadline); }();
    if (!kick_reason_.empty())
        ended = Error(Errc::conflict, kick_reason_);
    stay.end(ended);
    LOG_INFO(log_, "cleanup when unpublish, url={}", plan_.url);
    return ended;
}

Result<void> EnginePublisher::receive(Bytes first, media::Publication& publication,
                                      const std::function<void(std::size_t)>& on_bytes, io::Deadline deadline) {
    media::Ingest ingest(publication, plan_.play, plan_.publish, log_);
    std::vector<std::uint8_t> block(first.begin(), first.end());
    for (;;) {
        figures_.received_bytes += block.size();
        publication.source().set_arrival(io::now());
        TRY(take(block, ingest));
        TRY(session::encode_rest(publication.source(), deadline));
        publication.source().flush();
        block.resize(kPublishedBlockBytes);
        const std::size_t got = TRY(pipe_.read_some(block, deadline));
        if (!publication.is_current())
            return Error(Errc::conflict, "another publisher took the stream over");
        on_bytes(got);
        block.resize(got);
    }
}

Result<void> EnginePublisher::take(Bytes bytes, media::Ingest& ingest) {
    using wire::flv::TagType;
    while (!bytes.empty()) {
        bytes = bytes.subspan(TRY(reader_.feed(bytes)));
        auto tag = reader_.next();
        if (!tag)
            continue;
        const std::uint32_t time_ms = tag->header.timestamp_ms;
        switch (tag->header.type) {
            case TagType::audio: ingest.push_body(MediaKind::audio, time_ms, std::move(tag->body)); break;
            case TagType::video: ingest.push_body(MediaKind::video, time_ms, std::move(tag->body)); break;
            case TagType::script: ingest.push_data(time_ms, std::move(tag->body)); break;
        }
    }
    return {};
}

void EnginePublisher::kick(std::string reason) {
    kick_reason_ = std::move(reason);
    pipe_.close();
}

}  // namespace live::service::engines
