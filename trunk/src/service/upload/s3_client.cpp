#include "service/upload/s3_client.hpp"

#include <algorithm>
#include <array>

#include "base/log/log_format.hpp"
#include "wire/http/date.hpp"
#include "wire/http/status.hpp"
#include "wire/http/url.hpp"
#include "wire/s3/answers.hpp"

namespace live::service::upload {

namespace {

namespace s3 = engine::s3;
using Kind = S3Answer::Kind;
using wire::http::Status;

// Codes with status 400 that every request would get.
constexpr std::array kDeniedCodes = {"ExpiredToken", "InvalidToken", "AuthorizationHeaderMalformed", "InvalidBucketName",
                                     "IllegalLocationConstraintException"};
constexpr std::string_view kSkewCode = "RequestTimeTooSkewed";
constexpr int kTooManyRequests = 429;
constexpr int kServerErrors = 500;

WallTime clock_now() { return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()); }

S3Answer trouble(s3::Trouble what, std::string reason) { return {Kind::trouble, what, std::move(reason), {}}; }

}  // namespace

Result<engine::http1::Response> S3Client::send(const S3Call& call, io::Deadline deadline) {
    const auto endpoint = TRY(wire::http::parse_url(options_.endpoint));
    s3::Request request;
    request.method = call.method;
    request.host = (options_.path_style ? "" : options_.bucket + ".") + endpoint.authority();
    request.path = (options_.path_style ? "/" + options_.bucket : "") + "/" + call.key;
    request.query = call.query;
    request.headers = call.headers;
    request.payload_hash = call.long_body ? call.payload_hash : TRY(s3::hash_of(call.body));
    const auto credentials = credentials_.get(deadline);
    if (!credentials.ok())
        return credentials.code() == Errc::cancelled ? credentials.error()
                                                     : Error(Errc::unauthenticated, credentials.error().sentence());
    http_client::HttpCall http;
    http.method = call.method;
    http.url = std::string(endpoint.is_secure ? "https://" : "http://") + request.host + s3::target_of(request);
    http.headers = TRY(s3::sign(request, *credentials, options_.region, clock_now() + clock_offset_));
    http.body = call.body;
    http.long_body = call.long_body;
    http.answer_bytes_max = kAnswerBytesMax;
    return client_.call(http, deadline.sooner(io::Deadline::after(kCallLimit)));
}

// The server's time, if it is another one than assumed.
bool S3Client::correct_clock(const engine::http1::Response& response) {
    constexpr std::chrono::seconds kOffMin{60};
    const auto field = response.headers.find("Date");
    const auto date = field ? wire::http::parse_date(*field) : std::nullopt;
    if (!date)
        return false;
    const auto offset = std::chrono::floor<std::chrono::seconds>(*date - clock_now());
    const auto change = offset - clock_offset_;
    if (change < kOffMin && change > -kOffMin)
        return false;
    clock_offset_ = offset;
    LOG_WARN(log_, "upload: the clock of this machine is {} s {} that of {}, whose time is used for signatures",
             std::chrono::abs(offset).count(), offset.count() > 0 ? "behind" : "ahead of", label());
    return true;
}

// The code and message of a refusal. The answer to HEAD has no body; a GET has one.
std::string S3Client::refusal_of(const S3Call& call, const engine::http1::Response& response, io::Deadline deadline) {
    if (call.method != "HEAD") {
        const auto refusal = wire::s3::read_refusal(response.body);
        return refusal.message.empty() ? refusal.code : refusal.code + ": " + refusal.message;
    }
    S3Call again;
    again.key = call.key;
    again.headers.add("Range", "bytes=0-0");
    const auto answer = send(again, deadline);
    return answer.ok() ? refusal_of(again, *answer, deadline) : std::string();
}

S3Answer S3Client::call(const S3Call& call, io::Deadline deadline) {
    auto response = send(call, deadline);
    const bool may_be_skewed =
        response.ok() && (response->status == Status::forbidden || response->status == Status::bad_request);
    if (may_be_skewed) {
        std::string refusal = refusal_of(call, *response, deadline);
        if (refusal.starts_with(kSkewCode) && correct_clock(*response)) {
            response = send(call, deadline);
        } else if (call.method == "HEAD") {
            // A key without an object is forbidden to those who may not list the bucket.
            return trouble(s3::Trouble::denied, refusal.empty() ? "status " + std::to_string(response->status) : refusal);
        }
    }
    if (!response.ok() && response.code() == Errc::cancelled)
        return {Kind::ended, {}, {}, {}};
    if (!response.ok())
        return trouble(response.code() == Errc::unauthenticated ? s3::Trouble::denied : s3::Trouble::unreachable,
                       response.error().sentence());
    return meaning_of(call, *std::move(response));
}

S3Answer S3Client::meaning_of(const S3Call& call, engine::http1::Response response) {
    const int status = response.status;
    if (status == Status::ok || status == Status::no_content || status == Status::partial_content)
        return {Kind::ok, {}, {}, std::move(response)};
    const auto refusal = call.method == "HEAD" ? wire::s3::Refusal() : wire::s3::read_refusal(response.body);
    std::string reason = "status " + std::to_string(status);
    if (!refusal.code.empty())
        reason = refusal.code + (refusal.message.empty() ? "" : ": " + refusal.message);
    if (refusal.code == "NoSuchUpload")
        return {Kind::unknown_upload, {}, std::move(reason), {}};
    if (refusal.code == "NoSuchBucket")
        return trouble(s3::Trouble::denied, std::move(reason));
    if (status == Status::not_found)
        return {Kind::not_found, {}, std::move(reason), {}};
    if (status >= kServerErrors || status == kTooManyRequests || status == Status::conflict)
        return trouble(s3::Trouble::slow_down, std::move(reason));
    if (refusal.code == "RequestTimeout")
        return trouble(s3::Trouble::unreachable, std::move(reason));
    const bool is_redirect = status / 100 == 3;
    const bool is_denied = status == Status::unauthorized || status == Status::forbidden || is_redirect ||
                           std::ranges::find(kDeniedCodes, refusal.code) != kDeniedCodes.end();
    if (!is_denied)
        return {Kind::refused, {}, std::move(reason), {}};
    credentials_.forget();
    return trouble(s3::Trouble::denied, is_redirect ? "the bucket is in another region: " + reason : std::move(reason));
}

}  // namespace live::service::upload
