// Forwarder: keeps one stream flowing to one destination for as long as it runs. Starts a push, and when that ends, pauses and
// starts the next; pauses grow while the destination is unreachable. Its state is in the log, under FWR.
#pragma once

#include <chrono>
#include <string>
#include <variant>

#include "base/log.hpp"
#include "base/ref.hpp"
#include "io/deadline.hpp"
#include "media/source.hpp"
#include "service/forward/destination.hpp"
#include "service/forward/push_session.hpp"
#include "session/srt/call_url.hpp"

namespace live::service::forward {

class Forwarder {
public:
    static constexpr std::chrono::seconds kRetryFirst{3};
    static constexpr std::chrono::seconds kRetryMax{30};
    // A push that lasted this long makes the next pause short again.
    static constexpr std::chrono::seconds kGoodAfter{10};

    using To = std::variant<Destination, session::srt::CallUrl>;

    Forwarder(To to, Ref<media::Source> source, const ForwardContext& context, Log log);

    const std::string& url() const { return source_->url(); }
    // Runs until cancelled; returns at once when the destination is this server.
    void run(io::Deadline deadline);

private:
    Result<void> push(io::Deadline deadline);

    To to_;
    const std::string label_;
    Ref<media::Source> source_;
    const ForwardContext& context_;
    Log log_;
};

}  // namespace live::service::forward
