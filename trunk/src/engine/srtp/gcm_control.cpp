#include "engine/srtp/gcm_control.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <string>

#include <openssl/evp.h>

#include "base/check.hpp"

namespace live::engine::srtp {

namespace {

// RFC 7714, 9.2: the clear part, the first header and the SSRC.
constexpr std::size_t kClearBytes = 8;
constexpr std::uint32_t kEncrypted = 0x80000000U;
constexpr std::uint32_t kControlIndexEnd = kEncrypted;
constexpr std::size_t kIndexBytes = 4;

std::uint32_t word_at(Bytes bytes, std::size_t at) {
    return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 | std::uint32_t{bytes[at + 2]} << 8 |
           bytes[at + 3];
}

void put_word(MutBytes into, std::size_t at, std::uint32_t word) {
    for (std::size_t i = 0; i < 4; ++i)
        into[at + i] = static_cast<std::uint8_t>(word >> (24 - 8 * i));
}

// RFC 7714, 9.1.
GcmCipher::Nonce nonce_of(const GcmCipher::Nonce& salt, std::uint32_t ssrc, std::uint32_t index) {
    GcmCipher::Nonce nonce = salt;
    for (std::size_t i = 0; i < 4; ++i) {
        nonce[2 + i] ^= static_cast<std::uint8_t>(ssrc >> (24 - 8 * i));
        nonce[8 + i] ^= static_cast<std::uint8_t>(index >> (24 - 8 * i));
    }
    return nonce;
}

struct FreeCipherContext {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};

// The cipher of all sessions, fetched once; it gets its key with each packet. nullptr if the library has none.
EVP_CIPHER_CTX* shared_cipher() {
    thread_local const std::unique_ptr<EVP_CIPHER_CTX, FreeCipherContext> shared = [] {
        std::unique_ptr<EVP_CIPHER_CTX, FreeCipherContext> made(EVP_CIPHER_CTX_new());
        if (made && EVP_CipherInit_ex(made.get(), EVP_aes_128_gcm(), nullptr, nullptr, nullptr, 1) != 1)
            made.reset();
        return made;
    }();
    return shared.get();
}

Error no_control_cipher() { return {Errc::system, "the cryptographic library has no AES-128-GCM"}; }

// Sets key, nonce, direction and the authenticated bytes.
bool start(EVP_CIPHER_CTX* cipher, const GcmKeys& keys, Bytes packet, std::uint32_t trailer, int is_encrypting) {
    const auto nonce = nonce_of(keys.salt, word_at(packet, 4), trailer & ~kEncrypted);
    std::array<std::uint8_t, kIndexBytes> index{};
    put_word(index, 0, trailer);
    int taken = 0;
    return cipher != nullptr && EVP_CipherInit_ex(cipher, nullptr, nullptr, keys.key.data(), nonce.data(), is_encrypting) == 1 &&
           EVP_CipherUpdate(cipher, nullptr, &taken, packet.data(), static_cast<int>(kClearBytes)) == 1 &&
           EVP_CipherUpdate(cipher, nullptr, &taken, index.data(), static_cast<int>(index.size())) == 1;
}

}  // namespace

Result<GcmControl> GcmControl::create(Bytes local, Bytes remote) {
    const auto sending = TRY(derive_keys(local, KeyLabel::rtcp_key, KeyLabel::rtcp_salt));
    return GcmControl(sending, TRY(derive_keys(remote, KeyLabel::rtcp_key, KeyLabel::rtcp_salt)));
}

GcmControl::Sent* GcmControl::sent_stream(std::uint32_t ssrc) {
    const std::span known(sent_.data(), sent_count_);
    if (const auto found = std::ranges::find(known, ssrc, &Sent::ssrc); found != known.end())
        return &*found;
    if (sent_count_ == kSentStreamsMax)
        return nullptr;
    sent_[sent_count_].ssrc = ssrc;
    return &sent_[sent_count_++];
}

Result<std::size_t> GcmControl::protect(MutBytes storage, std::size_t bytes) {
    CHECK(bytes <= storage.size() && kTrailerBytes <= storage.size() - bytes);
    if (bytes < kClearBytes)
        return Error(Errc::malformed, "RTCP packet of " + std::to_string(bytes) + " bytes");
    Sent* const stream = sent_stream(word_at(storage, 4));
    if (stream == nullptr || stream->next_index == kControlIndexEnd)
        return Error(Errc::limit,
                     stream == nullptr ? "an SRTCP session of too many streams" : "an SRTCP key that has had all its packets");
    const std::uint32_t trailer = kEncrypted | stream->next_index;
    EVP_CIPHER_CTX* const cipher = shared_cipher();
    std::uint8_t* const body = storage.data() + kClearBytes;
    const std::size_t size = bytes - kClearBytes;
    int taken = 0;
    if (!start(cipher, local_, storage, trailer, 1) ||
        (size > 0 && EVP_CipherUpdate(cipher, body, &taken, body, static_cast<int>(size)) != 1) ||
        EVP_CipherFinal_ex(cipher, body + size, &taken) != 1 ||
        EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, static_cast<int>(GcmCipher::kTagBytes), body + size) != 1)
        return no_control_cipher();
    ++stream->next_index;
    put_word(storage, bytes + GcmCipher::kTagBytes, trailer);
    return bytes + kTrailerBytes;
}

Result<std::size_t> GcmControl::unprotect(MutBytes packet) {
    if (packet.size() < kClearBytes + kTrailerBytes)
        return Error(Errc::malformed, "SRTCP packet of " + std::to_string(packet.size()) + " bytes");
    const std::uint32_t ssrc = word_at(packet, 4);
    const std::uint32_t trailer = word_at(packet, packet.size() - kIndexBytes);
    if ((trailer & kEncrypted) == 0)
        return Error(Errc::denied, "SRTCP packet: not encrypted");
    const std::uint32_t index = trailer & ~kEncrypted;
    auto stream = std::ranges::find(received_, ssrc, &Received::ssrc);
    if (stream == received_.end() && received_.size() == kReceivedStreamsMax)
        return Error(Errc::limit, "an SRTCP session of more than " + std::to_string(kReceivedStreamsMax) + " streams");
    if (stream != received_.end() && !stream->window.accepts(index))
        return Error(Errc::conflict, "SRTCP packet: it came before");
    EVP_CIPHER_CTX* const cipher = shared_cipher();
    std::uint8_t* const body = packet.data() + kClearBytes;
    const std::size_t size = packet.size() - kClearBytes - kTrailerBytes;
    int taken = 0;
    if (!start(cipher, remote_, packet, trailer, 0) ||
        (size > 0 && EVP_CipherUpdate(cipher, body, &taken, body, static_cast<int>(size)) != 1) ||
        EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, static_cast<int>(GcmCipher::kTagBytes), body + size) != 1)
        return no_control_cipher();
    if (EVP_CipherFinal_ex(cipher, body + size, &taken) != 1)
        return Error(Errc::denied, "SRTCP packet: not authentic");
    if (stream == received_.end())
        stream = received_.insert(received_.end(), {ssrc, {}});
    stream->window.add(index);
    return kClearBytes + size;
}

}  // namespace live::engine::srtp
