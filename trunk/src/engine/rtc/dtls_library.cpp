#include "engine/rtc/dtls_library.hpp"

#include <openssl/core_dispatch.h>
#include <openssl/crypto.h>
#include <openssl/provider.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <vector>

namespace live::engine::rtc {

namespace {

// Of certificates, and of the exchange of keys.
constexpr std::array<std::string_view, 3> kKeys{"RSA", "EC", "X25519"};
constexpr std::string_view kStructure = "structure=SubjectPublicKeyInfo";

// OpenSSL's own provider with most of its keys and ways to read them left out (provider(7)).
class Narrowed {
public:
    Narrowed() : whole_(OSSL_PROVIDER_load(nullptr, "default")) {
        if (whole_ == nullptr)
            return;
        keys_ = narrow(OSSL_OP_KEYMGMT, "");
        readers_ = narrow(OSSL_OP_DECODER, kStructure);
    }

    OSSL_PROVIDER* whole() const { return whole_; }
    const OSSL_ALGORITHM* algorithms(int operation, int& is_not_to_be_kept) const {
        is_not_to_be_kept = 0;
        switch (operation) {
            case OSSL_OP_KEYMGMT: return keys_.data();
            case OSSL_OP_DECODER: return readers_.data();
            case OSSL_OP_ENCODER:
            case OSSL_OP_STORE: return nullptr;
            default: return OSSL_PROVIDER_query_operation(whole_, operation, &is_not_to_be_kept);
        }
    }

private:
    // With an end, as OpenSSL's lists have.
    std::vector<OSSL_ALGORITHM> narrow(int operation, std::string_view property) const {
        std::vector<OSSL_ALGORITHM> kept;
        int is_not_to_be_kept = 0;
        const OSSL_ALGORITHM* each = OSSL_PROVIDER_query_operation(whole_, operation, &is_not_to_be_kept);
        for (; each != nullptr && each->algorithm_names != nullptr; ++each) {
            const std::string_view names(each->algorithm_names);
            const std::string_view first = names.substr(0, names.find(':'));
            const bool is_wanted = std::ranges::find(kKeys, first) != kKeys.end();
            if (is_wanted && std::string_view(each->property_definition).find(property) != std::string_view::npos)
                kept.push_back(*each);
        }
        kept.push_back({nullptr, nullptr, nullptr, nullptr});
        return kept;
    }

    OSSL_PROVIDER* whole_;
    std::vector<OSSL_ALGORITHM> keys_;
    std::vector<OSSL_ALGORITHM> readers_;
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
