#include "io/tls/ticket_keys.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include "io/tls/tls_error.hpp"

namespace live::io {

namespace {

struct FreeKdf {
    void operator()(EVP_KDF* kdf) const { EVP_KDF_free(kdf); }
};
struct FreeKdfContext {
    void operator()(EVP_KDF_CTX* context) const { EVP_KDF_CTX_free(context); }
};

// HKDF with SHA-256 (RFC 5869) of the secret, for one period.
Result<TicketKeys::Key> derive(const std::string& secret, std::int64_t period) {
    const std::unique_ptr<EVP_KDF, FreeKdf> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
    const std::unique_ptr<EVP_KDF_CTX, FreeKdfContext> context(kdf ? EVP_KDF_CTX_new(kdf.get()) : nullptr);
    std::string key = secret;
    std::string info = "TLS session tickets " + std::to_string(period);
    std::array<char, 7> digest{"SHA256"};
    const std::array parameters{OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
                                OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, key.data(), key.size()),
                                OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()),
                                OSSL_PARAM_construct_end()};
    TicketKeys::Key derived;
    std::array<std::uint8_t, sizeof derived.name + sizeof derived.encryption + sizeof derived.authentication> bytes{};
    const bool done = context && EVP_KDF_derive(context.get(), bytes.data(), bytes.size(), parameters.data()) == 1;
    OPENSSL_cleanse(key.data(), key.size());
    if (!done)
        return tls_error(Errc::system, "deriving the keys of session tickets");
    const std::uint8_t* from = bytes.data();
    for (const MutBytes part : {MutBytes(derived.name), MutBytes(derived.encryption), MutBytes(derived.authentication)}) {
        std::copy_n(from, part.size(), part.begin());
        from += part.size();
    }
    OPENSSL_cleanse(bytes.data(), bytes.size());
    return derived;
}

}  // namespace

TicketKeys::~TicketKeys() {
    OPENSSL_cleanse(secret_.data(), secret_.size());
    OPENSSL_cleanse(&current_, sizeof current_);
    OPENSSL_cleanse(&previous_, sizeof previous_);
}

Result<void> TicketKeys::turn_to(WallTime now) {
    const std::int64_t period = std::chrono::floor<std::chrono::hours>(now.time_since_epoch()) / kPeriod;
    if (period == period_)
        return {};
    const Key current = TRY(derive(secret_, period));
    previous_ = period == period_ + 1 ? current_ : TRY(derive(secret_, period - 1));
    current_ = current;
    period_ = period;
    return {};
}

Result<const TicketKeys::Key*> TicketKeys::current(WallTime now) {
    TRY(turn_to(now));
    return &std::as_const(current_);
}

Result<TicketKeys::Found> TicketKeys::find(Bytes name, WallTime now) {
    TRY(turn_to(now));
    if (std::ranges::equal(name, current_.name))
        return Found{&current_, Age::current};
    if (std::ranges::equal(name, previous_.name))
        return Found{&previous_, Age::previous};
    return Found{};
}

}  // namespace live::io
