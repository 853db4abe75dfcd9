// Wycheproof's vectors of JSON Web Signatures, which scripts/wycheproof.sh downloads: all groups whose key this server supports.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/bytes/base64.hpp"
#include "service/tokens/jwk_set.hpp"
#include "service/tokens/jwt.hpp"

namespace live::service::tokens {
namespace {

using engine::crypto::SigningKey;
using nlohmann::json;

Result<std::vector<SigningKey>> keys_of(const json& group) {
    if (group.contains("public"))
        return parse_jwk_set(json{{"keys", {group["public"]}}}.dump());
    const auto secret = TRY(parse_base64url(group["private"]["k"].get<std::string>()));
    auto key = TRY(SigningKey::parse(as_text(secret)));
    key.set_id(group["private"]["kid"].get<std::string>());
    return std::vector{key};
}

// Two have the text of test 357, which is valid. Two are called valid, although a character of theirs is not base64url.
constexpr std::array<int, 2> kAcceptedAnyway = {367, 370};
constexpr std::array<int, 2> kRefusedAnyway = {372, 373};

bool is_in(const std::array<int, 2>& ids, const json& test) {
    return std::ranges::find(ids, test["tcId"].get<int>()) != ids.end();
}

TEST(Wycheproof, AgreesAboutEachSignature) {
    const char* const path = std::getenv("LIVE_WYCHEPROOF");
    if (path == nullptr)
        GTEST_SKIP() << "scripts/wycheproof.sh sets LIVE_WYCHEPROOF";
    std::ifstream file(path);
    const json vectors = json::parse(file, nullptr, false);
    ASSERT_TRUE(vectors.is_object());
    std::size_t valid = 0, invalid = 0;
    for (const json& group : vectors["testGroups"]) {
        const auto keys = keys_of(group);
        // A key for another algorithm accepts nothing.
        const std::vector<SigningKey> usable = keys.ok() ? *keys : std::vector<SigningKey>();
        for (const json& test : group["tests"]) {
            const bool is_valid = verify_jws(test["jws"].get<std::string>(), usable).ok();
            const bool wanted =
                (test["result"] == "valid" && keys.ok() && !is_in(kRefusedAnyway, test)) || is_in(kAcceptedAnyway, test);
            EXPECT_EQ(is_valid, wanted) << test["tcId"] << " " << test["comment"];
            ++(is_valid ? valid : invalid);
        }
    }
    std::cout << valid << " accepted, " << invalid << " refused\n";
    EXPECT_GE(valid, 20U);
    EXPECT_GE(invalid, 300U);
}

}  // namespace
}  // namespace live::service::tokens
