#include "service/slate/stream_slate.hpp"

#include <algorithm>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "media/ingest/ingest.hpp"
#include "session/common/join.hpp"

namespace live::service::slate {

StreamSlate::StreamSlate(SlateContext context, Ref<media::Source> source, session::ClientRequest request,
                         session::StreamPlan plan, Log log)
    : context_(context), source_(std::move(source)), request_(std::move(request)), plan_(std::move(plan)), log_(std::move(log)) {
    source_->publications().set_stand_in(this);
}

StreamSlate::~StreamSlate() {
    is_ending_ = true;
    publication_.reset();
    if (source_->publications().stand_in() == this)
        source_->publications().set_stand_in(nullptr);
}

void StreamSlate::follow(const session::ClientRequest& request, const session::StreamPlan& plan) {
    request_ = request;
    plan_ = plan;
    is_wanted_always_ = false;
    form_.reset();
}

void StreamSlate::run(io::Deadline deadline) {
    for (;;) {
        const auto woken = io::wait(woken_, deadline.sooner(io::Deadline::after(kLookEvery)));
        if (!woken.ok() && woken.code() == Errc::cancelled)
            return;
        if (publication_ != nullptr)
            play(deadline);
        else
            prepare_ahead();
        if (is_wanted_always_ && !source_->is_published())
            return;
    }
}

void StreamSlate::prepare_ahead() {
    if (source_->publications().owner() == nullptr)
        return;
    const auto form = form_of(source_->tracks());
    if (!form.ok() && form.code() == Errc::unsupported && !form_)
        LOG_WARN(log_, "SLATE {} is not available: {}", url(), form.error().sentence());
    if (!form.ok() && form.code() == Errc::unsupported)
        form_.emplace();
    if (!form.ok())
        return;
    form_ = *form;
    context_.cache.request({plan_.publish.slate, *form});
}

void StreamSlate::on_publisher_gone() {
    if (is_ending_)
        return;
    const auto form = form_of(source_->tracks());
    auto slate = form.ok() ? context_.cache.find({plan_.publish.slate, *form}) : nullptr;
    if (slate == nullptr) {
        LOG_WARN(log_, "SLATE {} is not ready, the stream ends with its publisher", url());
        return;
    }
    begin(std::move(slate));
}

// Owners of the slate: this, and the cache.
void StreamSlate::show(std::shared_ptr<const PreparedSlate> slate) {
    is_wanted_always_ = true;
    if (!source_->is_published())
        begin(std::move(slate));
}

// Runs in the fiber of the publisher that leaves, so that the stream is fed without interruption. Owners: this, and the cache.
void StreamSlate::begin(std::shared_ptr<const PreparedSlate> slate) {
    slate_ = std::move(slate);
    publication_ = std::make_unique<media::Publication>(source_, media::Publisher::Role::stand_in);
    began_ = watched_ = io::now();
    ++context_.totals.shows;
    woken_.raise();
}

void StreamSlate::play(io::Deadline deadline) {
    LOG_INFO(log_, "SLATE {} is shown", url());
    context_.events.on_stand_in(request_, plan_);
    const End end = push_frames(deadline);
    is_ending_ = true;
    publication_.reset();
    is_ending_ = false;
    slate_.reset();
    const auto shown_ms = std::chrono::duration_cast<std::chrono::milliseconds>(io::now() - began_).count();
    if (end == End::published) {
        LOG_INFO(log_, "SLATE {} ends: the publisher has returned, shown_ms={}", url(), shown_ms);
        return;
    }
    LOG_INFO(log_, "SLATE {} ends with the stream: {}, shown_ms={}", url(),
             end == End::late        ? "slate_time is over"
             : end == End::unwatched ? "nobody plays it"
                                     : "the server stops",
             shown_ms);
    if (!source_->is_published())
        context_.events.on_unpublished(url());
}

StreamSlate::End StreamSlate::push_frames(io::Deadline deadline) {
    media::Ingest ingest(*publication_, plan_.play, plan_.publish, log_);
    for (const SlateFrame& config : slate_->configs)
        ingest.push_frame(config.kind, 0, config.frame);
    SlateClock clock(*slate_);
    for (;;) {
        push_due(ingest, clock, std::chrono::duration_cast<MediaTime>(io::now() - began_));
        if (const auto encoded = session::encode_rest(*source_, deadline); !encoded.ok())
            return End::cancelled;
        if (!publication_->is_current())
            return End::published;
        source_->flush();
        if (const auto end = is_over(io::now()))
            return *end;
        const TimePoint due = std::max(began_ + clock.due(), io::now() + kTick);
        const auto woken = io::wait(publication_->evicted(), deadline.sooner(io::Deadline::at(due)));
        if (!woken.ok() && woken.code() == Errc::cancelled)
            return End::cancelled;
        if (!publication_->is_current())
            return End::published;
    }
}

void StreamSlate::push_due(media::Ingest& ingest, SlateClock& clock, MediaTime now) {
    source_->set_arrival(io::now());
    while (clock.due() <= now && publication_->is_current()) {
        const SlateFrame& next = clock.next();
        ingest.push_frame(next.kind, static_cast<std::uint32_t>(media::to_ms(clock.due())), next.frame);
        clock.advance();
    }
}

std::optional<StreamSlate::End> StreamSlate::is_over(TimePoint now) {
    if (source_->readers().is_watched())
        watched_ = now;
    if (is_wanted_always_ || context_.ends_unwatched)
        if (now - watched_ >= kLinger)
            return End::unwatched;
    if (is_wanted_always_)
        return std::nullopt;
    const auto limit = plan_.publish.slate_time;
    if (limit == std::chrono::seconds::zero() || now - began_ < limit)
        return std::nullopt;
    if (plan_.publish.always && now - watched_ < kLinger)
        return std::nullopt;
    return End::late;
}

}  // namespace live::service::slate
