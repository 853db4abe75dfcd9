// Credentials: the Authorization header of a client that has been challenged (RFC 7617, RFC 7616). Digest is preferred to Basic,
// and SHA-256 to MD5.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "wire/rtsp/authentication.hpp"

namespace live::engine::rtsp {

// The path and the query of an absolute URL, with the slash; "/" of another text.
std::string_view path_of(std::string_view url);

class Credentials {
public:
    Credentials(std::string user, std::string password) : user_(std::move(user)), password_(std::move(password)) {}

    bool empty() const { return user_.empty() && password_.empty(); }
    // Takes the best challenge; false if no supported challenge is listed.
    bool accept(std::span<const wire::rtsp::Challenge> challenges);
    // Some devices compute the digest with the path of the URL, and not with all of it.
    void use_path() { uses_path_ = true; }
    bool is_digest() const { return challenge_ && challenge_->scheme == wire::rtsp::Challenge::Scheme::digest; }
    bool is_stale() const { return challenge_ && challenge_->is_stale; }
    // The value of the header for a request; nullopt before a challenge, and for a hash that OpenSSL
    // refuses. `client_nonce` is fresh for each request.
    std::optional<std::string> answer(std::string_view method, std::string_view url, std::string_view client_nonce);

private:
    std::optional<std::string> digest(std::string_view method, std::string_view url, std::string_view client_nonce);

    std::string user_;
    std::string password_;
    std::optional<wire::rtsp::Challenge> challenge_;
    std::uint32_t count_ = 0;  // of requests with this nonce
    bool uses_path_ = false;
};

}  // namespace live::engine::rtsp
