// BackendResolver: asks an operator's service (`cluster { backend URL; }`) where a stream is. POST of one JSON object like a
// callback's, action on_origin; the answer is {"code":0,"data":{"urls":["rtmp://host:port", ...]}}, each as in `origin`. Virtual
// hosts without a backend have what the next resolver says.
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

// The body of the question.
std::string backend_question(std::string_view server_id, std::string_view url);
// The origins of an answer; none when the service knows the stream to be nowhere. Errc::malformed for anything but the documented
// answer; entries that are no origins are left out, and those beyond kBackendOriginsMax.
inline constexpr std::size_t kBackendOriginsMax = 64;
Result<std::vector<Origin>> parse_backend_answer(int status, std::string_view body, PullProtocol protocol);

class BackendResolver final : public Resolver {
public:
    static constexpr std::chrono::seconds kAskLimit{3};
    // How long an answer is used again; after this the service is asked again, and the old answer serves while it is silent.
    static constexpr std::chrono::seconds kAnswerAge{2};
    static constexpr std::chrono::seconds kOldAnswerAge{30};
    static constexpr std::chrono::milliseconds kRetry{1'000};
    static constexpr std::size_t kAnswersMax = 4096;

    // Everything referred to outlives this.
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
