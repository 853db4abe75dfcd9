// The part of OpenSSL that handshakes of DTLS need, as a library context of its own. OpenSSL 3 looks through everything that
// could read a public key, of any kind and form, for each certificate that it is sent, which is a fifth of a handshake's time:
// here there is nothing to look through but what WebRTC's certificates have in them.
#pragma once

struct ossl_lib_ctx_st;

namespace live::engine::rtc {

// For SSL_CTX_new_ex(); nullptr, which stands for all of OpenSSL, where it cannot be made. Never freed: the program needs it to
// its end.
ossl_lib_ctx_st* dtls_library();

}  // namespace live::engine::rtc
