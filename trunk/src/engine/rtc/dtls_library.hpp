// The part of OpenSSL that handshakes of DTLS need, as a library context of its own. For each certificate that it is sent,
// OpenSSL 3 looks through all that it knows, ciphers and digests too, for what could read the public key, which is a fifth of a
// handshake's time: here there is little to look through.
#pragma once

struct ossl_lib_ctx_st;

namespace live::engine::rtc {

// For SSL_CTX_new_ex(); nullptr, which stands for all of OpenSSL, where it cannot be made. Never freed: the program needs it to
// its end.
ossl_lib_ctx_st* dtls_library();

}  // namespace live::engine::rtc
