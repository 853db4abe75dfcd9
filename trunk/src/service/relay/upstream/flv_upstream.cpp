#include "service/relay/upstream/flv_upstream.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "media/ring/sync_message.hpp"
#include "session/common/admission.hpp"

namespace live::service::relay {

namespace http1 = engine::http1;
namespace flv = wire::flv;
using wire::rtmp::MessageType;

namespace {

constexpr http1::Limits kLimits{.header_bytes = FlvUpstream::kHeaderBytesMax, .body_bytes = 2 * FlvUpstream::kPieceBytes};

bool is_redirect(int status) { return status == 301 || status == 302 || status == 303 || status == 307 || status == 308; }

bool is_end(Bytes body) {
    if (!media::is_sync_message(body))
        return false;
    const auto message = media::read_sync_message(body);
    return message.ok() && message->series == media::kRelayEnd;
}

MessageType type_of(flv::TagType type) {
    switch (type) {
        case flv::TagType::audio: return MessageType::audio;
        case flv::TagType::video: return MessageType::video;
        case flv::TagType::script: break;
    }
    return MessageType::amf0_data;
}

}  // namespace

FlvUpstream::FlvUpstream(std::string request)
    : request_(std::move(request)), parser_(http1::ResponseParser::RequestWas::other, kLimits) {}

Result<void> FlvUpstream::start(TimePoint) { return {}; }

void FlvUpstream::take_output(std::vector<std::uint8_t>& into) {
    const Bytes text = as_bytes(request_);
    into.insert(into.end(), text.begin(), text.end());
    request_.clear();
}

Result<void> FlvUpstream::handle_bytes(TimePoint, Bytes input) {
    bytes_received_ += input.size();
    while (!input.empty() && phase_ != Phase::over) {
        const Bytes piece = input.first(std::min(input.size(), kPieceBytes));
        const std::size_t used = TRY(parser_.feed(piece));
        input = input.subspan(used);
        if (const http1::Response* head = parser_.head(); head != nullptr && phase_ == Phase::head)
            TRY(on_head(*head));
        if (phase_ != Phase::body)
            continue;
        TRY(on_body(as_bytes(parser_.take_body())));
        if (parser_.next())
            TRY(end());
    }
    return {};
}

Result<void> FlvUpstream::on_head(const http1::Response& head) {
    phase_ = Phase::over;
    if (is_redirect(head.status)) {
        const auto location = head.headers.find("Location");
        if (!location || location->empty())
            return Error(Errc::malformed, fmt::format("the origin redirects to nowhere (status {})", head.status));
        events_.push_back(Redirected{std::string(*location)});
    } else if (head.status == 200) {
        phase_ = Phase::body;
        gets_sync_ = head.headers.find(session::kRelaySyncField).has_value();
    } else if (head.status / 100 == 5) {
        return Error(Errc::closed, fmt::format("the origin answers with status {}", head.status));
    } else {
        events_.push_back(Refused{head.status == 404 ? std::string("the origin does not have the stream (status 404)")
                                                     : fmt::format("the origin answers with status {}", head.status)});
    }
    return {};
}

Result<void> FlvUpstream::on_body(Bytes body) {
    while (!body.empty()) {
        body = body.subspan(TRY(reader_.feed(body)));
        auto tag = reader_.next();
        if (tag && !tag->body.bytes().empty())
            on_tag(*std::move(tag));
    }
    return {};
}

void FlvUpstream::on_tag(flv::Tag tag) {
    if (gets_sync_ && tag.header.type == flv::TagType::script && is_end(tag.body.bytes()))
        events_.push_back(Ended{"the origin reports that the publisher has left", false});
    else
        events_.push_back(engine::rtmp::GotMedia{type_of(tag.header.type), tag.header.timestamp_ms, std::move(tag.body)});
}

Result<void> FlvUpstream::end() {
    phase_ = Phase::over;
    if (reader_.unfinished_bytes() > 0)
        return Error(Errc::closed, "the origin ended the stream in the middle of a tag");
    events_.push_back(Ended{"the origin ended the stream", true});
    return {};
}

Result<void> FlvUpstream::handle_end() {
    if (phase_ == Phase::over)
        return Error(Errc::closed, "the origin closed the connection");
    TRY(parser_.finish());
    if (phase_ != Phase::body)
        return Error(Errc::closed, "the origin closed the connection");
    return end();
}

std::optional<UpstreamEvent> FlvUpstream::poll_event() {
    if (events_.empty())
        return std::nullopt;
    UpstreamEvent event = std::move(events_.front());
    events_.pop_front();
    return event;
}

}  // namespace live::service::relay
