#include "session/srt/session.hpp"

#include <chrono>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "session/srt/call/call.hpp"
#include "session/srt/key_check.hpp"

namespace live::session::srt {

namespace srt = engine::srt;

namespace {

std::string version_text(std::uint32_t version) {
    return fmt::format("{}.{}.{}", version >> 16 & 0xFF, version >> 8 & 0xFF, version & 0xFF);
}

}  // namespace

Error error_of(srt::CloseReason reason) {
    switch (reason) {
        case srt::CloseReason::idle: return {Errc::timed_out, "nothing came from the other side for too long"};
        case srt::CloseReason::peer_rejected:
            return {Errc::denied, "the other side refuses what was agreed, or its passphrase is another"};
        case srt::CloseReason::peer_shutdown: return {Errc::closed, "the other side has left"};
        default: return {Errc::closed, "the connection was closed"};
    }
}

Error given_up_error() { return {Errc::timed_out, "the client has given up before it was admitted"}; }

Session::Session(Context& context, ClientRequest request, const Log& log)
    : context_(context),
      request_(std::move(request)),
      log_(log),
      memory_(context.places.memory(), MemoryBudget::Kind::buffers, *this),
      entry_(context.clients, *this) {}

Session::~Session() { context_.port.remove(*this); }

Result<void> Session::run(Opening& opening, io::Deadline deadline) {
    passphrase_ = opening.passphrase;
    auto ended = serve(opening, deadline);
    const ClientFigures total = figures();
    if (opening.is_accepted)
        say_figures();
    context_.port.remove(*this);
    tell_closed({total.received_bytes, total.sent_bytes});
    return ended;
}

Result<void> Session::check_key(Opening& opening, io::Deadline deadline) {
    if (opening.call != nullptr || !opening.asks_for_passphrase)
        return {};
    if (plan_.srt_passphrase)
        passphrase_ = *plan_.srt_passphrase;
    opening.options.requires_encryption = !passphrase_.empty();
    auto kek = check_passphrase(context_.places, opening.request, passphrase_, deadline);
    if (!kek.ok()) {
        opening.key_reason = key_reject_reason_of(kek.error());
        refuse(kek.error());
        return std::move(kek).error();
    }
    opening.kek = *kek;
    return {};
}

// It would hold the stream until it is found to be silent, and its next attempt would be refused.
Result<void> Session::connect(Opening& opening) {
    if (opening.call != nullptr) {
        TRY(context_.port.hand_over(*opening.call, *this));
        opening.is_accepted = true;
        return {};
    }
    if (context_.port.openings().has_given_up(PeerKey::of(opening.request), io::now()))
        return given_up_error();
    auto connection =
        TRY(srt::accept(io::now(), opening.request, context_.port.free_socket_id(), opening.options, opening.kek, opening.salt));
    TRY(context_.port.add(*this, std::move(connection), opening.request, opening.path));
    opening.is_accepted = true;
    return {};
}

Result<void> Session::wait_for_end(io::Deadline deadline) {
    for (;;) {
        const auto waited = io::wait(ended_, deadline);
        if (end_)
            return *end_;
        TRY(waited);
        if (connection() != nullptr && connection()->key_question())
            answer_key(deadline);
    }
}

void Session::answer_key(io::Deadline deadline) {
    const auto question = connection()->key_question();
    std::optional<srt::KeyEncryptingKey> kek;
    if (!passphrase_.empty()) {
        auto derived =
            derive_client_key(context_.places, request_.ip, passphrase_, question->salt, question->key_bytes, deadline);
        if (!derived.ok())
            return end(derived.error());
        kek = *derived;
    }
    const TimePoint now = io::now();
    if (connection() == nullptr || !connection()->key_question())
        return;
    if (const auto answered = connection()->answer_key(kek); !answered.ok())
        LOG_WARN(log_, "SRT: {}", answered.error().sentence());
    context_.port.service(*this, now);
    context_.port.output().flush();
}

void Session::end(Error why) {
    if (!end_)
        end_.emplace(std::move(why));
    ended_.raise();
}

void Session::kick(std::string reason) { end(Error(Errc::closed, std::move(reason))); }

void Session::on_over() { end(error_of(connection()->close_reason())); }

ClientFigures Session::figures() const {
    ClientFigures figures;
    if (connection() == nullptr)
        return figures;
    const srt::Figures now = connection()->figures();
    figures.received_bytes = now.received_bytes;
    figures.sent_bytes = now.sent_bytes + now.retransmitted_bytes;
    if (!is_publisher())
        figures.taken = {now.acknowledged, !now.is_owed_ack};
    return figures;
}

// The packets of media, from the client or to it.
std::optional<LinkFigures> Session::link_figures() const {
    if (connection() == nullptr)
        return std::nullopt;
    const srt::Figures now = connection()->figures();
    const bool publishes = is_publisher();
    const auto latency = publishes ? now.receive_latency : now.send_latency;
    return LinkFigures{"srt",
                       {{"rtt_ms", static_cast<double>(now.rtt.count()) / 1000},
                        {"loss", std::uint64_t{publishes ? now.receive_lost : now.send_lost}},
                        {"retrans", std::uint64_t{publishes ? now.received_retransmitted : now.retransmitted}},
                        {"drop", std::uint64_t{publishes ? now.receive_dropped : now.send_dropped}},
                        {"latency_ms", static_cast<std::uint64_t>(latency.count())},
                        {"peer_version", version_text(now.peer_version)},
                        {"encrypted", now.key_bytes > 0},
                        {"key_bits", std::uint64_t{now.key_bytes} * 8}}};
}

void Session::say_figures() const {
    if (connection() == nullptr)
        return;
    const srt::Figures now = connection()->figures();
    const std::string link =
        fmt::format("rtt={:.1f}ms, latency={}ms, version={}", static_cast<double>(now.rtt.count()) / 1000,
                    (is_publisher() ? now.receive_latency : now.send_latency).count(), version_text(now.peer_version));
    if (is_publisher())
        LOG_INFO(log_, "<- SRT_CPB Transport Stats # pktRecv={}, pktRcvLoss={}, pktRcvRetrans={}, pktRcvDrop={}, {}",
                 now.received, now.receive_lost, now.received_retransmitted, now.receive_dropped, link);
    else
        LOG_INFO(log_, "-> SRT_PLA Transport Stats # pktSent={}, pktSndLoss={}, pktRetrans={}, pktSndDrop={}, {}", now.sent,
                 now.send_lost, now.retransmitted, now.send_dropped, link);
}

}  // namespace live::session::srt
