// OriginPeers: the other origins of an `origin_cluster` (its `coworkers`). It requests a stream's location from one after the
// other. Answers are cached for a moment, so that many players of one stream cost one round of requests.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/log/log.hpp"
#include "base/time.hpp"
#include "io/fibers/deadline.hpp"
#include "media/source/stream_table.hpp"
#include "service/http_client/http_client.hpp"
#include "service/relay/options.hpp"
#include "session/common/admission.hpp"

namespace live::service::relay {

class OriginPeers {
public:
    // For one peer; and for all peers, so that a player gets an answer in time.
    static constexpr std::chrono::milliseconds kAskLimit{1'500};
    static constexpr std::chrono::seconds kFindLimit{5};
    // How long an answer is cached, and how long a peer that did not answer gets no request.
    static constexpr std::chrono::seconds kAnswerAge{1};
    static constexpr std::chrono::seconds kSilentAge{3};
    static constexpr std::size_t kAnswersMax = 1024;
    static constexpr std::size_t kAnswerBytesMax = 16 << 10;
    // Concurrent requests for players.
    static constexpr std::size_t kAskingMax = 64;

    // All referenced objects must outlive this.
    OriginPeers(const http_client::HttpClient& http, media::StreamTable& streams, Log log)
        : http_(http), streams_(streams), log_(std::move(log)) {}

    // Returns nullopt for a stream that is published here. Errc::not_found when no peer has it (3092), or the peer that has it
    // sends no address for the player's protocol; Errc::closed when no peer answers (3091); Errc::limit.
    Result<std::optional<session::Redirect>> find(const session::ClientRequest& request, const session::StreamPlan& plan,
                                                  const ClusterOptions& options, io::Deadline deadline);

private:
    using Answer = Result<session::Redirect>;

    Answer ask_all(const session::ClientRequest& request, const std::vector<std::string>& coworkers, io::Deadline deadline);
    Result<std::optional<session::Redirect>> ask(const session::ClientRequest& request, const std::string& coworker,
                                                 io::Deadline deadline);
    void remember(const std::string& url, const Answer& answer);

    struct Known {
        Answer answer;
        TimePoint at{};
    };

    const http_client::HttpClient& http_;
    media::StreamTable& streams_;
    const Log log_;
    std::unordered_map<std::string, Known> known_;       // by the source's url
    std::unordered_map<std::string, TimePoint> silent_;  // by coworker
    std::size_t asking_ = 0;
};

}  // namespace live::service::relay
