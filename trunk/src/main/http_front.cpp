#include "main/http_front.hpp"

#include <fstream>
#include <utility>

#include <unistd.h>

#include "base/endpoint.hpp"
#include "base/log_format.hpp"
#include "base/version.hpp"
#include "io/loop.hpp"

namespace live::main_ {

namespace {

std::string command_line_of_process() {
    std::ifstream file("/proc/self/cmdline");
    std::string words;
    std::getline(file, words);
    for (char& letter : words)
        if (letter == '\0')
            letter = ' ';
    while (!words.empty() && words.back() == ' ')
        words.pop_back();
    return words;
}

api::ServerInfo info_of(const ServerNames& names) {
    api::ServerInfo info;
    info.server_id = names.server_id;
    info.service_id = names.service_id;
    info.process_id = names.process_id;
    info.parent_id = ::getppid();
    info.command_line = command_line_of_process();
    char folder[4096];
    info.working_folder = ::getcwd(folder, sizeof folder) == nullptr ? "" : folder;
    info.started = io::now();
    return info;
}

bool is_loopback(const Endpoint& endpoint) { return endpoint.ip.starts_with("127.") || endpoint.ip == "::1"; }

}  // namespace

HttpFront::HttpFront(const ServerNames& names, const api::ServerCounters& counters, const service::stats::StreamBoard& board,
                     const api::VhostSettings& vhosts, std::vector<std::string> disks, MutBytes scratch,
                     session::ConnectionLimit& limit, const Log& log)
    : log_(log),
      limit_(limit),
      info_(info_of(names)),
      sampler_(counters, std::move(disks)),
      api_(info_, sampler_),
      board_api_(info_, board, vhosts),
      context_{.router = router_, .scratch = scratch, .server = std::string(kSignature), .auth = {}, .limits = {}} {
    api_.mount(router_);
    board_api_.mount(router_);
}

HttpFront::~HttpFront() = default;

Result<void> HttpFront::listen(const Settings& settings) {
    if (settings.stats.enabled)
        TRY(services_.start("system-sampler", [this](io::Deadline forever) { sampler_.run(forever); }));
    if (!settings.http_api.enabled)
        return {};
    const auto& auth = settings.http_api.auth;
    context_.auth = {auth.enabled, auth.username, auth.password};
    context_.allows_cross_origin = settings.http_api.crossdomain && settings.http_server.crossdomain;
    for (const std::string& text : settings.http_api.listen) {
        const auto endpoints = TRY(parse_endpoint(text));
        for (const Endpoint& endpoint : endpoints) {
            auto listener = io::TcpListener::listen(endpoint);
            if (!listener.ok()) {
                if (endpoints.size() > 1 && endpoint.is_ipv6() && listener.code() == Errc::system)
                    continue;  // a machine without IPv6
                return std::move(listener).error().during("listening for HTTP-API");
            }
            LOG_INFO(log_, "HTTP-API listen at tcp://{}, fd={}", endpoint.text(), (*listener)->native_handle());
            if (!is_loopback(endpoint) && !auth.enabled)
                LOG_WARN(log_, "the HTTP API is open to everybody who reaches {}: set http_api.auth or listen on 127.0.0.1",
                         endpoint.text());
            acceptors_.push_back(
                std::make_unique<session::http::Acceptor>(*std::move(listener), nullptr, context_, limit_, connections_, log_));
            auto* acceptor = acceptors_.back().get();
            TRY(listeners_.start("http-listener", [acceptor](io::Deadline forever) { acceptor->run(forever); }));
        }
    }
    return {};
}

void HttpFront::stop(io::Deadline deadline) {
    for (io::Scope* scope : {&listeners_, &connections_, &services_})
        if (const auto stopped = scope->stop(deadline); !stopped.ok())
            LOG_WARN(log_, "stopping {}: {}", scope->name(), stopped.error().text());
}

}  // namespace live::main_
