// ChallengeHandler: answers HTTP-01 (RFC 8555, 8.3) from the file that the ordering worker has written: the request may reach any
// worker, on the port of http_server or on that of acme.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "session/http/exchange.hpp"
#include "session/http/handler.hpp"

namespace live::service::acme {

class ChallengeHandler final : public session::http::Handler {
public:
    static constexpr std::string_view kPath = "/.well-known/acme-challenge/";

    explicit ChallengeHandler(std::string file) : file_(std::move(file)) {}

    Result<void> serve(session::http::Exchange& exchange, io::Deadline deadline) override;

    // The content of the file: the key authorization begins with the token.
    static std::string content_of(std::string_view key_authorization) { return std::string(key_authorization) + "\n"; }

private:
    const std::string file_;
};

// Pure: the answer for a path; empty if the file is about another token.
std::string_view answer_for(std::string_view path, std::string_view file_content);

}  // namespace live::service::acme
