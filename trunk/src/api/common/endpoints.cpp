#include "api/common/endpoints.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/common/envelope.hpp"
#include "base/check.hpp"
#include "base/text/ascii.hpp"
#include "base/text/json_text.hpp"
#include "session/http/exchange.hpp"
#include "wire/http/status.hpp"

namespace live::api {
using session::http::BodyMode;
using session::http::Exchange;
using session::http::Handler;
using session::http::Reply;
using session::http::Request;

namespace {

using Json = nlohmann::ordered_json;

Reply refused_method(const Route& route) {
    return session::http::method_not_allowed(route.methods.text(), "this method is not supported here");
}

// The folders that answer with an index.
bool is_index(std::string_view path) { return path == "/" || path == "/api/" || path == "/api/v1/"; }

constexpr std::string_view kReferencePath = "/api/";

// Reports whether a browser opens the page of /api/.
bool is_reference(const Request& request) {
    const std::string_view accepted = request.message.headers.find("Accept").value_or("");
    return request.is_get() && request.path() == kReferencePath && accepted.find("text/html") != std::string_view::npos;
}

bool is_below_other_index(std::string_view folder, std::string_view path) {
    return std::ranges::any_of(routes(), [&](const Route& other) {
        return is_index(other.path) && other.path.size() > folder.size() && other.path != path && path.starts_with(other.path);
    });
}

// Answers its own path with the index, and the paths below that no other row serves with a 404.
class IndexHandler final : public Handler {
public:
    IndexHandler(const Endpoints& endpoints, std::string_view path) : endpoints_(endpoints), path_(path) {}

    Result<void> serve(Exchange& exchange, io::Deadline deadline) override {
        if (auto* page = endpoints_.reference_page(); page != nullptr && is_reference(exchange.request()))
            return page->serve(exchange, deadline);
        return exchange.send(handle(exchange.request(), deadline), deadline);
    }
    Reply handle(const Request& request, io::Deadline) override {
        if (ascii::trimmed(request.path(), "/") != ascii::trimmed(path_, "/"))
            return session::http::error_reply(wire::http::Status::not_found,
                                              "there is nothing at this address; /api/v1/ lists the endpoints");
        Reply reply = json_reply(request, envelope(endpoints_.server(), "urls", endpoints_.index(path_)));
        if (path_ == kReferencePath)
            reply.headers.emplace_back("Vary", "Accept");
        return reply;
    }

private:
    const Endpoints& endpoints_;
    std::string_view path_;
};

}  // namespace

// A handler behind the methods of its row.
class Endpoints::Guarded final : public Handler {
public:
    Guarded(const Route& route, Handler& handler) : route_(route), handler_(handler) {}

    BodyMode body_mode(const Request& request) const override { return handler_.body_mode(request); }
    Result<void> serve(Exchange& exchange, io::Deadline deadline) override {
        if (!route_.methods.allow(exchange.request().message.method))
            return exchange.send(refused_method(route_), deadline);
        return handler_.serve(exchange, deadline);
    }
    Reply handle(const Request& request, io::Deadline deadline) override {
        return route_.methods.allow(request.message.method) ? handler_.handle(request, deadline) : refused_method(route_);
    }
    const Route& route() const { return route_; }

private:
    const Route& route_;
    Handler& handler_;
};

Endpoints::Endpoints(const ServerInfo& server) : server_(server) {
    for (const Route& route : routes())
        if (is_index(route.path))
            add<IndexHandler>(route.path, *this, route.path);
}

Endpoints::~Endpoints() = default;

void Endpoints::serve(std::string_view path, Handler& handler) {
    const auto row = std::ranges::find(routes(), path, &Route::path);
    CHECK(row != routes().end());
    served_.push_back(std::make_unique<Guarded>(*row, handler));
    for (const Mounted& mounted : mounted_)
        mount(*served_.back(), mounted);
}

void Endpoints::mount(session::http::Router& router, Ports ports) {
    mounted_.push_back({&router, ports});
    for (const auto& guarded : served_)
        mount(*guarded, mounted_.back());
}

void Endpoints::mount(Guarded& guarded, const Mounted& mounted) {
    const Route& route = guarded.route();
    if (!share(route.ports, mounted.ports))
        return;
    mounted.router->add(std::string(route.path), guarded);
    if (route.serves_without_slash())
        mounted.router->add(std::string(route.path.substr(0, route.path.size() - 1)), guarded);
}

std::vector<const Route*> Endpoints::served() const {
    std::vector<const Route*> rows;
    for (const Route& route : routes())
        if (std::ranges::any_of(served_, [&](const auto& guarded) { return &guarded->route() == &route; }))
            rows.push_back(&route);
    return rows;
}

bool Endpoints::is_listed(const Route& route) const {
    if (route.listing != Listing::when_served)
        return route.listing == Listing::always;
    return std::ranges::any_of(served_, [&](const auto& guarded) { return &guarded->route() == &route; });
}

std::string Endpoints::index(std::string_view folder) const {
    const auto listed_below = [this](std::string_view above, auto&& visit) {
        for (const Route& route : routes())
            if (route.path.size() > above.size() && route.path.starts_with(above) && is_listed(route) &&
                !is_below_other_index(above, route.path))
                visit(route);
    };
    const auto count_below = [&](std::string_view above) {
        int count = 0;
        listed_below(above, [&](const Route&) { ++count; });
        return count;
    };
    Json urls = Json::object();
    listed_below(folder, [&](const Route& route) {
        Json* object = &urls;
        std::string_view name = ascii::trimmed(route.path.substr(folder.size()), "/");
        for (std::size_t slash = name.find('/'); slash != std::string_view::npos; slash = name.find('/')) {
            const std::size_t end = static_cast<std::size_t>(name.data() - route.path.data()) + slash + 1;
            if (count_below(route.path.substr(0, end)) < 2)
                break;
            object = &(*object)[std::string(name.substr(0, slash))];
            name.remove_prefix(slash + 1);
        }
        (*object)[std::string(name)] = route.text;
    });
    return text_of(urls);
}

}  // namespace live::api
