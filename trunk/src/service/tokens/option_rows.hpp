// The rows of service/tokens/options.hpp.
#pragma once

#include "base/config/row.hpp"
#include "service/tokens/options.hpp"

namespace live::service::tokens {

inline constexpr auto kTokenRows = config::Rows{
    config::row(&TokenOptions::enabled, "enabled", config::Reload::next_session,
                "Ours: publishers and players need a JSON Web Token, a signed URL, or the name and password of a user."),
    config::row(
        &TokenOptions::key_files, "key_file", config::Reload::next_session,
        "Ours: files with the keys of accepted tokens: a PEM public key (RSA, P-256 or Ed25519), or a secret. A secret file that "
        "does not exist is made.")
        .example("./objs/access.key"),
    config::row(
        &TokenOptions::jwks, "jwks", config::Reload::next_session,
        "Ours: URLs of key sets (JWKS) with the public keys of accepted tokens: read at the start, every 5 minutes, and for "
        "a token by an unknown key.")
        .example("https://example.com/.well-known/jwks.json"),
    config::row(
        &TokenOptions::rights_claim, "claim", config::Reload::next_session,
        "Ours: the claim with the rights: a list of {\"action\": \"publish\", \"play\" or \"playback\", \"path\": \"live/*\"}."),
    config::row(&TokenOptions::issuer, "issuer", config::Reload::next_session,
                "Ours: the required issuer of a token; empty: any."),
    config::row(&TokenOptions::audience, "audience", config::Reload::next_session,
                "Ours: the required audience of a token; empty: any."),
    config::row(
        &TokenOptions::secure_link, "secure_link", config::Reload::next_session,
        "Ours: players may have URLs with md5= and expires= for nginx's secure_link: the argument of its secure_link_md5.")
        .example("\"$secure_link_expires$uri$remote_addr SECRET\"")
        .secret(),
    config::row(&TokenOptions::policy_key, "policy_key", config::Reload::next_session,
                "Ours: the key of URLs with policy= and signature= as of OvenMediaEngine's SignedPolicy.")
        .secret(),
    config::row(&TokenOptions::policy_rights, "policy_rights", config::Reload::next_session,
                "Ours: the rights of such URLs: publish, play and playback."),
    config::row(&TokenOptions::anybody, "anybody", config::Reload::next_session,
                "Ours: publish, play or playback, and a pattern of paths if not for all: needs no token.")
        .example("play live/public*"),
};

}  // namespace live::service::tokens
