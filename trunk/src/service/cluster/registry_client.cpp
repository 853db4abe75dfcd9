#include "service/cluster/registry_client.hpp"

#include <utility>
#include <variant>

#include "base/backoff.hpp"
#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "service/cluster/redis_commands.hpp"

namespace live::service::cluster {

using engine::redis::Reply;

namespace {

Backoff make_backoff() { return Backoff(RegistryClient::kBackoffFirst, RegistryClient::kBackoffMax); }

// Returns false if the fiber is cancelled.
bool pause_before_retry(Backoff& backoff, io::Deadline deadline) {
    const auto slept = io::sleep(deadline.sooner(io::Deadline::after(backoff.next(static_cast<std::uint32_t>(random_number())))));
    return slept.ok() || slept.code() == Errc::timed_out;
}

}  // namespace

RegistryClient::RegistryClient(engine::cluster::ClusterNode& node, Access access, std::function<void()> on_input, Log log)
    : node_(node), access_(std::move(access)), on_input_(std::move(on_input)), log_(std::move(log)) {}

Result<void> RegistryClient::start(io::Scope& fibers) {
    TRY(fibers.start("registry", [this](io::Deadline forever) { run_commands(forever); }));
    return fibers.start("registry events", [this](io::Deadline forever) { run_events(forever); });
}

void RegistryClient::wake() {
    if (node_.has_commands())
        output_waits_.raise();
}

void RegistryClient::run_commands(io::Deadline deadline) {
    Backoff backoff = make_backoff();
    for (;;) {
        auto link = RedisLink::open(access_.url, access_.tls, access_.scratch, deadline);
        Result<void> served;
        if (link.ok()) {
            LOG_INFO(log_, "cluster registry is connected, {}", (*link)->stream().peer());
            backoff.reset();
            last_failure_.clear();
            ++connections_;
            is_connected_ = true;
            sent_.clear();
            node_.handle_connected(io::now());
            on_input_();
            served = serve_commands(**link, deadline);
            is_connected_ = false;
            end_calls();
            node_.handle_disconnected(io::now());
            on_input_();
        } else {
            served = link.error();
        }
        if (!served.ok() && served.code() == Errc::cancelled)
            return;
        // One line for one absence.
        if (link.ok() || served.error().sentence() != last_failure_)
            LOG_WARN(log_, "cluster registry is away, streams continue without it: {}", served.error().sentence());
        last_failure_ = served.error().sentence();
        if (!pause_before_retry(backoff, deadline))
            return;
    }
}

// Returns an error at the end of the connection in any case.
Result<void> RegistryClient::serve_commands(RedisLink& link, io::Deadline deadline) {
    for (;;) {
        send_commands(link);
        TRY(link.flush(deadline.sooner(io::Deadline::after(access_.lease))));
        const auto oldest = sent_.empty() ? io::Deadline::never() : io::Deadline::at(sent_.front().at + access_.lease);
        const auto ready = link.stream().wait_ready(io::Interest::readable, &output_waits_, deadline.sooner(oldest));
        if (!ready.ok() && ready.code() != Errc::timed_out)
            return ready.error();
        if (ready.ok() && ready->readable) {
            TRY(link.read());
            TRY(take_replies(link));
        } else if (oldest.expired()) {
            return Error(Errc::timed_out, "it has not answered for the length of a lease");
        }
    }
}

void RegistryClient::send_commands(RedisLink& link) {
    const TimePoint now = io::now();
    while (auto command = node_.poll_command()) {
        link.queue(words_of(*command));
        sent_.push_back({*std::move(command), 0, now});
    }
    while (!calls_.empty()) {
        link.queue(calls_.front().words);
        sent_.push_back({{}, calls_.front().number, now});
        calls_.pop_front();
    }
}

Result<void> RegistryClient::take_replies(RedisLink& link) {
    while (auto reply = TRY(link.next())) {
        if (sent_.empty())
            return Error(Errc::malformed, "it answers without a command");
        const Sent sent = std::move(sent_.front());
        sent_.pop_front();
        if (sent.call != 0) {
            end_call(sent.call, *std::move(reply));
            continue;
        }
        const auto answer = answer_of(sent.command, *reply);
        if (const auto* refusal = std::get_if<engine::cluster::Refusal>(&answer))
            LOG_WARN(log_, "cluster registry refuses a command: {}", refusal->why);
        node_.handle_answer(sent.command.id, answer, io::now());
        warn_of_duplicate_node_id();
        on_input_();
    }
    return {};
}

void RegistryClient::warn_of_duplicate_node_id() {
    const std::uint64_t count = node_.counts().duplicate_node_ids;
    if (std::exchange(duplicate_node_ids_, count) != count)
        LOG_WARN(log_, "cluster node {}: another process has this node_id too, and takes its streams; each node needs its own",
                 node_.self().id);
}

void RegistryClient::run_events(io::Deadline deadline) {
    Backoff backoff = make_backoff();
    for (;;) {
        auto link = RedisLink::open(access_.url, access_.tls, access_.scratch, deadline);
        const auto served = link.ok() ? serve_events(**link, deadline) : Result<void>(link.error());
        if (!served.ok() && served.code() == Errc::cancelled)
            return;
        if (link.ok())
            backoff.reset();
        if (!pause_before_retry(backoff, deadline))
            return;
    }
}

Result<void> RegistryClient::serve_events(RedisLink& link, io::Deadline deadline) {
    const std::vector<std::string> subscribe = {"SUBSCRIBE", std::string(kEventChannel)};
    const Reply subscribed = TRY(link.call(subscribe, deadline.sooner(io::Deadline::after(RedisLink::kOpenLimit))));
    if (!subscribed.is_list(3))
        return Error(Errc::denied, "the registry does not let us subscribe");
    node_.handle_events_missed(io::now());
    on_input_();
    // A ping without an answer detects a peer that hangs.
    const std::vector<std::string> ping = {"PING"};
    for (bool is_pinged = false;;) {
        const auto limit = deadline.sooner(io::Deadline::after(access_.lease));
        const auto ready = link.stream().wait_ready(io::Interest::readable, nullptr, limit);
        if (!ready.ok() && (ready.code() != Errc::timed_out || std::exchange(is_pinged, true)))
            return ready.error();
        if (!ready.ok()) {
            link.queue(ping);
            TRY(link.flush(limit));
            continue;
        }
        is_pinged = false;
        TRY(link.read());
        while (auto reply = TRY(link.next())) {
            if (reply->is_list(3) && reply->items[0].text == "message")
                node_.handle_event(reply->items[2].text, io::now());
        }
        on_input_();
    }
}

Result<Reply> RegistryClient::call(std::vector<std::string> words, io::Deadline deadline) {
    if (!is_connected_)
        return Error(Errc::closed, "the registry is away");
    if (callers_.size() >= kCallsMax)
        return Error(Errc::limit, "too many calls to the registry");
    Caller caller;
    const std::uint64_t number = next_call_++;
    callers_[number] = &caller;
    calls_.push_back({number, std::move(words)});
    output_waits_.raise();
    Result<void> waited;
    while (waited.ok() && !caller.reply)
        waited = io::wait(caller.signal, deadline);
    callers_.erase(number);
    std::erase_if(calls_, [number](const QueuedCall& queued) { return queued.number == number; });
    return caller.reply ? *std::move(caller.reply) : Result<Reply>(waited.error());
}

void RegistryClient::end_call(std::uint64_t number, Result<Reply> reply) {
    if (const auto caller = callers_.find(number); caller != callers_.end()) {
        caller->second->reply = std::move(reply);
        caller->second->signal.raise();
    }
}

void RegistryClient::end_calls() {
    calls_.clear();
    for (const auto& [number, caller] : callers_)
        if (!caller->reply)
            end_call(number, Error(Errc::closed, "the registry is away"));
}

}  // namespace live::service::cluster
