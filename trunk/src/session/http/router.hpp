// Router: which handler answers a path. The longest registered pattern wins. A pattern that ends with '/' takes everything below
// it, and its own name without the slash is sent there; any other pattern takes exactly itself. Fallbacks stand between all of
// these and the pattern "/": each is asked, in their order, whether the address is one of its own.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

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
    // The handler outlives the router.
    void add_fallback(Handler& handler) { fallbacks_.push_back(&handler); }
    Match find(const Request& request) const;
    // By patterns alone.
    Match find(std::string_view path) const;

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    };

    std::unordered_map<std::string, Handler*, Hash, std::equal_to<>> handlers_;  // by pattern
    std::vector<Handler*> fallbacks_;
};

}  // namespace live::session::http
