// Arbitrary answers of an ACME server.
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "wire/acme/messages.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const std::string_view text = as_text(Bytes(data, size));
    if (const auto directory = wire::acme::parse_directory(text); directory.ok())
        CHECK(!directory->new_nonce.empty() && !directory->new_order.empty());
    if (const auto order = wire::acme::parse_order(text); order.ok())
        CHECK(order->authorizations.size() <= wire::acme::kListMax && !order->status.empty());
    if (const auto authorization = wire::acme::parse_authorization(text); authorization.ok())
        CHECK(authorization->challenges.size() <= wire::acme::kListMax);
    const auto problem = wire::acme::parse_problem(text);
    CHECK(size > 0 || problem == wire::acme::Problem());
    return 0;
}
