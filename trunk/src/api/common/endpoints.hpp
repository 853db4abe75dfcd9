// Endpoints: the handlers of the API, each connected to its row of the table (route.hpp). It serves them on the routers, refuses
// methods that a row does not name, and answers the indexes and, below them, unknown paths.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/common/route.hpp"
#include "api/common/server_info.hpp"
#include "session/http/router.hpp"

namespace live::api {

class Endpoints {
public:
    // `server` outlives this.
    explicit Endpoints(const ServerInfo& server);
    ~Endpoints();
    Endpoints(const Endpoints&) = delete;
    Endpoints& operator=(const Endpoints&) = delete;

    // Serves the row of this path, on all routers whose ports the row names. The handler outlives the routers' last request.
    void serve(std::string_view path, session::http::Handler& handler);
    // The same with a handler that this owns.
    template <class HandlerType, class... Args>
    HandlerType& add(std::string_view path, Args&&... args) {
        auto made = std::make_unique<HandlerType>(std::forward<Args>(args)...);
        HandlerType& handler = *made;
        owned_.push_back(std::move(made));
        serve(path, handler);
        return handler;
    }
    // Serves the endpoints of these ports on `router`, also those added later. The router outlives this object's last call.
    void mount(session::http::Router& router, Ports ports);

    const ServerInfo& server() const { return server_; }
    // The rows with a handler.
    std::vector<const Route*> served() const;
    // Serves the page of /api/ for browsers, which accept text/html. The handler outlives the routers' last request.
    void set_reference_page(session::http::Handler& page) { reference_page_ = &page; }
    session::http::Handler* reference_page() const { return reference_page_; }
    // The listed endpoints directly below `folder`, as JSON text. Several of them in a folder without an index are an object.
    std::string index(std::string_view folder) const;

private:
    class Guarded;
    struct Mounted {
        session::http::Router* router;
        Ports ports;
    };

    static void mount(Guarded& guarded, const Mounted& mounted);
    bool is_listed(const Route& route) const;

    const ServerInfo& server_;
    std::vector<std::unique_ptr<session::http::Handler>> owned_;
    std::vector<std::unique_ptr<Guarded>> served_;
    std::vector<Mounted> mounted_;
    session::http::Handler* reference_page_ = nullptr;
};

}  // namespace live::api
