#include "session/srt/key_check.hpp"

#include <utility>

#include "base/net/ip_network.hpp"
#include "io/fibers/off_loop.hpp"
#include "session/limits/handshake_room.hpp"

namespace live::session::srt {

namespace srt = engine::srt;

Result<srt::KeyEncryptingKey> derive_key(std::string passphrase, const srt::Salt& salt, std::size_t key_bytes,
                                         io::Deadline deadline) {
    return io::off_loop(
        [passphrase = std::move(passphrase), salt, key_bytes] { return srt::derive_key(passphrase, salt, key_bytes); }, deadline);
}

Result<srt::KeyEncryptingKey> derive_client_key(ConnectionLimits& places, std::string_view ip, std::string passphrase,
                                                const srt::Salt& salt, std::size_t key_bytes, io::Deadline deadline) {
    TRY(check_handshake_room(places, ip, io::now()));
    return io::off_loop(
        [passphrase = std::move(passphrase), salt, key_bytes] { return srt::derive_key(passphrase, salt, key_bytes); }, deadline,
        io::Work::arrival, handshake_party(places, ip));
}

Result<std::optional<srt::KeyEncryptingKey>> check_passphrase(ConnectionLimits& places, const srt::Request& request,
                                                              const std::string& passphrase, io::Deadline deadline) {
    std::optional<srt::KeyEncryptingKey> kek;
    // Version 4 announces encryption after the handshake.
    if (request.handshake_version < 5)
        return kek;
    if (passphrase.empty() && !request.is_encrypted())
        return kek;
    if (!request.is_encrypted())
        return Error(Errc::unsupported, "the stream requires a passphrase, and the client has none");
    if (passphrase.empty())
        return Error(Errc::unsupported, "the client has a passphrase, and the stream has none");
    const srt::KeyMessage& message = *request.key_request;
    kek = TRY(derive_client_key(places, ip_text(request.from.ip), passphrase, message.salt, message.key_bytes, deadline));
    TRY(srt::unwrap_keys(*kek, message.wrapped));
    return kek;
}

srt::RejectReason key_reject_reason_of(const Error& error) {
    switch (error.code()) {
        case Errc::denied: return srt::RejectReason::bad_secret;
        case Errc::unsupported: return srt::RejectReason::unsecure;
        case Errc::cancelled: return srt::RejectReason::closing;
        case Errc::limit: return srt::RejectReason::overload;
        default: return srt::RejectReason::unavailable;
    }
}

}  // namespace live::session::srt
