#include "service/acme/challenge_handler.hpp"

#include <chrono>

#include "io/fibers/off_loop.hpp"
#include "service/acme/private_file.hpp"
#include "wire/http/status.hpp"

namespace live::service::acme {

namespace http = session::http;

namespace {

constexpr std::chrono::seconds kReadLimit{5};

}  // namespace

std::string_view answer_for(std::string_view path, std::string_view file_content) {
    if (!path.starts_with(ChallengeHandler::kPath))
        return {};
    const std::string_view token = path.substr(ChallengeHandler::kPath.size());
    const std::string_view authorization = file_content.substr(0, file_content.find('\n'));
    return !token.empty() && authorization.substr(0, authorization.find('.')) == token ? authorization : std::string_view();
}

Result<void> ChallengeHandler::serve(http::Exchange& exchange, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    if (!request.is_get())
        return exchange.send(http::method_not_allowed("GET, HEAD, OPTIONS", "challenges are read with GET"), deadline);
    const auto content =
        io::off_loop([file = file_] { return read_private_file(file); }, deadline.sooner(io::Deadline::after(kReadLimit)));
    if (!content.ok() && content.code() == Errc::cancelled)
        return content.error();
    const std::string_view answer = content.ok() ? answer_for(request.path(), *content) : std::string_view();
    if (answer.empty())
        return exchange.send(http::error_reply(wire::http::Status::not_found, "no certificate is ordered with this token"),
                             deadline);
    return exchange.send({.content_type = "application/octet-stream", .body = std::string(answer), .headers = {}}, deadline);
}

}  // namespace live::service::acme
