// TokenService: the keys of all virtual hosts, and the end of sessions whose token expires.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/log/log.hpp"
#include "engine/crypto/signing_key.hpp"
#include "service/service.hpp"
#include "service/tokens/jwt.hpp"
#include "session/common/client_table.hpp"

namespace live::service::tokens {

UnixSeconds unix_now();

// By the names of their files.
class KeyRing {
public:
    // nullptr if the file could not be read.
    const engine::crypto::SigningKey* find(const std::string& file) const {
        const auto found = keys_.find(file);
        return found == keys_.end() ? nullptr : &found->second;
    }
    void replace(std::unordered_map<std::string, engine::crypto::SigningKey> keys) { keys_ = std::move(keys); }

private:
    std::unordered_map<std::string, engine::crypto::SigningKey> keys_;
};

class TokenService final : public Service, private session::ClientWatcher {
public:
    // Returns the key files of the settings, the coming ones during a reload. Must not suspend.
    using KeyFiles = std::function<std::vector<std::string>()>;

    // `clients` must outlive this.
    TokenService(KeyFiles key_files, session::ClientTable& clients, const Log& log);

    const KeyRing& keys() const { return keys_; }
    std::size_t expiring() const { return expiring_.size(); }

    // Service
    std::string_view name() const override { return "access tokens"; }
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    Result<void> prepare(io::Deadline deadline) override;
    void apply(io::Deadline deadline) override;
    void on_tick() override { end_expired(unix_now()); }
    void write_metrics(MetricsText& text) const override;

    // Kicks the clients whose token has expired at `now`.
    void end_expired(UnixSeconds now);

private:
    // session::ClientWatcher
    void on_entered(session::ClientEntry& entry) override;
    void on_left(session::ClientEntry& entry, const session::SessionEnd& end) override;
    void on_refused(const session::ClientEntry&, const Error&) override {}

    Result<std::unordered_map<std::string, engine::crypto::SigningKey>> read(io::Deadline deadline) const;

    const KeyFiles key_files_;
    const Log& log_;
    KeyRing keys_;
    std::unordered_map<std::string, engine::crypto::SigningKey> coming_;
    // By the time of expiry; bounded by the number of clients.
    std::set<std::pair<UnixSeconds, session::ClientEntry*>> expiring_;
    std::uint64_t expired_ = 0;
};

}  // namespace live::service::tokens
