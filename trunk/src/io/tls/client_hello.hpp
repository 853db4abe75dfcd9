// The beginning of a TLS connection as its client sends it, looked at before OpenSSL reads it: handshakes that resume a session
// are cheap, and are done first. OpenSSL checks everything; here a wrong answer costs a client its place in the order only.
#pragma once

#include "base/bytes/bytes.hpp"

namespace live::io {

// Enough for the hellos of browsers with hybrid key exchange, within the longest record of plaintext.
inline constexpr std::size_t kClientHelloMax = 16 * 1024;

// Reports whether `input` begins with a whole ClientHello (RFC 8446, 4.1.2; RFC 5246, 7.4.1.2) in one record that offers a
// session: a pre-shared key (RFC 8446, 4.2.11), or a ticket (RFC 5077, 3.2).
bool offers_session(Bytes input);

}  // namespace live::io
