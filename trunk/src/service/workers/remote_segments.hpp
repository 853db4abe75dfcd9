// RemoteSegments: HLS and DASH files that another worker has, fetched from it for a player of this one
// (service/files/remote_file_source.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "service/files/remote_file_source.hpp"
#include "service/workers/worker_service.hpp"

namespace live::service::workers {

class RemoteSegments final : public files::RemoteFileSource {
public:
    // The limit of one file from another worker.
    static constexpr std::size_t kBytesMax = 64 << 20;
    // The limit of requests that wait for another worker; others are answered from this one.
    static constexpr std::size_t kAskingMax = 1'000;
    // A request may arrive before its playlist or part exists.
    static constexpr std::chrono::seconds kLimit{30};

    // The source's url of a stream that any worker may publish; nullopt for others.
    using UrlOf = std::function<std::optional<std::string>(const session::ClientRequest&)>;

    // `workers` must outlive this.
    RemoteSegments(WorkerService& workers, UrlOf url_of) : workers_(workers), url_of_(std::move(url_of)) {}

    bool shares(const session::ClientRequest& player) const override { return url_of_(player).has_value(); }
    Result<bool> publishes(const session::ClientRequest& player, io::Deadline deadline) override;

    Result<std::optional<std::size_t>> answer(session::http::Exchange& exchange, const std::string& url, const Edit& edit,
                                              io::Deadline deadline) override;
    Result<std::optional<std::size_t>> answer(session::http::Exchange& exchange, const Edit& edit,
                                              io::Deadline deadline) override;

private:
    // The workers whose answers are used.
    enum class Asked : bool { publisher, anybody };

    bool may_ask(const session::http::Request& request) const;
    Result<std::optional<std::size_t>> pass(engine::workers::Worker worker, Asked asked, session::http::Exchange& exchange,
                                            const Edit& edit, io::Deadline deadline);

    WorkerService& workers_;
    const UrlOf url_of_;
    std::size_t asking_ = 0;
};

}  // namespace live::service::workers
