// Arbitrary key sets. Those of the vectors are in the corpus.
#include <algorithm>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "service/tokens/jwk_set.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const auto keys = service::tokens::parse_jwk_set(as_text(Bytes(data, size)));
    if (!keys.ok())
        return 0;
    CHECK(!keys->empty() && keys->size() <= service::tokens::kJwkSetKeysMax);
    for (const auto& key : *keys)
        CHECK(!key.can_sign() && !key.verify(Bytes(data, size), Bytes(data, std::min<std::size_t>(size, 64))));
    return 0;
}
