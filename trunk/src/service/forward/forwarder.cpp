#include "service/forward/forwarder.hpp"

#include <utility>

#include "base/backoff.hpp"
#include "base/log_format.hpp"
#include "base/random.hpp"
#include "io/loop.hpp"
#include "service/forward/splice.hpp"

namespace live::service::forward {

namespace {

std::string label_of(const Forwarder::To& to) {
    if (const auto* srt = std::get_if<session::srt::CallUrl>(&to))
        return srt->label();
    return std::get<Destination>(to).label;
}

}  // namespace

Forwarder::Forwarder(To to, Ref<media::Source> source, const ForwardContext& context, Log log)
    : to_(std::move(to)), label_(label_of(to_)), source_(std::move(source)), context_(context), log_(std::move(log)) {}

Result<void> Forwarder::push(io::Deadline deadline) {
    if (const auto* destination = std::get_if<Destination>(&to_))
        return push_and_splice(*destination, moved_destination, context_, log_, source_, media::Cursor::Audience::none, deadline);
    if (context_.srt == nullptr)
        return Error(Errc::denied, "SRT is not available");
    return context_.srt->push(std::get<session::srt::CallUrl>(to_), source_, log_, deadline);
}

void Forwarder::run(io::Deadline deadline) {
    LOG_INFO(log_, "FWR start, source={}, to={}", source_->url(), label_);
    Backoff backoff(kRetryFirst, kRetryMax);
    for (;;) {
        const TimePoint began = io::now();
        const auto ended = push(deadline);
        if (!ended.ok() && ended.code() == Errc::cancelled)
            break;
        if (!ended.ok() && ended.code() == Errc::denied) {
            LOG_ERROR(log_, "FWR refused, to={}: {}", label_, ended.error().sentence());
            return;
        }
        if (io::now() - began >= kGoodAfter)
            backoff.reset();
        const auto pause = backoff.next(static_cast<std::uint32_t>(random_number()));
        LOG_WARN(log_, "FWR retry in {} ms, to={}: {}", pause.count(), label_,
                 ended.ok() ? "the push ended" : ended.error().text());
        if (!io::sleep(deadline.sooner(io::Deadline::after(pause))).ok())
            break;
    }
    LOG_INFO(log_, "FWR stop, source={}, to={}", source_->url(), label_);
}

}  // namespace live::service::forward
