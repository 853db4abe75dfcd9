#include "service/forward/forwarder.hpp"

#include <utility>

#include "base/backoff.hpp"
#include "base/log_format.hpp"
#include "base/random.hpp"
#include "io/loop.hpp"
#include "service/forward/splice.hpp"

namespace live::service::forward {

Forwarder::Forwarder(Destination destination, Ref<media::Source> source, const ForwardContext& context, Log log)
    : destination_(std::move(destination)), source_(std::move(source)), context_(context), log_(std::move(log)) {}

void Forwarder::run(io::Deadline deadline) {
    LOG_INFO(log_, "FWR start, source={}, to={}", source_->url(), destination_.label);
    Backoff backoff(kRetryFirst, kRetryMax);
    for (;;) {
        const TimePoint began = io::now();
        const auto ended =
            push_and_splice(destination_, moved_destination, context_, log_, source_, media::Cursor::Audience::none, deadline);
        if (!ended.ok() && ended.code() == Errc::cancelled)
            break;
        if (!ended.ok() && ended.code() == Errc::denied) {
            LOG_ERROR(log_, "FWR refused, to={}: {}", destination_.label, ended.error().sentence());
            return;
        }
        if (io::now() - began >= kGoodAfter)
            backoff.reset();
        const auto pause = backoff.next(static_cast<std::uint32_t>(random_number()));
        LOG_WARN(log_, "FWR retry in {} ms, to={}: {}", pause.count(), destination_.label,
                 ended.ok() ? "the push ended" : ended.error().text());
        if (!io::sleep(deadline.sooner(io::Deadline::after(pause))).ok())
            break;
    }
    LOG_INFO(log_, "FWR stop, source={}, to={}", source_->url(), destination_.label);
}

}  // namespace live::service::forward
