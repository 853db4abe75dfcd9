// PathClaims: which output writes which files. A path that one output has is refused to every other, so that two streams never
// write into one file. Paths are in one spelling (normal_path); where each file of an output has a name of its own, the path is
// its template, with the variables that differ still in it.
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
    // What one output has, until this is gone. PathClaims outlives it.
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

    // All of them or none. `owner` is how a sentence calls the output: "the HLS of /live/cam"; what it has already it may claim
    // again. Errc::conflict, with a sentence that names the path and whose it is.
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
