#include "engine/crypto/running_hash.hpp"

#include <gtest/gtest.h>

namespace live::engine::crypto {
namespace {

std::string hash_of(RunningHash::Kind kind, std::string_view text, std::size_t piece) {
    auto hash = MUST(RunningHash::create(kind));
    for (std::size_t at = 0; at < text.size(); at += piece)
        MUST(hash.add(as_bytes(text.substr(at, piece))));
    return hex_text(MUST(hash.finish()));
}

TEST(RunningHash, IsThatOfTheWholeInAnyPieces) {
    using enum RunningHash::Kind;
    for (const std::size_t piece : {1U, 2U, 7U, 100U}) {
        EXPECT_EQ(hash_of(md5, "message digest", piece), "f96b697d7cb7938d525a2f31aaf161d0") << "RFC 1321, A.5";
        EXPECT_EQ(hash_of(sha256, "abc", piece), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
            << "FIPS 180-4";
    }
    EXPECT_EQ(hash_of(md5, "", 1), "d41d8cd98f00b204e9800998ecf8427e");
}

}  // namespace
}  // namespace live::engine::crypto
