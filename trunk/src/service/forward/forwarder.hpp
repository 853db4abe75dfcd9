// Forwarder: pushes one stream to one destination for as long as it runs. When a push ends, it pauses and starts the next one;
// pauses grow while the destination is unreachable. Log lines begin with FWR.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/bytes/ref.hpp"
#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "media/source/source.hpp"
#include "service/forward/destination.hpp"
#include "service/forward/push_session.hpp"
#include "session/srt/call/call_url.hpp"

namespace live::service::forward {

// A forwarder for the API and the metrics.
struct ForwardFacts {
    enum class State : std::uint8_t { connecting, sending, waiting, refused };
    static constexpr std::array<State, 4> kStates{State::connecting, State::sending, State::waiting, State::refused};
    static constexpr std::string_view name_of(State state) {
        constexpr std::array<std::string_view, 4> kNames{"connecting", "sending", "waiting", "refused"};
        return kNames[static_cast<std::size_t>(state)];
    }

    std::string url;  // of the source
    std::string to;   // the destination, without its secrets
    State state = State::connecting;
    TimePoint since{};  // when this state began
    std::uint64_t tries = 0;
    std::uint64_t sent_bytes = 0;
    std::string last_error;  // of the newest connection that has ended
};

// Totals over all forwarders, including ended ones.
struct ForwardTotals {
    std::uint64_t tries = 0;
    std::uint64_t failures = 0;
    std::uint64_t sent_bytes = 0;  // of connections that have ended
};

class Forwarder {
public:
    static constexpr std::chrono::seconds kRetryFirst{3};
    static constexpr std::chrono::seconds kRetryMax{30};
    // A push that lasted this long resets the pause.
    static constexpr std::chrono::seconds kGoodAfter{10};

    using To = std::variant<Destination, session::srt::CallUrl>;

    Forwarder(To to, Ref<media::Source> source, const ForwardContext& context, ForwardTotals& totals, Log log);

    const std::string& url() const { return source_->url(); }
    // Runs until cancelled. If the destination is this server, it only waits.
    void run(io::Deadline deadline);
    ForwardFacts facts() const;
    // Bytes sent by the current connection.
    std::uint64_t unended_bytes() const { return sent_bytes() - ended_bytes_; }

private:
    using State = ForwardFacts::State;

    Result<void> push(io::Deadline deadline);
    Result<void> push_srt(const session::srt::CallUrl& to, io::Deadline deadline);
    void enter(State state);
    // Bytes sent by all connections, including the current one.
    std::uint64_t sent_bytes() const;

    To to_;
    const std::string label_;
    Ref<media::Source> source_;
    const ForwardContext& context_;
    ForwardTotals& totals_;
    Log log_;
    State state_ = State::connecting;
    TimePoint since_{};
    std::uint64_t tries_ = 0;
    std::string last_error_;
    PushProgress progress_;
    std::uint64_t ended_bytes_ = 0;                           // of connections that have ended
    const session::srt::PushSession* srt_session_ = nullptr;  // while it sends over SRT
};

}  // namespace live::service::forward
