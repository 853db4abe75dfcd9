#include "service/tokens/key_sets.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/log/log_format.hpp"
#include "base/text/metrics_text.hpp"
#include "base/text/secret.hpp"
#include "io/fibers/loop.hpp"
#include "service/tokens/jwk_set.hpp"

namespace live::service::tokens {

using engine::crypto::SigningKey;

// Owners: the map, a request, and the clients that wait for its answer.
struct KeySetService::Set {
    std::optional<std::vector<SigningKey>> keys;
    std::optional<TimePoint> asked_at;
    bool is_asked = false;  // now
    files::Waiters waiters;
};

KeySetService::KeySetService(const http_client::HttpClient& client, Urls urls, const Log& log)
    : client_(client), urls_(std::move(urls)), log_(log) {}

KeySetService::~KeySetService() = default;

const std::vector<SigningKey>* KeySetService::find(const std::string& url) const {
    const auto found = sets_.find(url);
    return found == sets_.end() || !found->second->keys ? nullptr : &*found->second->keys;
}

Result<void> KeySetService::start(io::Scope& fibers, io::Deadline) {
    return fibers.start("key sets", [this](io::Deadline forever) { run(forever); });
}

void KeySetService::run(io::Deadline deadline) {
    for (;;) {
        const std::vector<std::string> urls = urls_();
        std::erase_if(sets_, [&](const auto& set) { return std::ranges::find(urls, set.first) == urls.end(); });
        bool has_all = true;
        for (const std::string& url : urls) {
            request(url, deadline);
            has_all = has_all && find(url) != nullptr;
        }
        const Duration pause = has_all ? Duration(kRefreshAfter) : Duration(kAskAgainAfter);
        const auto woken = io::wait(changed_, deadline.sooner(io::Deadline::after(pause)));
        if (!woken.ok() && woken.code() == Errc::cancelled)
            return;
    }
}

void KeySetService::refresh(const std::string& url, io::Deadline deadline) {
    const auto found = sets_.find(url);
    if (found != sets_.end() && found->second->is_asked) {
        const std::shared_ptr<Set> set = found->second;
        Signal done;
        set->waiters.add(done);
        static_cast<void>(io::wait(done, deadline.sooner(io::Deadline::after(kCallLimit))));
        set->waiters.remove(done);
        return;
    }
    if (found != sets_.end() && found->second->asked_at && io::now() - *found->second->asked_at < kAskAgainAfter)
        return;
    request(url, deadline);
}

void KeySetService::request(const std::string& url, io::Deadline deadline) {
    auto& place = sets_[url];
    if (place == nullptr)
        place = std::make_shared<Set>();
    const std::shared_ptr<Set> set = place;
    if (set->is_asked)
        return;
    set->is_asked = true;
    set->asked_at = io::now();
    ++requests_;
    auto keys = call(url, deadline.sooner(io::Deadline::after(kCallLimit)));
    set->is_asked = false;
    set->waiters.raise();
    if (keys.ok()) {
        const bool is_first = !set->keys;
        if (is_first)
            LOG_INFO(log_, "access: {} has {} keys", redacted(url), keys->size());
        set->keys = *std::move(keys);
        if (is_first && on_first_read_)
            on_first_read_();
        return;
    }
    if (keys.code() == Errc::cancelled)
        return;
    ++failures_;
    LOG_WARN(log_, "access: the key set {} cannot be read, {}: {}", redacted(url),
             set->keys ? "keeping the previous one" : "no token by its keys is accepted", keys.error().sentence());
}

Result<std::vector<SigningKey>> KeySetService::call(const std::string& url, io::Deadline deadline) const {
    http_client::HttpCall call{.method = "GET", .url = url, .headers = {}, .body = {}, .answer_bytes_max = kJwkSetBytesMax};
    call.headers.add("Accept", "application/json");
    const auto answer = TRY(client_.call(call, deadline));
    if (answer.status != 200)
        return Error(Errc::denied, "the answer has status " + std::to_string(answer.status));
    return parse_jwk_set(answer.body);
}

void KeySetService::write_metrics(MetricsText& text) const {
    text.family("millrace_access_key_set_requests_total", MetricsText::Type::counter, "Requests of key sets (JWKS).")
        .sample(requests_);
    text.family("millrace_access_key_set_failures_total", MetricsText::Type::counter, "Requests of key sets that failed.")
        .sample(failures_);
}

}  // namespace live::service::tokens
