#include "service/files/path_claims.hpp"

namespace live::service::files {

Result<PathClaims::Claim> PathClaims::claim(std::vector<std::string> paths, const std::string& owner) {
    for (const std::string& path : paths)
        if (const auto found = held_.find(path); found != held_.end() && found->second.owner != owner)
            return Error(Errc::conflict, path + " belongs to " + found->second.owner);
    for (const std::string& path : paths) {
        Held& held = held_[path];
        held.owner = owner;
        ++held.claims;
    }
    return Claim(*this, std::move(paths));
}

void PathClaims::Claim::release() {
    if (claims_ == nullptr)
        return;
    auto& held = std::exchange(claims_, nullptr)->held_;
    for (const std::string& path : std::exchange(paths_, {}))
        if (const auto found = held.find(path); --found->second.claims == 0)
            held.erase(found);
}

}  // namespace live::service::files
