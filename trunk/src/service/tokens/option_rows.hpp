// The rows of service/tokens/options.hpp.
#pragma once

#include "base/config/row.hpp"
#include "service/tokens/options.hpp"

namespace live::service::tokens {

inline constexpr auto kTokenRows = config::Rows{
    config::row(&TokenOptions::enabled, "enabled", config::Reload::next_session,
                "Ours: publishers and players need a JSON Web Token, as token=TOKEN in the query or as Bearer of WHIP and WHEP."),
    config::row(
        &TokenOptions::key_files, "key_file", config::Reload::next_session,
        "Ours: files with the keys of accepted tokens: a PEM public key (RSA, P-256 or Ed25519), or a secret. A secret file that "
        "does not exist is made.")
        .example("./objs/access.key"),
    config::row(&TokenOptions::rights_claim, "claim", config::Reload::next_session,
                "Ours: the claim with the rights: a list of {\"action\": \"publish\" or \"play\", \"path\": \"live/*\"}."),
    config::row(&TokenOptions::issuer, "issuer", config::Reload::next_session,
                "Ours: the required issuer of a token; empty: any."),
    config::row(&TokenOptions::audience, "audience", config::Reload::next_session,
                "Ours: the required audience of a token; empty: any."),
    config::row(&TokenOptions::anybody, "anybody", config::Reload::next_session,
                "Ours: publish or play, and a pattern of paths if not for all: needs no token.")
        .example("play live/public*"),
};

}  // namespace live::service::tokens
