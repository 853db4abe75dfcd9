#include "service/forward/forwarder.hpp"

#include <utility>

#include "base/backoff.hpp"
#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "service/forward/splice.hpp"
#include "session/srt/push_session.hpp"

namespace live::service::forward {

namespace {

std::string label_of(const Forwarder::To& to) {
    if (const auto* srt = std::get_if<session::srt::CallUrl>(&to))
        return srt->label();
    return std::get<Destination>(to).label;
}

}  // namespace

Forwarder::Forwarder(To to, Ref<media::Source> source, const ForwardContext& context, ForwardTotals& totals, Log log)
    : to_(std::move(to)),
      label_(label_of(to_)),
      source_(std::move(source)),
      context_(context),
      totals_(totals),
      log_(std::move(log)) {}

void Forwarder::enter(State state) {
    state_ = state;
    since_ = io::now();
}

std::uint64_t Forwarder::sent_bytes() const {
    return progress_.sent_bytes + (srt_session_ == nullptr ? 0 : srt_session_->sent_bytes());
}

ForwardFacts Forwarder::facts() const {
    const bool is_sending = state_ == State::connecting && progress_.is_sending;
    return {source_->url(), label_,     is_sending ? State::sending : state_, is_sending ? progress_.since : since_, tries_,
            sent_bytes(),   last_error_};
}

Result<void> Forwarder::push_srt(const session::srt::CallUrl& to, io::Deadline deadline) {
    return context_.srt().push(to, source_, log_, deadline, [this](const session::srt::PushSession* session) {
        if (session == nullptr)
            progress_.sent_bytes = sent_bytes();
        else
            progress_ = {true, io::now(), progress_.sent_bytes};
        srt_session_ = session;
    });
}

Result<void> Forwarder::push(io::Deadline deadline) {
    if (const auto* destination = std::get_if<Destination>(&to_))
        return push_and_splice(*destination, moved_destination, context_, log_, source_, media::Cursor::Audience::none, deadline,
                               &progress_);
    if (!context_.srt)
        return Error(Errc::denied, "SRT is not available");
    return push_srt(std::get<session::srt::CallUrl>(to_), deadline);
}

void Forwarder::run(io::Deadline deadline) {
    LOG_INFO(log_, "FWR start, source={}, to={}", source_->url(), label_);
    Backoff backoff(kRetryFirst, kRetryMax);
    for (;;) {
        const TimePoint began = io::now();
        enter(State::connecting);
        ++tries_;
        ++totals_.tries;
        const auto ended = push(deadline);
        progress_.is_sending = false;
        totals_.sent_bytes += progress_.sent_bytes - ended_bytes_;
        ended_bytes_ = progress_.sent_bytes;
        if (!ended.ok() && ended.code() == Errc::cancelled)
            break;
        if (!ended.ok() && ended.code() == Errc::denied) {
            LOG_ERROR(log_, "FWR refused, to={}: {}", label_, ended.error().sentence());
            last_error_ = ended.error().sentence();
            enter(State::refused);
            static_cast<void>(io::sleep(deadline));
            break;
        }
        if (io::now() - began >= kGoodAfter)
            backoff.reset();
        const auto pause = backoff.next(static_cast<std::uint32_t>(random_number()));
        last_error_ = ended.ok() ? "the push ended" : ended.error().sentence();
        ++totals_.failures;
        enter(State::waiting);
        LOG_WARN(log_, "FWR retry in {} ms, to={}: {}", pause.count(), label_,
                 ended.ok() ? "the push ended" : ended.error().text());
        if (!io::sleep(deadline.sooner(io::Deadline::after(pause))).ok())
            break;
    }
    LOG_INFO(log_, "FWR stop, source={}, to={}", source_->url(), label_);
}

}  // namespace live::service::forward
