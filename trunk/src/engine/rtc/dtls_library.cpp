#include "engine/rtc/dtls_library.hpp"

#include <openssl/core_dispatch.h>
#include <openssl/crypto.h>
#include <openssl/provider.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <string_view>
#include <vector>

namespace live::engine::rtc {

namespace {

// What is kept of an operation (openssl-core_dispatch.h(7)): each algorithm by its first name. Of operations that are not here,
// everything.
struct Kept {
    int operation;
    std::string_view property;
    std::vector<std::string_view> names;
};

std::vector<Kept> kept_of_all() {
    // Of certificates, and of the exchange of keys.
    const std::vector<std::string_view> keys{"RSA", "EC", "X25519"};
    return {
        {OSSL_OP_DIGEST, "", {"SHA1", "SHA2-224", "SHA2-256", "SHA2-384", "SHA2-512"}},
        // The last two are the random generator's.
        {OSSL_OP_CIPHER, "", {"AES-128-GCM", "AES-256-GCM", "ChaCha20-Poly1305", "AES-256-CTR", "AES-256-ECB"}},
        {OSSL_OP_MAC, "", {"HMAC"}},
        {OSSL_OP_KDF, "", {"TLS1-PRF"}},
        {OSSL_OP_KEYEXCH, "", {"ECDH", "X25519"}},
        {OSSL_OP_SIGNATURE, "", {"RSA", "ECDSA"}},
        {OSSL_OP_KEYMGMT, "", keys},
        {OSSL_OP_DECODER, "structure=SubjectPublicKeyInfo", keys},
        {OSSL_OP_ENCODER, "", {}},
        {OSSL_OP_STORE, "", {}},
    };
}

// OpenSSL's own provider with most of what it can do left out (provider(7)).
class Narrowed {
public:
    Narrowed() : whole_(OSSL_PROVIDER_load(nullptr, "default")) {
        if (whole_ == nullptr)
            return;
        for (const Kept& kept : kept_of_all())
            algorithms_.emplace(kept.operation, narrow(kept));
    }

    OSSL_PROVIDER* whole() const { return whole_; }
    const OSSL_ALGORITHM* algorithms(int operation, int& is_not_to_be_kept) const {
        is_not_to_be_kept = 0;
        const auto found = algorithms_.find(operation);
        return found != algorithms_.end() ? found->second.data()
                                          : OSSL_PROVIDER_query_operation(whole_, operation, &is_not_to_be_kept);
    }

private:
    // With an end, as OpenSSL's lists have.
    std::vector<OSSL_ALGORITHM> narrow(const Kept& kept) const {
        std::vector<OSSL_ALGORITHM> found;
        int is_not_to_be_kept = 0;
        const OSSL_ALGORITHM* each = OSSL_PROVIDER_query_operation(whole_, kept.operation, &is_not_to_be_kept);
        for (; each != nullptr && each->algorithm_names != nullptr; ++each) {
            const std::string_view names(each->algorithm_names);
            const std::string_view first = names.substr(0, names.find(':'));
            const bool is_wanted = std::ranges::find(kept.names, first) != kept.names.end();
            if (is_wanted && std::string_view(each->property_definition).find(kept.property) != std::string_view::npos)
                found.push_back(*each);
        }
        found.push_back({nullptr, nullptr, nullptr, nullptr});
        return found;
    }

    OSSL_PROVIDER* whole_;
    std::map<int, std::vector<OSSL_ALGORITHM>> algorithms_;
};

const Narrowed& narrowed() {
    static const Narrowed made;
    return made;
}

extern "C" {

static const OSSL_ALGORITHM* query(void*, int operation, int* is_not_to_be_kept) {
    return narrowed().algorithms(operation, *is_not_to_be_kept);
}
static int capabilities(void*, const char* capability, OSSL_CALLBACK* callback, void* argument) {
    return OSSL_PROVIDER_get_capabilities(narrowed().whole(), capability, callback, argument);
}

static int begin(const OSSL_CORE_HANDLE*, const OSSL_DISPATCH*, const OSSL_DISPATCH** functions, void** context) {
    using Function = void (*)();
    static const std::array<OSSL_DISPATCH, 3> table{{
        {OSSL_FUNC_PROVIDER_QUERY_OPERATION, std::bit_cast<Function>(&query)},
        {OSSL_FUNC_PROVIDER_GET_CAPABILITIES, std::bit_cast<Function>(&capabilities)},
        {0, nullptr},
    }};
    *functions = table.data();
    // The algorithms are those of the whole provider, and know only what belongs to it.
    *context = OSSL_PROVIDER_get0_provider_ctx(narrowed().whole());
    return 1;
}

}  // extern "C"

OSSL_LIB_CTX* make() {
    if (narrowed().whole() == nullptr)
        return nullptr;
    OSSL_LIB_CTX* const made = OSSL_LIB_CTX_new();
    constexpr const char* kName = "handshakes";
    if (made != nullptr && OSSL_PROVIDER_add_builtin(made, kName, begin) == 1 && OSSL_PROVIDER_load(made, kName) != nullptr)
        return made;
    OSSL_LIB_CTX_free(made);
    return nullptr;
}

}  // namespace

ossl_lib_ctx_st* dtls_library() {
    static OSSL_LIB_CTX* const library = make();
    return library;
}

}  // namespace live::engine::rtc
