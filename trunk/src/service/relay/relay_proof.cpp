#include "service/relay/relay_proof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/bytes/bytes.hpp"
#include "base/text/secret.hpp"
#include "engine/crypto/hmac_sha256.hpp"

namespace live::service::relay {

namespace {

constexpr std::string_view kVersion = "2,";

// A line end separates the fields, because no name contains one.
Result<std::string> mac_of(std::string_view secret, const RelayedRequest& request, std::string_view head) {
    const std::string text = fmt::format("millrace-relay\n{}\n{}\n{}\n{}\n{}\n{}", head,
                                         request.role == RelayedRequest::Role::play ? "play" : "publish", request.vhost,
                                         request.app, request.stream, request.path);
    const auto tag = TRY(engine::crypto::hmac_sha256(as_bytes(secret), as_bytes(text)));
    std::string hexadecimal;
    for (const std::uint8_t byte : tag)
        hexadecimal += fmt::format("{:02x}", byte);
    return hexadecimal;
}

}  // namespace

Result<std::string> make_relay_proof(std::string_view secret, const RelayedRequest& request, std::int64_t unix_seconds,
                                     std::string_view nonce) {
    const std::string head = fmt::format("{}{},{}", kVersion, unix_seconds, nonce);
    return fmt::format("{},{}", head, TRY(mac_of(secret, request, head)));
}

Result<void> RelayProofs::check(std::string_view proof, std::string_view secret, const RelayedRequest& request,
                                std::int64_t unix_seconds) {
    const std::size_t mac_at = proof.rfind(',');
    if (!proof.starts_with(kVersion) || mac_at == std::string_view::npos || mac_at < kVersion.size())
        return Error(Errc::malformed, "no proof of this version");
    const std::string_view head = proof.substr(0, mac_at);
    const std::string_view fields = head.substr(kVersion.size());
    const std::size_t comma = fields.find(',');
    std::int64_t seconds = 0;
    const auto [stop, failure] = std::from_chars(fields.data(), fields.data() + std::min(comma, fields.size()), seconds);
    if (comma == std::string_view::npos || failure != std::errc() || stop != fields.data() + comma)
        return Error(Errc::malformed, "a proof without a time");
    const std::string_view nonce = fields.substr(comma + 1);
    if (nonce.empty() || nonce.size() > kNonceBytesMax)
        return Error(Errc::malformed, "a proof without a nonce");
    // Checked first, so that a peer without the secret learns nothing and fills no table.
    if (secret.empty() || !same_secret(proof.substr(mac_at + 1), TRY(mac_of(secret, request, head))))
        return Error(Errc::denied, "a proof with another secret, or for another request");
    if (seconds < unix_seconds - kWindowSeconds || seconds > unix_seconds + kWindowSeconds)
        return Error(Errc::denied, fmt::format("a proof from another time: the clocks differ by {} s", unix_seconds - seconds));
    if (nonces_.size() >= kNoncesMax)
        std::erase_if(nonces_, [&](const auto& used) { return used.second < unix_seconds - kWindowSeconds; });
    if (nonces_.size() >= kNoncesMax)
        return Error(Errc::limit, "too many proofs in half a minute");
    if (!nonces_.emplace(nonce, seconds).second)
        return Error(Errc::denied, "a proof that was used before");
    return {};
}

}  // namespace live::service::relay
