#include "wire/rtsp/authentication.hpp"

#include <array>
#include <optional>
#include <utility>

#include "base/text/ascii.hpp"
#include "wire/rtsp/text.hpp"

namespace live::wire::rtsp {

namespace {

struct AlgorithmName {
    std::string_view name;
    Challenge::Algorithm algorithm;
};
constexpr std::array kAlgorithms = {
    AlgorithmName{"MD5", Challenge::Algorithm::md5},
    AlgorithmName{"MD5-sess", Challenge::Algorithm::md5_sess},
    AlgorithmName{"SHA-256", Challenge::Algorithm::sha256},
    AlgorithmName{"SHA-256-sess", Challenge::Algorithm::sha256_sess},
};

void skip_separators(std::string_view& rest) { rest.remove_prefix(std::min(rest.find_first_not_of(" \t,"), rest.size())); }

std::string_view take_token(std::string_view& rest) {
    const std::size_t end = std::min(rest.find_first_of(" \t,="), rest.size());
    const std::string_view token = rest.substr(0, end);
    rest.remove_prefix(end);
    return token;
}

// A value in quotes, with backslashes removed, or a token.
std::string take_value(std::string_view& rest) {
    rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
    if (!rest.starts_with('"')) {
        const std::size_t end = std::min(rest.find_first_of(" \t,"), rest.size());
        std::string value(rest.substr(0, end));
        rest.remove_prefix(end);
        return value;
    }
    rest.remove_prefix(1);
    std::string value;
    while (!rest.empty() && rest.front() != '"') {
        if (rest.front() == '\\' && rest.size() > 1)
            rest.remove_prefix(1);
        value += rest.front();
        rest.remove_prefix(1);
    }
    rest.remove_prefix(std::min<std::size_t>(1, rest.size()));
    return value;
}

bool lists_auth(std::string_view values) {
    while (!values.empty())
        if (ascii::are_same(ascii::trimmed(take_until(values, ','), kBlanks), "auth"))
            return true;
    return false;
}

Challenge::Algorithm algorithm_of(std::string_view text) {
    for (const AlgorithmName& known : kAlgorithms)
        if (ascii::are_same(known.name, text))
            return known.algorithm;
    return Challenge::Algorithm::unknown;
}

void set_parameter(Challenge& challenge, std::string_view name, std::string value) {
    if (ascii::are_same(name, "realm")) {
        challenge.realm = std::move(value);
    } else if (ascii::are_same(name, "nonce")) {
        challenge.nonce = std::move(value);
    } else if (ascii::are_same(name, "opaque")) {
        challenge.opaque = std::move(value);
    } else if (ascii::are_same(name, "qop")) {
        challenge.has_qop_auth = lists_auth(value);
    } else if (ascii::are_same(name, "stale")) {
        challenge.is_stale = ascii::are_same(value, "true");
    } else if (ascii::are_same(name, "algorithm")) {
        challenge.algorithm = algorithm_of(value);
        challenge.algorithm_text = std::move(value);
    }
}

// A parameter that is written twice could mean either value to another reader.
Result<void> set_parameter(DigestResponse& response, std::string_view name, std::string value) {
    struct Text {
        std::string_view name;
        std::string DigestResponse::*member;
    };
    constexpr std::array kTexts = {
        Text{"username", &DigestResponse::user},     Text{"realm", &DigestResponse::realm},
        Text{"nonce", &DigestResponse::nonce},       Text{"uri", &DigestResponse::uri},
        Text{"response", &DigestResponse::response}, Text{"cnonce", &DigestResponse::client_nonce},
        Text{"nc", &DigestResponse::count},
    };
    for (const Text& text : kTexts) {
        if (!ascii::are_same(text.name, name))
            continue;
        if (!(response.*text.member).empty())
            return Error(Errc::malformed, "Digest: a parameter is there twice");
        response.*text.member = std::move(value);
        return {};
    }
    if (ascii::are_same(name, "algorithm"))
        response.algorithm = algorithm_of(value);
    else if (ascii::are_same(name, "qop"))
        (ascii::are_same(value, "auth") ? response.has_qop_auth : response.has_other_qop) = true;
    return {};
}

}  // namespace

Result<std::optional<DigestResponse>> parse_digest_response(std::string_view header) {
    skip_separators(header);
    if (!ascii::are_same(take_token(header), "Digest"))
        return std::optional<DigestResponse>();
    DigestResponse response;
    for (skip_separators(header); !header.empty(); skip_separators(header)) {
        const std::string_view name = take_token(header);
        header.remove_prefix(std::min(header.find_first_not_of(kBlanks), header.size()));
        if (name.empty() || !header.starts_with('='))
            return Error(Errc::malformed, "Digest: a parameter without a value");
        header.remove_prefix(1);
        TRY(set_parameter(response, name, take_value(header)));
    }
    if (response.user.empty() || response.nonce.empty() || response.uri.empty() || response.response.empty())
        return Error(Errc::malformed, "Digest: a parameter is missing");
    return std::optional(std::move(response));
}

Result<std::vector<Challenge>> parse_challenges(std::string_view header) {
    std::vector<Challenge> challenges;
    bool is_known = false;  // the parameters belong to the last challenge
    for (skip_separators(header); !header.empty(); skip_separators(header)) {
        const std::string_view token = take_token(header);
        std::string_view after = header;
        after.remove_prefix(std::min(after.find_first_not_of(kBlanks), after.size()));
        if (!after.starts_with('=')) {
            is_known = ascii::are_same(token, "Basic") || ascii::are_same(token, "Digest");
            if (is_known && challenges.size() == kChallengesMax)
                return Error(Errc::limit, "RTSP: more than " + std::to_string(kChallengesMax) + " challenges");
            if (is_known)
                challenges.push_back(
                    {.scheme = ascii::are_same(token, "Digest") ? Challenge::Scheme::digest : Challenge::Scheme::basic,
                     .realm = {},
                     .nonce = {},
                     .opaque = {},
                     .algorithm_text = {}});
            continue;
        }
        header = after.substr(1);
        std::string value = take_value(header);
        if (is_known)
            set_parameter(challenges.back(), token, std::move(value));
    }
    return challenges;
}

}  // namespace live::wire::rtsp
