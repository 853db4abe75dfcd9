// BackendResolver: requests the location of a stream from an operator's service (`cluster { backend URL; }`). It sends a POST
// with one JSON object like a callback's, action on_origin; the answer is {"code":0,"data":{"urls":["rtmp://host:port", ...]}},
// each as in `origin`. For virtual hosts without a backend, it calls the next resolver.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/log/log.hpp"
#include "base/time.hpp"
#include "service/http_client/http_client.hpp"
#include "service/relay/origins/resolver.hpp"

namespace live::service::relay {

// Returns the body of the request.
std::string backend_question(std::string_view server_id, std::string_view url);
// Returns the origins of an answer; an empty list means that no origin has the stream. Skips malformed entries, and entries
// beyond kBackendOriginsMax. Errc::malformed for anything but the documented answer.
inline constexpr std::size_t kBackendOriginsMax = 64;
Result<std::vector<Origin>> parse_backend_answer(int status, std::string_view body, PullProtocol protocol);

class BackendResolver final : public Resolver {
public:
    static constexpr std::chrono::seconds kAskLimit{3};
    // How long an answer is cached. After this the service is called again; the old answer is used if it does not answer.
    static constexpr std::chrono::seconds kAnswerAge{2};
    static constexpr std::chrono::seconds kOldAnswerAge{30};
    static constexpr std::chrono::milliseconds kRetry{1'000};
    static constexpr std::size_t kAnswersMax = 4096;

    // All referenced objects must outlive this.
    BackendResolver(const http_client::HttpClient& http, Resolver& next, std::string server_id, Log log)
        : http_(http), next_(next), server_id_(std::move(server_id)), log_(std::move(log)) {}

    Location find(const std::string& url, const ClusterOptions& options, io::Deadline deadline) override;
    bool knows(std::string_view host, std::uint16_t port, const ClusterOptions& options) const override;

private:
    struct Known {
        std::vector<Origin> origins;
        TimePoint at{};
    };
    Result<std::vector<Origin>> ask(const std::string& url, const std::string& backend, PullProtocol protocol,
                                    io::Deadline deadline) const;

    const http_client::HttpClient& http_;
    Resolver& next_;
    const std::string server_id_;
    const Log log_;
    std::unordered_map<std::string, Known> known_;  // by protocol and the source's url
};

}  // namespace live::service::relay
