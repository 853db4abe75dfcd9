// OfferForwarder: workers relay frames, not RTP. An offer of a player of WebRTC for a stream that another worker has as RTP only
// is answered by that one: its answer names its own port, and whatever is asked about the session later finds it there.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "media/source/stream_table.hpp"
#include "service/workers/worker_service.hpp"
#include "session/http/handler.hpp"
#include "session/rtc/session_opener.hpp"

namespace live::service::workers {

class OfferForwarder final : public session::rtc::RemoteSessionOpener, public session::http::Handler {
public:
    // On the connections between workers only.
    static constexpr std::string_view kPath = "/workers/offers";
    // Offers that wait for another worker.
    static constexpr std::size_t kAskingMax = 1'000;
    // An operator's callbacks may take as long.
    static constexpr std::chrono::seconds kLimit{60};

    // The source's url of a stream that any worker may publish; none for others.
    using UrlOf = std::function<std::optional<std::string>(const session::ClientRequest&)>;

    // All outlive this.
    OfferForwarder(WorkerService& workers, const media::StreamTable& streams, UrlOf url_of)
        : workers_(workers), streams_(streams), url_of_(std::move(url_of)) {}

    // Answers offers that others forward. `opener` must outlive the requests.
    void answer_with(session::rtc::SessionOpener& opener) { opener_ = &opener; }

    Result<std::optional<session::rtc::Opened>> open(const session::rtc::OfferRequest& offered, io::Deadline deadline) override;
    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

    // The message: JSON. None: it is no offer of a player.
    static std::string write_offer(const session::rtc::OfferRequest& offered);
    static std::optional<session::rtc::OfferRequest> read_offer(const std::string& body);

private:
    WorkerService& workers_;
    const media::StreamTable& streams_;
    const UrlOf url_of_;
    session::rtc::SessionOpener* opener_ = nullptr;
    std::size_t asking_ = 0;
};

}  // namespace live::service::workers
