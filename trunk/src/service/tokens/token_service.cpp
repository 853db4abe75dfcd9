#include "service/tokens/token_service.hpp"

#include <chrono>
#include <utility>

#include "base/log/log_format.hpp"
#include "base/text/metrics_text.hpp"
#include "io/fibers/off_loop.hpp"
#include "service/tokens/key_file.hpp"

namespace live::service::tokens {

UnixSeconds unix_now() { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); }

TokenService::TokenService(KeyFiles key_files, session::ClientTable& clients, const Log& log)
    : key_files_(std::move(key_files)), log_(log) {
    clients.add_watcher(*this);
}

Result<void> TokenService::start(io::Scope&, io::Deadline deadline) {
    keys_.replace(TRY(read(deadline)));
    return {};
}

Result<void> TokenService::prepare(io::Deadline deadline) {
    coming_ = TRY(read(deadline));
    return {};
}

void TokenService::apply(io::Deadline) { keys_.replace(std::exchange(coming_, {})); }

Result<std::unordered_map<std::string, engine::crypto::SigningKey>> TokenService::read(io::Deadline deadline) const {
    std::unordered_map<std::string, engine::crypto::SigningKey> keys;
    for (const std::string& file : key_files_()) {
        if (keys.contains(file))
            continue;
        auto found = TRY(io::off_loop([file] { return read_or_make_key(file); }, deadline));
        if (found.is_new)
            LOG_WARN(log_, "access: made a secret in {}; srs token signs with it", file);
        keys.emplace(file, std::move(found.key));
    }
    return keys;
}

void TokenService::on_entered(session::ClientEntry& entry) {
    if (const auto ends_at = entry.plan()->ends_at)
        expiring_.emplace(*ends_at, &entry);
}

void TokenService::on_left(session::ClientEntry& entry, const session::SessionEnd&) {
    if (const auto ends_at = entry.plan()->ends_at)
        expiring_.erase({*ends_at, &entry});
}

void TokenService::end_expired(UnixSeconds now) {
    while (!expiring_.empty() && expiring_.begin()->first <= now) {
        session::ClientEntry* const entry = expiring_.begin()->second;
        expiring_.erase(expiring_.begin());
        ++expired_;
        entry->kick("its token or signed URL has expired");
    }
}

void TokenService::write_metrics(MetricsText& text) const {
    text.family("millrace_access_expiring_sessions", MetricsText::Type::gauge,
                "Sessions that end when their token or signed URL expires.")
        .sample(std::uint64_t{expiring_.size()});
    text.family("millrace_access_expired_sessions_total", MetricsText::Type::counter,
                "Sessions ended because their token or signed URL expired.")
        .sample(expired_);
}

}  // namespace live::service::tokens
