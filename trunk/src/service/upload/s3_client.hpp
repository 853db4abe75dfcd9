// S3Client: one request to the bucket and the meaning of its answer. It signs requests, corrects the time in them by the server's
// Date field when this machine's clock is wrong, and reads refusals.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log/log.hpp"
#include "base/result.hpp"
#include "engine/s3/pace.hpp"
#include "engine/s3/signature.hpp"
#include "io/fibers/deadline.hpp"
#include "service/http_client/http_client.hpp"
#include "service/upload/credentials.hpp"
#include "service/upload/options.hpp"

namespace live::service::upload {

struct S3Call {
    std::string method = "GET";
    std::string key;  // of the object; begins without a slash
    std::vector<std::pair<std::string, std::string>> query{};
    engine::http1::Headers headers{};
    std::string body{};
    // In place of `body`, with its hash.
    std::optional<http_client::HttpCall::LongBody> long_body{};
    std::string payload_hash{};
};

struct S3Answer {
    enum class Kind : std::uint8_t {
        ok,
        not_found,       // no such object
        unknown_upload,  // no such upload in parts
        trouble,         // any request would fail
        refused,         // this request only
        ended,           // this server stops
    };
    Kind kind = Kind::ok;
    engine::s3::Trouble trouble = engine::s3::Trouble::unreachable;
    std::string reason{};  // a sentence
    engine::http1::Response response{};
};

class S3Client {
public:
    // Limit of a request, its body included.
    static constexpr std::chrono::seconds kCallLimit{300};
    static constexpr std::size_t kAnswerBytesMax = 1 << 20;

    // The references outlive this.
    S3Client(const UploadOptions& options, const http_client::HttpClient& client, CredentialSource& credentials, Log log)
        : options_(options), client_(client), credentials_(credentials), log_(std::move(log)) {}

    S3Answer call(const S3Call& call, io::Deadline deadline);
    // The endpoint with the bucket: for logs.
    std::string label() const { return options_.endpoint + "/" + options_.bucket; }

private:
    Result<engine::http1::Response> send(const S3Call& call, io::Deadline deadline);
    S3Answer meaning_of(const S3Call& call, engine::http1::Response response);
    std::string refusal_of(const S3Call& call, const engine::http1::Response& response, io::Deadline deadline);
    bool correct_clock(const engine::http1::Response& response);

    const UploadOptions& options_;
    const http_client::HttpClient& client_;
    CredentialSource& credentials_;
    Log log_;
    std::chrono::seconds clock_offset_{0};
};

}  // namespace live::service::upload
