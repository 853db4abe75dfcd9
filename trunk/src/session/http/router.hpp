// Router: finds the handler for a path. The longest registered pattern wins. A pattern that ends with '/' matches everything
// below it, and its own name without the slash is redirected to it; any other pattern matches exactly, with or without a slash at
// the end; "{id}" in it is any part of a path before the last one. Fallbacks rank between all of these and the pattern "/": in
// order, the first that owns the path serves it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "session/http/handler.hpp"

namespace live::session::http {

// The path with "{id}" in place of the part before the last one; empty if it has too few.
std::string with_id(std::string_view path);

class Router {
public:
    struct Match {
        // nullptr: no handler for this path, or `redirect` is set.
        Handler* handler = nullptr;
        // The path with a trailing slash; empty when there is no redirect.
        std::string redirect;
    };

    // The handler outlives the router. A pattern begins with '/'; adding it again replaces the handler.
    void add(std::string pattern, Handler& handler);
    // The handler outlives the router. It comes first: if it owns the path, it serves it.
    void set_front(Handler& handler) { front_ = &handler; }
    // The handler outlives the router.
    void add_fallback(Handler& handler) { fallbacks_.push_back(&handler); }
    Match find(const Request& request) const;
    // Considers patterns only.
    Match find(std::string_view path) const;

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    };

    std::unordered_map<std::string, Handler*, Hash, std::equal_to<>> handlers_;  // by pattern
    std::vector<Handler*> fallbacks_;
    Handler* front_ = nullptr;
    bool has_ids_ = false;  // a pattern has "{id}"
};

}  // namespace live::session::http
