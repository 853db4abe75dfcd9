// PublisherAuth: "authmod=adobe", the challenge by which encoders (FMLE, ffmpeg, OBS) prove a name and a password at connect. The
// client is refused twice, with sentences that it parses, and connects again each time. Nothing is kept between its connections:
// salt and challenge follow from a secret that all workers share. Dry.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live::engine::rtmp {

class PublisherAuth {
public:
    // For the two connections that follow a challenge.
    static constexpr std::chrono::seconds kChallengeLife{60};
    static constexpr std::size_t kValueBytesMax = 256;

    // The parameters that a client appends to tcUrl and app.
    struct Parameters {
        std::string user;
        std::string challenge;
        std::string response;  // empty: a request for a challenge
        std::string opaque;
    };

    explicit PublisherAuth(std::string secret) : secret_(std::move(secret)) {}

    // nullopt for a text without authmod=adobe. Values over kValueBytesMax count as missing.
    static std::optional<Parameters> parse(std::string_view tc_url);
    // The text without the parameters.
    static std::string without_parameters(std::string_view text);
    // An encoder, by the flashVer of its connect: players are not challenged.
    static bool is_encoder(std::string_view flash_version) { return flash_version.starts_with("FMLE/"); }

    // The description of a refused connect: for a client without parameters, for one with a name only, and for a wrong password.
    static std::string_view request();
    Result<std::string> challenge(std::string_view user, std::string_view peer_ip, std::chrono::sys_seconds now) const;
    static std::string failure(std::string_view user);

    // Reports whether the response is that of `password` to a challenge of ours, for this address and not too old.
    Result<bool> verify(const Parameters& given, std::string_view password, std::string_view peer_ip,
                        std::chrono::sys_seconds now) const;

private:
    Result<std::string> tag_of(std::string_view purpose, std::string_view text) const;
    Result<std::string> salt_of(std::string_view user) const;
    Result<std::string> opaque_of(std::string_view user, std::string_view peer_ip, std::chrono::sys_seconds when) const;

    const std::string secret_;
};

}  // namespace live::engine::rtmp
