#include "session/srt/key_check.hpp"

#include <utility>

#include "io/off_loop.hpp"

namespace live::session::srt {

namespace srt = engine::srt;

Result<srt::KeyEncryptingKey> derive_key(std::string passphrase, const srt::Salt& salt, std::size_t key_bytes,
                                         io::Deadline deadline) {
    const auto derive = [passphrase = std::move(passphrase), salt, key_bytes] {
        return srt::derive_key(passphrase, salt, key_bytes);
    };
    auto derived = io::off_loop(derive, deadline, io::Work::arrival);
    return !derived.ok() && derived.code() == Errc::limit ? derive() : std::move(derived);
}

Result<std::optional<srt::KeyEncryptingKey>> check_passphrase(const srt::Request& request, const std::string& passphrase,
                                                              io::Deadline deadline) {
    std::optional<srt::KeyEncryptingKey> kek;
    // Version 4 says whether it encrypts after the handshake.
    if (request.handshake_version < 5)
        return kek;
    if (passphrase.empty() && !request.is_encrypted())
        return kek;
    if (!request.is_encrypted())
        return Error(Errc::unsupported, "the stream requires a passphrase, and the client has none");
    if (passphrase.empty())
        return Error(Errc::unsupported, "the client has a passphrase, and the stream has none");
    const srt::KeyMessage& message = *request.key_request;
    kek = TRY(derive_key(passphrase, message.salt, message.key_bytes, deadline));
    TRY(srt::unwrap_keys(*kek, message.wrapped));
    return kek;
}

srt::RejectReason key_reject_reason_of(const Error& error) {
    switch (error.code()) {
        case Errc::denied: return srt::RejectReason::bad_secret;
        case Errc::unsupported: return srt::RejectReason::unsecure;
        case Errc::cancelled: return srt::RejectReason::closing;
        default: return srt::RejectReason::unavailable;
    }
}

}  // namespace live::session::srt
