#include "engine/crypto/password_hash.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <argon2.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/bytes/base64.hpp"
#include "base/bytes/bytes.hpp"
#include "base/bytes/random.hpp"
#include "base/text/ascii.hpp"

namespace live::engine::crypto {

namespace {

constexpr std::size_t kSha256Bytes = 32;
constexpr std::string_view kPhc = "$argon2id$v=19$";
// OWASP's recommendation of 2024.
constexpr std::uint32_t kMemoryKib = 19 * 1024;
constexpr std::uint32_t kPasses = 2;
constexpr std::size_t kSaltBytes = 16;
constexpr std::size_t kHashBytes = 32;

Error malformed(const char* why) { return {Errc::malformed, std::string("the password is not valid: ") + why}; }

std::string sha256(std::string_view text) {
    std::array<std::uint8_t, kSha256Bytes> hash{};
    unsigned size = 0;
    EVP_Digest(text.data(), text.size(), hash.data(), &size, EVP_sha256(), nullptr);
    return std::string(as_text(Bytes(hash).first(size)));
}

// In lower case.
Result<std::string> hex_of(std::string_view text, const EVP_MD* algorithm) {
    std::array<std::uint8_t, EVP_MAX_MD_SIZE> hash{};
    unsigned size = 0;
    // MD5 is not there in a FIPS mode.
    if (algorithm == nullptr || EVP_Digest(text.data(), text.size(), hash.data(), &size, algorithm, nullptr) != 1)
        return Error(Errc::unsupported, "OpenSSL has no such hash");
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string digits;
    for (const std::uint8_t byte : Bytes(hash).first(size))
        digits.append({kDigits[byte >> 4], kDigits[byte & 0xFU]});
    return digits;
}

std::string ha1_text(std::string_view user, std::string_view password) {
    return std::string(user).append(":").append(PasswordHash::kRealm).append(":").append(password);
}

// "MD5:SHA256", as digits in lower case without the colon.
Result<std::string> parse_ha1(std::string_view text) {
    const std::string_view md5 = text.substr(0, text.find(':'));
    const std::string_view sha256 = text.substr(std::min(md5.size() + 1, text.size()));
    std::string digits = ascii::lowered(md5).append(ascii::lowered(sha256));
    if (md5.size() != PasswordHash::kMd5Digits || sha256.size() != PasswordHash::kSha256Digits ||
        digits.find_first_not_of("0123456789abcdef") != std::string::npos)
        return malformed("expected 32 digits, a colon and 64 digits behind ha1:; srs hash --digest NAME makes them");
    return digits;
}

// "m=19456" at the front of `text`, and the separator behind it.
std::optional<std::uint32_t> take_number(std::string_view& text, std::string_view name, char separator) {
    if (!text.starts_with(name))
        return std::nullopt;
    text.remove_prefix(name.size());
    std::uint32_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (failed != std::errc() || !text.starts_with(separator))
        return std::nullopt;
    text.remove_prefix(1);
    return number;
}

// The limits, before the library allocates.
Result<void> check_phc(std::string_view text) {
    if (!text.starts_with(kPhc))
        return malformed("expected $argon2id$v=19$ behind argon2id:");
    text.remove_prefix(kPhc.size());
    const auto memory = take_number(text, "m=", ',');
    const auto passes = take_number(text, "t=", ',');
    const auto lanes = take_number(text, "p=", '$');
    if (!memory || !passes || !lanes)
        return malformed("expected m=, t= and p= in a hash of Argon2id");
    if (*memory > PasswordHash::kMemoryKibMax || *passes > PasswordHash::kPassesMax || *lanes > PasswordHash::kLanesMax ||
        *memory < 8 * *lanes || *passes == 0 || *lanes == 0)
        return malformed("its cost is out of bounds: m at most 262144 KiB, t at most 32, p at most 16");
    const std::size_t dollar = text.find('$');
    const auto salt = bytes_of_base64(text.substr(0, dollar));
    const auto hash = dollar == std::string_view::npos ? std::nullopt : bytes_of_base64(text.substr(dollar + 1));
    if (!salt || !hash || salt->size() < 8 || hash->size() < 16)
        return malformed("the salt or the hash of Argon2id is not base64, or too short");
    return {};
}

}  // namespace

Result<PasswordHash> PasswordHash::parse(std::string_view text) {
    if (text.size() > kTextBytesMax)
        return malformed("it is too long");
    const std::size_t colon = text.find(':');
    const std::string_view scheme = text.substr(0, colon);
    const std::string_view value = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    if (scheme == "argon2id" || scheme == "argon2") {
        TRY(check_phc(value));
        return PasswordHash(Scheme::argon2id, std::string(value));
    }
    if (scheme == "sha256") {
        const auto hash = bytes_of_base64(value);
        if (!hash || hash->size() != kSha256Bytes)
            return malformed("expected 32 bytes in base64 behind sha256:");
        return PasswordHash(Scheme::sha256, std::string(as_text(*hash)));
    }
    if (scheme == "ha1")
        return PasswordHash(Scheme::ha1, TRY(parse_ha1(value)));
    if (colon == std::string_view::npos || scheme != "plain")
        return malformed("expected argon2id:, sha256:, ha1: or plain: in front of it; srs hash makes one");
    if (value.empty())
        return malformed("it is empty");
    return PasswordHash(Scheme::plain, std::string(value));
}

Result<std::string> PasswordHash::make(std::string_view user, std::string_view password, Scheme scheme) {
    if (password.empty() || password.size() > kPasswordBytesMax)
        return Error(Errc::limit, "a password has 1 to 1024 bytes");
    if (scheme == Scheme::plain)
        return "plain:" + std::string(password);
    if (scheme == Scheme::sha256)
        return "sha256:" + base64(as_bytes(sha256(password)));
    if (scheme == Scheme::ha1) {
        const std::string text = ha1_text(user, password);
        return "ha1:" + TRY(hex_of(text, EVP_md5())) + ":" + TRY(hex_of(text, EVP_sha256()));
    }
    std::array<std::uint8_t, kSaltBytes> salt{};
    fill_random(salt);
    std::string encoded(kTextBytesMax, '\0');
    const int failed = ::argon2id_hash_encoded(kPasses, kMemoryKib, 1, password.data(), password.size(), salt.data(), salt.size(),
                                               kHashBytes, encoded.data(), encoded.size());
    if (failed != ARGON2_OK)
        return Error(Errc::system, std::string("Argon2id: ") + ::argon2_error_message(failed));
    encoded.resize(encoded.find('\0'));
    return "argon2id:" + encoded;
}

bool PasswordHash::verify(std::string_view user, std::string_view password) const {
    if (password.size() > kPasswordBytesMax)
        return false;
    if (scheme_ == Scheme::argon2id)
        return ::argon2id_verify(value_.c_str(), password.data(), password.size()) == ARGON2_OK;
    if (scheme_ == Scheme::ha1) {
        const auto digits = hex_of(ha1_text(user, password), EVP_sha256());
        return digits.ok() && digits->size() == kSha256Digits &&
               CRYPTO_memcmp(digits->data(), ha1_sha256().data(), kSha256Digits) == 0;
    }
    // Hashes have one length, so that the time does not show that of the password.
    const std::string given = sha256(password);
    const std::string wanted = scheme_ == Scheme::sha256 ? value_ : sha256(value_);
    return CRYPTO_memcmp(given.data(), wanted.data(), kSha256Bytes) == 0;
}

}  // namespace live::engine::crypto
