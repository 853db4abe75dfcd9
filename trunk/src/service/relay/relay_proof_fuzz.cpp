// Any text as a proof is refused, because the fuzzer does not have the secret; a generated proof is valid once.
#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "service/relay/relay_proof.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live::service::relay;
    const std::string_view text = live::as_text({data, size});
    RelayProofs proofs;
    const RelayedRequest request{RelayedRequest::Role::play, "v", "live", text, "path"};
    CHECK(!proofs.check(text, "a secret", request, 1'800'000'000).ok());
    const auto good = make_relay_proof("a secret", request, 1'800'000'000, "nonce");
    CHECK(good.ok() && proofs.check(*good, "a secret", request, 1'800'000'000).ok());
    CHECK(!proofs.check(*good, "a secret", request, 1'800'000'000).ok());
    return 0;
}
