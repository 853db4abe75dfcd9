// KeySets: the key sets (JWKS) of the services that issue tokens, by their URLs. A set is refreshed every few minutes; a token by
// an unknown key requests it at once, at most every 10 s. A set that cannot be read again is kept.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/log/log.hpp"
#include "base/signal.hpp"
#include "engine/crypto/signing_key.hpp"
#include "service/files/waiters.hpp"
#include "service/http_client/http_client.hpp"
#include "service/service.hpp"

namespace live::service::tokens {

class KeySets {
public:
    // nullptr before the first answer. Valid until the caller suspends.
    virtual const std::vector<engine::crypto::SigningKey>* find(const std::string& url) const = 0;
    // Returns when the set has been requested, or need not be yet.
    virtual void refresh(const std::string& url, io::Deadline deadline) = 0;

protected:
    ~KeySets() = default;
};

class KeySetService final : public Service, public KeySets {
public:
    static constexpr std::chrono::minutes kRefreshAfter{5};
    static constexpr std::chrono::seconds kAskAgainAfter{10};
    static constexpr std::chrono::seconds kCallLimit{10};

    // Returns the URLs of the settings. Must not suspend.
    using Urls = std::function<std::vector<std::string>()>;
    // `client` must outlive this.
    KeySetService(const http_client::HttpClient& client, Urls urls, const Log& log);
    ~KeySetService();

    // Called when a set of the settings was read for the first time. Must not suspend.
    void set_on_first_read(std::function<void()> on_first_read) { on_first_read_ = std::move(on_first_read); }

    // KeySets
    const std::vector<engine::crypto::SigningKey>* find(const std::string& url) const override;
    void refresh(const std::string& url, io::Deadline deadline) override;

    // Service
    std::string_view name() const override { return "key sets"; }
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    void apply(io::Deadline) override { changed_.raise(); }
    void write_metrics(MetricsText& text) const override;

private:
    struct Set;

    void run(io::Deadline deadline);
    void request(const std::string& url, io::Deadline deadline);
    Result<std::vector<engine::crypto::SigningKey>> call(const std::string& url, io::Deadline deadline) const;

    const http_client::HttpClient& client_;
    const Urls urls_;
    const Log& log_;
    Signal changed_;
    std::unordered_map<std::string, std::shared_ptr<Set>> sets_;  // owners: the map, and a request during a reload
    std::function<void()> on_first_read_;
    std::uint64_t requests_ = 0;
    std::uint64_t failures_ = 0;
};

}  // namespace live::service::tokens
