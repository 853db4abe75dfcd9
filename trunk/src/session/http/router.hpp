// Router: which handler answers a path. The longest registered pattern wins. A pattern that ends with '/' takes everything below
// it, and its own name without the slash is sent there; any other pattern takes exactly itself.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "session/http/handler.hpp"

namespace live::session::http {

class Router {
public:
    struct Match {
        // nullptr: nobody answers this path, or `redirect` says where to go.
        Handler* handler = nullptr;
        // The path with a slash behind it; empty when there is no redirect.
        std::string redirect;
    };

    // The handler outlives the router. A pattern begins with '/'; the one added last for a pattern counts.
    void add(std::string pattern, Handler& handler);
    Match find(std::string_view path) const;

private:
    std::map<std::string, Handler*, std::less<>> handlers_;
};

}  // namespace live::session::http
