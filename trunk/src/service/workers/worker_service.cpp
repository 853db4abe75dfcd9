#include "service/workers/worker_service.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"

namespace live::service::workers {

using engine::workers::Kind;
using engine::workers::Message;
using engine::workers::Purpose;
using engine::workers::Verdict;
using engine::workers::Worker;

WorkerService::WorkerService(WorkerContext context, cluster::ClusterEvents& events, Log log)
    : context_(std::move(context)), events_(events), log_(std::move(log)) {}

WorkerService::~WorkerService() = default;

Result<void> WorkerService::start(io::Scope& fibers, io::Deadline) {
    fibers_ = &fibers;
    if (!is_on())
        return {};
    if (identity().is_worker())
        LOG_INFO(log_, "worker {} of {}", identity().number, identity().count);
    return start_fibers();
}

Result<void> WorkerService::start_fibers() {
    TRY(fibers_->start("master", [this](io::Deadline forever) { run(forever); }));
    if (std::exchange(has_fibers_, true))
        return {};
    return fibers_->start("worker orphans", [this](io::Deadline forever) { run_orphans(forever); });
}

// Announces the streams that are published here already.
Result<void> WorkerService::attach(supervisor::MasterLine& master) {
    CHECK(!is_on() && fibers_ != nullptr);
    context_.master = &master;
    for (const std::string& url : published_)
        context_.master->send({Kind::announce, 0, 0, 0, 0, url});
    auto started = start_fibers();
    if (!started.ok())
        context_.master = nullptr;
    return started;
}

std::vector<Worker> WorkerService::everybody_else() const {
    const engine::workers::WorkerIdentity own = identity();
    std::vector<Worker> all;
    for (std::size_t i = 1; i < own.count; ++i)
        all.push_back(own.address_of(static_cast<Worker>((own.number - 1U + i) % own.count + 1)));
    std::ranges::copy_if(others_, std::back_inserter(all), [&](Worker other) { return !own.is_mate(other); });
    return all;
}

// The process above an upgrade has ended: this one is alone.
void WorkerService::leave() {
    LOG_INFO(log_, "this process has no other processes");
    context_.master = nullptr;
    others_.clear();
    if (context_.note_others)
        context_.note_others(others_);
    if (context_.upgrade_listener != nullptr)
        context_.upgrade_listener->on_take();
}

void WorkerService::run(io::Deadline deadline) {
    TimePoint beat_at = io::now();
    for (;;) {
        if (io::now() >= beat_at) {
            context_.master->send({Kind::beat});
            beat_at = io::now() + kBeat;
        }
        auto served = context_.master->flush();
        if (served.ok())
            served = take_all();
        if (served.ok())
            served = context_.master->wait(deadline.sooner(io::Deadline::at(beat_at)));
        if (served.ok())
            continue;
        if (served.code() != Errc::cancelled && !identity().is_worker())
            return leave();
        if (served.code() != Errc::cancelled) {
            LOG_ERROR(log_, "the master has ended, so this worker ends: {}", served.error().sentence());
            context_.end();
        }
        return;
    }
}

Result<void> WorkerService::take_all() {
    while (auto incoming = TRY(context_.master->take()))
        handle(*std::move(incoming));
    return {};
}

void WorkerService::handle(supervisor::MasterLine::Incoming incoming) {
    Message& message = incoming.message;
    switch (message.kind) {
        case Kind::claimed:
        case Kind::found:
            if (const auto waiter = waiters_.find(message.ticket); waiter != waiters_.end()) {
                waiter->second->answer = std::move(message);
                waiter->second->signal.raise();
            }
            break;
        case Kind::moved:
            events_.on_moved(message.text);
            note_orphan(message.text);
            break;
        case Kind::lost:
            LOG_WARN(log_, "stream {} is published on worker {}: its publisher here is closed", message.text, message.worker);
            if (message.worker != 0)
                events_.on_taken(message.text);
            events_.on_lost(message.text, "another publisher has taken the stream over");
            break;
        case Kind::link:
            if (incoming.passed.is_open() && message.flag == static_cast<std::uint8_t>(Purpose::datagrams)) {
                if (context_.take_datagrams)
                    context_.take_datagrams(std::move(incoming.passed));
            } else if (incoming.passed.is_open())
                context_.take_link(static_cast<Purpose>(message.flag), io::stream_of(std::move(incoming.passed)));
            break;
        default: handle_upgrade(message);
    }
}

void WorkerService::handle_upgrade(const Message& message) {
    if (message.kind == Kind::members) {
        others_.clear();
        for (const char letter : message.text)
            if (const auto worker = static_cast<Worker>(letter); worker >= 1 && worker != identity().address())
                others_.push_back(worker);
        if (context_.note_others)
            context_.note_others(others_);
    }
    if (context_.upgrade_listener == nullptr)
        return;
    switch (message.kind) {
        case Kind::give: context_.upgrade_listener->on_give(); break;
        case Kind::upgraded:
            context_.upgrade_listener->on_upgraded(message.flag == 0 ? std::optional(message.ticket) : std::nullopt,
                                                   message.text);
            break;
        case Kind::take: context_.upgrade_listener->on_take(); break;
        default: break;
    }
}

Result<Message> WorkerService::question(Message message, io::Deadline deadline) {
    if (!is_on())
        return Error(Errc::closed, "there is nobody to be asked");
    Waiter waiter;
    const std::uint32_t ticket = next_ticket_++;
    message.ticket = ticket;
    if (message.text.size() > engine::workers::kTextMax || !context_.master->send(message))
        return Error(Errc::limit, "the workers cannot be asked for this stream");
    waiters_[ticket] = &waiter;
    const auto limit = deadline.sooner(io::Deadline::after(kAnswerLimit));
    Result<void> waited;
    while (waited.ok() && !waiter.answer)
        waited = io::wait(waiter.signal, limit);
    waiters_.erase(ticket);
    if (waiter.answer)
        return *std::move(waiter.answer);
    return Error(waited.error());
}

Result<void> WorkerService::claim(const std::string& url, bool replaces, io::Deadline deadline) {
    const Message asked{Kind::claim, static_cast<std::uint8_t>(replaces ? 1 : 0), 0, 0, 0, url};
    Message answer = TRY(question(asked, deadline));
    const auto until = deadline.sooner(io::Deadline::after(kComingOverLimit));
    // From an old process it is coming over; on another worker its connection may have ended, which shows when that is read.
    const auto is_refused = [&] { return static_cast<Verdict>(answer.flag) == Verdict::refused && is_on(); };
    while (is_refused() && !until.expired()) {
        TRY(io::sleep(deadline.sooner(io::Deadline::after(kComingOverLook))));
        answer = TRY(question(asked, deadline));
    }
    switch (static_cast<Verdict>(answer.flag)) {
        case Verdict::granted: break;
        case Verdict::refused: return Error(Errc::conflict, "the stream is being published already");
        case Verdict::too_many: return Error(Errc::limit, "this worker cannot publish another stream");
    }
    if (!publishes(url))
        claimed_[url] = io::now();
    return {};
}

Result<std::optional<WorkerService::Found>> WorkerService::find(const std::string& url, io::Deadline deadline) {
    const Message answer = TRY(question({Kind::find, 0, 0, 0, 0, url}, deadline));
    if (answer.worker == 0 || !is_on() || answer.worker == identity().address())
        return std::optional<Found>();
    return std::optional(Found{answer.worker, answer.epoch});
}

Result<std::unique_ptr<io::TcpStream>> WorkerService::connect(Worker worker, Purpose purpose) {
    if (!is_on())
        return Error(Errc::closed, "there is no other process");
    auto [here, there] = TRY(io::stream_pair());
    if (worker == identity().address())
        context_.take_link(purpose, io::stream_of(std::move(there)));
    else if (!context_.master->send({Kind::link, static_cast<std::uint8_t>(purpose), worker, 0, 0, ""}, std::move(there)))
        return Error(Errc::limit, "the master does not take a connection");
    return io::stream_of(std::move(here));
}

Result<io::MessageSocket> WorkerService::connect_datagrams(Worker worker) {
    auto [here, there] = TRY(io::MessageSocket::pair());
    if (!is_on() ||
        !context_.master->send({Kind::link, static_cast<std::uint8_t>(Purpose::datagrams), worker, 0, 0, ""}, std::move(there)))
        return Error(Errc::closed, "there is no other process");
    return io::MessageSocket(std::move(here));
}

Result<engine::http1::Response> WorkerService::ask(Worker worker, const http_client::HttpCall& call, io::Deadline deadline) {
    const auto stream = TRY(connect(worker, Purpose::control));
    return context_.http.call_over(*stream, call, deadline);
}

void WorkerService::request_reload() { context_.master->send({Kind::reload}); }

void WorkerService::request_quit() { context_.master->send({Kind::quit}); }

// A pull publishes the stream of another worker.
void WorkerService::on_published(const session::ClientRequest& request, const session::StreamPlan& plan) {
    if (request.kind == session::ClientKind::relay_pull)
        return;
    claimed_.erase(plan.url);
    published_.insert(plan.url);
    if (is_on())
        context_.master->send({Kind::announce, 0, 0, 0, 0, plan.url});
}

void WorkerService::on_unpublished(const std::string& url) {
    if (published_.erase(url) > 0 && is_on())
        context_.master->send({Kind::withdraw, 0, 0, 0, 0, url});
}

void WorkerService::on_tick() {
    if (!is_on())
        return;
    const TimePoint now = io::now();
    std::erase_if(claimed_, [&](const auto& claim) {
        const auto source = context_.streams.find(claim.first);
        const bool is_over = now - claim.second >= kClaimLimit && !(source && source->publications().owner() != nullptr);
        if (is_over)
            context_.master->send({Kind::withdraw, 0, 0, 0, 0, claim.first});
        return is_over;
    });
    if (now - orphans_at_ < kOrphanPeriod)
        return;
    orphans_at_ = now;
    context_.streams.for_each([this](media::Source& source) { note_orphan(source.url()); });
}

bool WorkerService::is_orphan(const std::string& url) const {
    const auto source = context_.streams.find(url);
    return source && source->publications().owner() == nullptr && source->readers().is_watched();
}

void WorkerService::note_orphan(const std::string& url) {
    if (orphans_.size() >= kOrphansMax || !is_orphan(url))
        return;
    orphans_.insert(url);
    orphans_wait_.raise();
}

void WorkerService::run_orphans(io::Deadline deadline) {
    for (;;) {
        while (!orphans_.empty()) {
            const std::string url = *orphans_.begin();
            orphans_.erase(orphans_.begin());
            if (!is_orphan(url))
                continue;
            const auto where = find(url, deadline);
            if (!where.ok() && where.code() == Errc::cancelled)
                return;
            if (where.ok() && *where && is_orphan(url))
                events_.on_elsewhere(url);
        }
        if (!io::wait(orphans_wait_, deadline).ok())
            return;
    }
}

}  // namespace live::service::workers
