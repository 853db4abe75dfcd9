#include "engine/workers/stream_directory.hpp"

#include <limits>
#include <utility>

namespace live::engine::workers {

std::vector<StreamDirectory::Outgoing> StreamDirectory::handle(Worker from, const Message& message) {
    switch (message.kind) {
        case Kind::claim: return claim(from, message);
        case Kind::announce: return announce(from, message);
        case Kind::withdraw: withdraw(from, message.text); return {};
        case Kind::find: {
            const auto owner = find(message.text);
            return {
                {from,
                 {Kind::found, 0, owner ? owner->worker : Worker{0}, message.ticket, owner ? owner->epoch : 0, message.text}}};
        }
        default: return {};
    }
}

std::optional<StreamDirectory::Owner> StreamDirectory::find(const std::string& url) const {
    const auto known = owners_.find(url);
    return known == owners_.end() ? std::nullopt : std::optional(known->second);
}

void StreamDirectory::give(const std::string& url, Worker worker) {
    Owner& owner = owners_[url];
    if (owner.worker != 0)
        --counts_[owner.worker];
    owner = {worker, next_epoch_++};
    ++counts_[worker];
}

std::vector<StreamDirectory::Outgoing> StreamDirectory::claim(Worker from, const Message& message) {
    const auto answer = [&](Verdict verdict, Worker holder) {
        return Outgoing{from, {Kind::claimed, static_cast<std::uint8_t>(verdict), holder, message.ticket, 0, message.text}};
    };
    const auto owner = find(message.text);
    const bool replaces = message.flag == 1;
    // Its own: the rule of one process decides there.
    if (owner && owner->worker == from)
        return {answer(Verdict::granted, from)};
    if (owner && !replaces)
        return {answer(Verdict::refused, owner->worker)};
    if (counts_[from] >= kStreamsMax)
        return {answer(Verdict::too_many, 0)};
    give(message.text, from);
    std::vector<Outgoing> out{answer(Verdict::granted, from)};
    if (owner)
        out.push_back({owner->worker, {Kind::lost, 0, from, 0, 0, message.text}});
    return out;
}

std::vector<StreamDirectory::Outgoing> StreamDirectory::announce(Worker from, const Message& message) {
    const auto owner = find(message.text);
    if (owner && owner->worker != from)
        return {{from, {Kind::lost, 0, owner->worker, 0, owner->epoch, message.text}}};
    if (!owner && counts_[from] >= kStreamsMax)
        return {{from, {Kind::lost, 0, 0, 0, 0, message.text}}};
    if (!owner)
        give(message.text, from);
    std::vector<Outgoing> out;
    for (Worker worker = 1; worker <= workers_; ++worker)
        if (worker != from)
            out.push_back({worker, {Kind::moved, 0, from, 0, owners_.at(message.text).epoch, message.text}});
    return out;
}

void StreamDirectory::withdraw(Worker from, const std::string& url) {
    const auto known = owners_.find(url);
    if (known == owners_.end() || known->second.worker != from)
        return;
    --counts_[from];
    owners_.erase(known);
}

void StreamDirectory::restore(const std::string& url, const Owner& owner) {
    if (owner.worker == 0 || owner.worker > workers_ || counts_[owner.worker] >= kStreamsMax || owners_.contains(url))
        return;
    owners_[url] = owner;
    ++counts_[owner.worker];
    // A number from elsewhere may be any.
    if (owner.epoch >= next_epoch_ && owner.epoch < std::numeric_limits<std::uint64_t>::max())
        next_epoch_ = owner.epoch + 1;
}

void StreamDirectory::forget(Worker worker) {
    std::erase_if(owners_, [worker](const auto& entry) { return entry.second.worker == worker; });
    counts_[worker] = 0;
}

}  // namespace live::engine::workers
