#include "session/http/router.hpp"

#include <utility>

#include "base/check.hpp"

namespace live::session::http {

void Router::add(std::string pattern, Handler& handler) {
    has_ids_ = has_ids_ || pattern.find("{id}") != std::string::npos;
    CHECK(pattern.starts_with('/'));
    handlers_.insert_or_assign(std::move(pattern), &handler);
}

Router::Match Router::find(const Request& request) const {
    if (front_ != nullptr && front_->takes(request))
        return {front_, {}};
    auto match = find(request.path());
    if (!match.redirect.empty())
        return match;
    const auto root = handlers_.find("/");
    if (match.handler != nullptr && (root == handlers_.end() || match.handler != root->second))
        return match;
    for (Handler* fallback : fallbacks_)
        if (fallback->takes(request))
            return {fallback, {}};
    return match;
}

std::string with_id(std::string_view path) {
    const std::size_t last = path.rfind('/');
    if (last == std::string_view::npos || last == 0)
        return {};
    const std::size_t before = path.rfind('/', last - 1);
    if (before == std::string_view::npos)
        return {};
    return std::string(path.substr(0, before + 1)) + "{id}" + std::string(path.substr(last));
}

Router::Match Router::find(std::string_view path) const {
    if (const auto exact = handlers_.find(path); exact != handlers_.end())
        return {exact->second, {}};
    // A slash too many: clients of the family write "/api/v1/versions/" as well.
    if (path.size() > 1 && path.ends_with('/'))
        if (const auto exact = handlers_.find(path.substr(0, path.size() - 1)); exact != handlers_.end())
            return {exact->second, {}};
    if (has_ids_)
        if (const auto exact = handlers_.find(with_id(path)); exact != handlers_.end())
            return {exact->second, {}};
    std::string folder;
    folder.reserve(path.size() + 1);
    folder.append(path) += '/';
    if (handlers_.contains(folder))
        return {nullptr, std::move(folder)};
    // From the longest folder prefix of the path to the root.
    for (std::size_t slash = path.rfind('/'); slash != std::string_view::npos;
         slash = slash == 0 ? std::string_view::npos : path.rfind('/', slash - 1)) {
        if (const auto above = handlers_.find(path.substr(0, slash + 1)); above != handlers_.end())
            return {above->second, {}};
    }
    return {};
}

}  // namespace live::session::http
