// PathClaims: which output writes which files. A path claimed by one output is refused to all others, so that two streams never
// write to one file. Paths are normalized (normal_path); for files with varying names, the path is the template, with its
// variables unexpanded.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace live::service::files {

class PathClaims {
public:
    // The paths of one output, until this is destroyed. PathClaims must outlive it.
    class Claim {
    public:
        Claim() = default;
        ~Claim() { release(); }
        Claim(Claim&& other) noexcept : claims_(std::exchange(other.claims_, nullptr)), paths_(std::move(other.paths_)) {}
        Claim& operator=(Claim&& other) noexcept {
            release();
            claims_ = std::exchange(other.claims_, nullptr);
            paths_ = std::move(other.paths_);
            return *this;
        }
        void release();

    private:
        friend PathClaims;
        Claim(PathClaims& claims, std::vector<std::string> paths) : claims_(&claims), paths_(std::move(paths)) {}

        PathClaims* claims_ = nullptr;
        std::vector<std::string> paths_;
    };

    // All of them or none. `owner` names the output in messages: "the HLS of /live/cam"; it may claim its own paths again.
    // Errc::conflict, with a message that names the path and its owner.
    Result<Claim> claim(std::vector<std::string> paths, const std::string& owner);

    std::size_t size() const { return held_.size(); }

private:
    struct Held {
        std::string owner;
        std::size_t claims = 0;
    };

    std::unordered_map<std::string, Held> held_;
};

}  // namespace live::service::files
