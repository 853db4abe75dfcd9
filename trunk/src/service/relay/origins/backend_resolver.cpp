#include "service/relay/origins/backend_resolver.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "base/log/log_format.hpp"
#include "base/text/json_text.hpp"
#include "io/fibers/loop.hpp"

namespace live::service::relay {

namespace {

using BackendJson = nlohmann::ordered_json;

Error bad_backend(std::string_view what) { return {Errc::malformed, fmt::format("the backend's answer {}", what)}; }

Location as_location(const std::vector<Origin>& origins) {
    if (origins.empty())
        return Nowhere{"the backend names no origin"};
    return Located{origins};
}

}  // namespace

std::string backend_question(std::string_view server_id, std::string_view url) {
    // "/app/stream" or "vhost/app/stream".
    const std::size_t app_at = std::min(url.find('/'), url.size());
    const std::size_t stream_at = std::max(std::min(url.rfind('/'), url.size()), app_at);
    BackendJson body;
    body["server_id"] = server_id;
    body["action"] = "on_origin";
    body["vhost"] = app_at == 0 ? std::string("__defaultVhost__") : std::string(url.substr(0, app_at));
    body["app"] = stream_at > app_at ? std::string(url.substr(app_at + 1, stream_at - app_at - 1)) : std::string();
    body["stream"] = std::string(url.substr(std::min(stream_at + 1, url.size())));
    body["stream_url"] = std::string(url);
    return text_of(body);
}

Result<std::vector<Origin>> parse_backend_answer(int status, std::string_view body, PullProtocol protocol) {
    if (status != 200)
        return bad_backend(fmt::format("has status {}", status));
    const BackendJson answer = BackendJson::parse(body, nullptr, false);
    if (!answer.is_object() || answer.value("code", BackendJson()) != 0)
        return bad_backend("is no object with code 0");
    const auto data = answer.find("data");
    if (data == answer.end() || !data->is_object())
        return bad_backend("has no object \"data\"");
    const auto list = data->find("urls");
    if (list == data->end() || !list->is_array())
        return bad_backend("has no list \"urls\" in \"data\"");
    std::vector<Origin> origins;
    for (const BackendJson& url : *list) {
        if (!url.is_string())
            return bad_backend("has a URL that is not text");
        auto origin = parse_origin(url.get_ref<const std::string&>(), protocol);
        if (origin.ok() && !origin->is_resolved && origins.size() < kBackendOriginsMax)
            origins.push_back(*std::move(origin));
    }
    if (origins.empty() && !list->empty())
        return bad_backend("names no origin that can be read");
    return origins;
}

Location BackendResolver::find(const std::string& url, const ClusterOptions& options, io::Deadline deadline) {
    if (options.backend.empty())
        return next_.find(url, options, deadline);
    const std::string key = fmt::format("{} {}", static_cast<int>(options.protocol), url);
    if (const auto known = known_.find(key); known != known_.end() && io::now() - known->second.at < kAnswerAge)
        return as_location(known->second.origins);
    // Copied, because a reload may free the options during a suspension.
    const auto asked = ask(url, std::string(options.backend), options.protocol, deadline.sooner(io::Deadline::after(kAskLimit)));
    const auto known = known_.find(key);
    if (!asked.ok()) {
        LOG_WARN(log_, "backend has no location of {}: {}", url, asked.error().sentence());
        const bool has_old = known != known_.end() && io::now() - known->second.at < kOldAnswerAge;
        return has_old && asked.code() != Errc::cancelled ? as_location(known->second.origins)
                                                          : Location(Unknown{asked.error().sentence(), kRetry});
    }
    if (known == known_.end() && known_.size() >= kAnswersMax)
        known_.clear();
    known_.insert_or_assign(key, Known{*asked, io::now()});
    return as_location(*asked);
}

bool BackendResolver::knows(std::string_view host, std::uint16_t port, const ClusterOptions& options) const {
    if (options.backend.empty())
        return next_.knows(host, port, options);
    return std::ranges::any_of(known_, [&](const auto& entry) {
        return std::ranges::any_of(entry.second.origins,
                                   [&](const Origin& origin) { return origin.host == host && origin.port == port; });
    });
}

Result<std::vector<Origin>> BackendResolver::ask(const std::string& url, const std::string& backend, PullProtocol protocol,
                                                 io::Deadline deadline) const {
    http_client::HttpCall call;
    call.url = backend;
    call.headers.add("Content-Type", "application/json");
    call.body = backend_question(server_id_, url);
    const auto answer = TRY(http_.call(call, deadline));
    return parse_backend_answer(answer.status, answer.body, protocol);
}

}  // namespace live::service::relay
