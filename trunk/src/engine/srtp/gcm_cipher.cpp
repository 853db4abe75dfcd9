#include "engine/srtp/gcm_cipher.hpp"

#include <openssl/evp.h>

#ifdef LIVE_HAVE_IPSEC_MB
#include <intel-ipsec-mb.h>
#endif

namespace live::engine::srtp {

namespace {

Error no_cipher() { return {Errc::system, "the cryptographic library has no AES-128-GCM"}; }

class OpensslCipher final : public GcmCipher {
public:
    static Result<std::unique_ptr<GcmCipher>> create(const Key& key) {
        // Fetched once: a lookup by name costs more than a packet.
        static EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, "AES-128-GCM", nullptr);
        auto made = std::make_unique<OpensslCipher>();
        constexpr Nonce kAny{};
        if (cipher == nullptr || made->context_ == nullptr ||
            EVP_EncryptInit_ex2(made->context_, cipher, key.data(), kAny.data(), nullptr) != 1)
            return no_cipher();
        return std::unique_ptr<GcmCipher>(std::move(made));
    }
    OpensslCipher() : context_(EVP_CIPHER_CTX_new()) {}
    ~OpensslCipher() override { EVP_CIPHER_CTX_free(context_); }
    OpensslCipher(const OpensslCipher&) = delete;
    OpensslCipher& operator=(const OpensslCipher&) = delete;

    bool seal(std::uint8_t* out, const Nonce& nonce, Bytes clear, Bytes first, Bytes second) override {
        std::uint8_t* const behind = out + first.size();
        // EVP_Cipher returns the number of bytes written, or a negative value. For an AEAD cipher, a null input finishes the
        // operation.
        return EVP_EncryptInit_ex2(context_, nullptr, nullptr, nonce.data(), nullptr) == 1 &&
               EVP_Cipher(context_, nullptr, clear.data(), static_cast<unsigned>(clear.size())) >= 0 &&
               (first.empty() || EVP_Cipher(context_, out, first.data(), static_cast<unsigned>(first.size())) >= 0) &&
               (second.empty() || EVP_Cipher(context_, behind, second.data(), static_cast<unsigned>(second.size())) >= 0) &&
               EVP_Cipher(context_, nullptr, nullptr, 0) >= 0 &&
               EVP_CIPHER_CTX_ctrl(context_, EVP_CTRL_AEAD_GET_TAG, static_cast<int>(kTagBytes), behind + second.size()) == 1;
    }
    // Most of the state is private to the library, accessed through a pointer.
    void add_hot_lines(HotLines& lines) const override {
        constexpr std::size_t kContextBytes = 192;
        lines.add(this, sizeof *this);
        lines.add(context_, kContextBytes);
    }

private:
    EVP_CIPHER_CTX* context_;
};

#ifdef LIVE_HAVE_IPSEC_MB

// The function table for this CPU; nullptr without AES instructions. Never freed, because it is needed until the program ends.
IMB_MGR* multi_buffer() {
    static IMB_MGR* const manager = []() -> IMB_MGR* {
        IMB_MGR* const made = alloc_mb_mgr(0);
        if (made == nullptr)
            return nullptr;
        IMB_ARCH arch = IMB_ARCH_NONE;
        init_mb_mgr_auto(made, &arch);
        if (arch >= IMB_ARCH_SSE && imb_get_errno(made) == 0)
            return made;
        free_mb_mgr(made);
        return nullptr;
    }();
    return manager;
}

class MultiBufferCipher final : public GcmCipher {
public:
    MultiBufferCipher(IMB_MGR& manager, const Key& key) : manager_(manager) { IMB_AES128_GCM_PRE(&manager_, key.data(), &key_); }

    bool seal(std::uint8_t* out, const Nonce& nonce, Bytes clear, Bytes first, Bytes second) override {
        std::uint8_t* const tag = out + first.size() + second.size();
        gcm_context_data context;
        if (first.empty()) {
            IMB_AES128_GCM_ENC(&manager_, &key_, &context, out, second.data(), second.size(), nonce.data(), clear.data(),
                               clear.size(), tag, kTagBytes);
            return true;
        }
        IMB_AES128_GCM_INIT(&manager_, &key_, &context, nonce.data(), clear.data(), clear.size());
        IMB_AES128_GCM_ENC_UPDATE(&manager_, &key_, &context, out, first.data(), first.size());
        if (!second.empty())
            IMB_AES128_GCM_ENC_UPDATE(&manager_, &key_, &context, out + first.size(), second.data(), second.size());
        IMB_AES128_GCM_ENC_FINALIZE(&manager_, &key_, &context, tag, kTagBytes);
        return true;
    }
    void add_hot_lines(HotLines& lines) const override { lines.add(this, sizeof *this); }

private:
    // The library's header declares this alignment only if LINUX is defined.
    static constexpr std::size_t kKeyAlignment = 64;

    alignas(kKeyAlignment) gcm_key_data key_{};
    IMB_MGR& manager_;
};

#endif

}  // namespace

Result<std::unique_ptr<GcmCipher>> GcmCipher::create(const Key& key, [[maybe_unused]] Library library) {
#ifdef LIVE_HAVE_IPSEC_MB
    if (IMB_MGR* const manager = library == Library::fastest ? multi_buffer() : nullptr)
        return std::unique_ptr<GcmCipher>(std::make_unique<MultiBufferCipher>(*manager, key));
#endif
    return OpensslCipher::create(key);
}

const char* GcmCipher::fastest() {
#ifdef LIVE_HAVE_IPSEC_MB
    if (multi_buffer() != nullptr)
        return "the multi-buffer library";
#endif
    return "OpenSSL";
}

}  // namespace live::engine::srtp
