/* Is this libsrtp2 what we take it for? The key derivation and the cipher of RFC 3711 (appendix B.3 through a packet that its own
 * authors published with the library), AES-GCM there and back, and refusals: a packet again, a packet that was changed. */
#include <stdio.h>
#include <string.h>

#include <srtp2/srtp.h>

static int fails(const char *what) {
    fprintf(stderr, "%s\n", what);
    return 1;
}

static const unsigned char kKey[30] = {0xe1, 0xf9, 0x7a, 0x0d, 0x3e, 0x01, 0x8b, 0xe0, 0xd6, 0x4f, 0xa3, 0x2c, 0x06, 0xde, 0x41,
                                       0x39, 0x0e, 0xc6, 0x75, 0xad, 0x49, 0x8a, 0xfe, 0xeb, 0xb6, 0x96, 0x0b, 0x3a, 0xab, 0xe6};
static const unsigned char kPlain[28] = {0x80, 0x0f, 0x12, 0x34, 0xde, 0xca, 0xfb, 0xad, 0xca, 0xfe, 0xba, 0xbe, 0xab, 0xab,
                                         0xab, 0xab, 0xab, 0xab, 0xab, 0xab, 0xab, 0xab, 0xab, 0xab, 0xab, 0xab, 0xab, 0xab};
static const unsigned char kSealed[38] = {0x80, 0x0f, 0x12, 0x34, 0xde, 0xca, 0xfb, 0xad, 0xca, 0xfe, 0xba, 0xbe, 0x4e,
                                          0x55, 0xdc, 0x4c, 0xe7, 0x99, 0x78, 0xd8, 0x8c, 0xa4, 0xd2, 0x15, 0x94, 0x9d,
                                          0x24, 0x02, 0xb7, 0x8d, 0x6a, 0xcc, 0x99, 0xea, 0x17, 0x9b, 0x8d, 0xbb};

static srtp_t session(int is_gcm, srtp_ssrc_type_t direction) {
    srtp_policy_t policy;
    srtp_t made = NULL;
    memset(&policy, 0, sizeof(policy));
    if (is_gcm) {
        srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp);
        srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp);
    } else {
        srtp_crypto_policy_set_rtp_default(&policy.rtp);
        srtp_crypto_policy_set_rtcp_default(&policy.rtcp);
    }
    policy.ssrc.type = direction;
    policy.key = (unsigned char *)kKey;
    policy.window_size = 128;
    return srtp_create(&made, &policy) == srtp_err_status_ok ? made : NULL;
}

static int check(int is_gcm) {
    unsigned char packet[128];
    unsigned char again[128];
    int bytes = sizeof(kPlain);
    int sealed;
    srtp_t out = session(is_gcm, ssrc_any_outbound);
    srtp_t in = session(is_gcm, ssrc_any_inbound);
    if (out == NULL || in == NULL)
        return fails("no session");
    memcpy(packet, kPlain, sizeof(kPlain));
    if (srtp_protect(out, packet, &bytes) != srtp_err_status_ok)
        return fails("a packet is not protected");
    if (!is_gcm && (bytes != sizeof(kSealed) || memcmp(packet, kSealed, sizeof(kSealed)) != 0))
        return fails("AES-CM with HMAC-SHA1 makes something else than the vector");
    if (is_gcm && (bytes != sizeof(kPlain) + 16 || memcmp(packet + 12, kPlain + 12, 16) == 0))
        return fails("AES-GCM does not encrypt");
    sealed = bytes;
    memcpy(again, packet, sizeof(packet));
    again[20] ^= 1;
    if (srtp_unprotect(in, again, &bytes) == srtp_err_status_ok)
        return fails("a changed packet is taken");
    bytes = sealed;
    memcpy(again, packet, sizeof(packet));
    if (srtp_unprotect(in, again, &bytes) != srtp_err_status_ok || bytes != sizeof(kPlain) || memcmp(again, kPlain, sizeof(kPlain)) != 0)
        return fails("a packet does not come back");
    bytes = sealed;
    if (srtp_unprotect(in, packet, &bytes) == srtp_err_status_ok)
        return fails("a packet is taken twice");
    srtp_dealloc(out);
    srtp_dealloc(in);
    return 0;
}

int main(void) {
    if (srtp_init() != srtp_err_status_ok)
        return fails("srtp_init");
    return check(0) || check(1) || srtp_shutdown() != srtp_err_status_ok;
}
