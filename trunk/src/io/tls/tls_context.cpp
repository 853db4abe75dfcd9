#include "io/tls/tls_context.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include <unistd.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>

#include "io/fibers/off_loop.hpp"
#include "io/tls/tls_error.hpp"

namespace live::io {

namespace {

Result<ssl_ctx_st*> make_context(const SSL_METHOD* method) {
    ERR_clear_error();
    SSL_CTX* context = SSL_CTX_new(method);
    if (context == nullptr)
        return tls_error(Errc::system, "creating a TLS context");
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    // Peers that close without a close_notify are common; the protocols above mark their own end.
    SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_RENEGOTIATION);
    // An idle connection keeps no record buffers: saves 34 KiB per parked player.
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    // One call for all records that have come, instead of two for each.
    SSL_CTX_set_read_ahead(context, 1);
    return context;
}

Result<void> readable(const std::string& path) {
    if (::access(path.c_str(), R_OK) != 0)
        return Error(Errc::not_found, "the file " + path + " cannot be read");
    return {};
}

Result<void> load_identity(SSL_CTX* context, const std::string& certificate_path, const std::string& key_path) {
    TRY(readable(certificate_path));
    TRY(readable(key_path));
    ERR_clear_error();
    if (SSL_CTX_use_certificate_chain_file(context, certificate_path.c_str()) != 1)
        return tls_error(Errc::malformed, "reading the certificate " + certificate_path);
    if (SSL_CTX_use_PrivateKey_file(context, key_path.c_str(), SSL_FILETYPE_PEM) != 1) {
        const bool mismatch = ERR_GET_REASON(ERR_peek_error()) == X509_R_KEY_VALUES_MISMATCH;
        return tls_error(mismatch ? Errc::conflict : Errc::malformed, "reading the key " + key_path);
    }
    if (SSL_CTX_check_private_key(context) != 1)
        return tls_error(Errc::conflict, "the key " + key_path + " does not belong to " + certificate_path);
    return {};
}

// The order in which a server prefers ciphers. AES-128 takes 15 % less time than AES-256, which most clients name first; a client
// that names ChaCha20 first, because it has no AES instructions, gets that.
Result<void> prefer_fast_ciphers(SSL_CTX* context) {
    SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
    constexpr const char* kSuites = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
    // TLS 1.2: authenticated encryption with forward secrecy only (RFC 9325, 4.2).
    constexpr const char* kOlderSuites =
        "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
        "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
    return SSL_CTX_set_ciphersuites(context, kSuites) == 1 && SSL_CTX_set_cipher_list(context, kOlderSuites) == 1
               ? Result<void>()
               : tls_error(Errc::system, "choosing the ciphers");
}

// Tickets hold everything, for all processes: no session is kept here, and none in pairs. One per connection replaces the used
// one.
void prefer_tickets(SSL_CTX* context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context, 1);
    SSL_CTX_set_timeout(context, std::chrono::seconds(TicketKeys::kTicketLife).count());
}

bool begin_ticket(const TicketKeys::Key& key, const unsigned char* iv, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac, int encrypts) {
    std::array<char, 7> digest{"SHA256"};
    auto authentication = key.authentication;
    const std::array parameters{
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, authentication.data(), authentication.size()),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0), OSSL_PARAM_construct_end()};
    return EVP_MAC_CTX_set_params(mac, parameters.data()) == 1 &&
           EVP_CipherInit_ex2(cipher, EVP_aes_256_cbc(), key.encryption.data(), iv, encrypts, nullptr) == 1;
}

// SSL_CTX_set_tlsext_ticket_key_evp_cb(3): negative for an error, 0 for an unknown key, 2 for a ticket to be replaced.
int on_ticket(SSL* tls, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac, int encrypts) {
    constexpr int kError = -1;
    constexpr int kUnknown = 0;
    constexpr int kDone = 1;
    constexpr int kReplace = 2;
    auto& keys = *static_cast<TicketKeys*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(tls)));
    const auto now = std::chrono::system_clock::now();
    if (encrypts == 1) {
        const auto key = keys.current(now);
        if (!key.ok() || RAND_bytes(iv, EVP_MAX_IV_LENGTH) != 1)
            return kError;
        copy_bytes((*key)->name, {name, sizeof(TicketKeys::Key::name)});
        return begin_ticket(**key, iv, cipher, mac, encrypts) ? kDone : kError;
    }
    const auto found = keys.find({name, sizeof(TicketKeys::Key::name)}, now);
    if (!found.ok())
        return kError;
    if (found->key == nullptr)
        return kUnknown;
    if (!begin_ticket(*found->key, iv, cipher, mac, encrypts))
        return kError;
    // Clients use a ticket of TLS 1.3 once (RFC 8446, C.4), so each needs another.
    return found->age == TicketKeys::Age::current && SSL_version(tls) < TLS1_3_VERSION ? kDone : kReplace;
}

// The callback owns a reference to the session.
int on_new_session(SSL* tls, SSL_SESSION* session) {
    auto& kept = *static_cast<SSL_SESSION**>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(tls)));
    SSL_SESSION_free(std::exchange(kept, session));
    return 1;
}

int on_first_session(SSL* tls, SSL_SESSION* session) {
    // Otherwise OpenSSL marks the session as used up after one connection.
    SSL_CTX_set_session_cache_mode(SSL_get_SSL_CTX(tls), SSL_SESS_CACHE_OFF);
    return on_new_session(tls, session);
}

// RFC 8737, 4. As in the extension: a length before the name.
constexpr std::string_view kAcmeProtocol =
    "\x0a"
    "acme-tls/1";

bool offers_acme_only(Bytes offered) { return as_text(offered) == kAcmeProtocol; }

int select_protocol(SSL* tls, const unsigned char** selected, unsigned char* selected_size, const unsigned char* offered,
                    unsigned int offered_size, void* protocols) {
    const auto& own = *static_cast<const std::string*>(protocols);
    // on_hello() has replaced the certificate.
    if (offers_acme_only({offered, offered_size}) && SSL_get_certificate(tls) != SSL_CTX_get0_certificate(SSL_get_SSL_CTX(tls))) {
        *selected = offered + 1;
        *selected_size = static_cast<unsigned char>(offered_size - 1);
        return SSL_TLSEXT_ERR_OK;
    }
    unsigned char* found = nullptr;
    const int outcome = SSL_select_next_proto(&found, selected_size, reinterpret_cast<const unsigned char*>(own.data()),
                                              static_cast<unsigned int>(own.size()), offered, offered_size);
    *selected = found;
    return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

// The system's authorities, which the first connection reads and others wait for.
class TlsContext::Unread {
public:
    explicit Unread(SSL_CTX* context) : context_(context) { SSL_CTX_up_ref(context_); }
    ~Unread() { SSL_CTX_free(context_); }
    Unread(const Unread&) = delete;
    Unread& operator=(const Unread&) = delete;

    // May be called from any thread.
    Result<void> read() {
        std::call_once(once_, [this] {
            ERR_clear_error();
            if (SSL_CTX_set_default_verify_paths(context_) != 1)
                outcome_ = tls_error(Errc::system, "loading the system's certificate authorities");
        });
        return outcome_;
    }

private:
    SSL_CTX* context_;
    std::once_flag once_;
    Result<void> outcome_;
};

struct TlsContext::Challenge {
    std::unique_ptr<X509, decltype(&X509_free)> certificate{nullptr, X509_free};
    std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key{nullptr, EVP_PKEY_free};

    // For one connection, before its handshake chooses a certificate.
    static int on_hello(SSL* tls, int*, void* held) {
        const auto& challenge = *static_cast<const std::unique_ptr<Challenge>*>(held);
        const unsigned char* extension = nullptr;
        std::size_t size = 0;
        constexpr std::size_t kListLengthBytes = 2;
        if (challenge == nullptr ||
            SSL_client_hello_get0_ext(tls, TLSEXT_TYPE_application_layer_protocol_negotiation, &extension, &size) != 1 ||
            size < kListLengthBytes || !offers_acme_only(Bytes(extension, size).subspan(kListLengthBytes)))
            return SSL_CLIENT_HELLO_SUCCESS;
        SSL_certs_clear(tls);
        const bool is_set =
            SSL_use_certificate(tls, challenge->certificate.get()) == 1 && SSL_use_PrivateKey(tls, challenge->key.get()) == 1;
        return is_set ? SSL_CLIENT_HELLO_SUCCESS : SSL_CLIENT_HELLO_ERROR;
    }
};

TlsContext::TlsContext(Private, ssl_ctx_st* handle, TlsVerify verify) : handle_(handle), verify_(verify) {}

Result<std::unique_ptr<TlsContext>> TlsContext::server(const std::string& certificate_path, const std::string& key_path) {
    auto context = std::make_unique<TlsContext>(Private{}, TRY(make_context(TLS_server_method())), TlsVerify::none);
    TRY(prefer_fast_ciphers(context->handle_));
    TRY(load_identity(context->handle_, certificate_path, key_path));
    prefer_tickets(context->handle_);
    return context;
}

Result<void> TlsContext::use_ticket_keys(TicketKeys& keys) {
    ticket_keys_ = &keys;
    return set_ticket_callback();
}

Result<void> TlsContext::set_ticket_callback() {
    if (ticket_keys_ == nullptr)
        return {};
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    if (X509_digest(SSL_CTX_get0_certificate(handle_), EVP_sha256(), digest.data(), &size) != 1 ||
        SSL_CTX_set_session_id_context(handle_, digest.data(), size) != 1)
        return tls_error(Errc::system, "naming the sessions of a certificate");
    SSL_CTX_set_app_data(handle_, ticket_keys_);
    SSL_CTX_set_tlsext_ticket_key_evp_cb(handle_, on_ticket);
    return {};
}

void TlsContext::resume_sessions(Resume resume) {
    if (verify_ != TlsVerify::none)
        return;
    SSL_CTX_set_app_data(handle_, &session_);
    SSL_CTX_set_session_cache_mode(handle_, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(handle_, resume == Resume::newest ? on_new_session : on_first_session);
}

Result<void> TlsContext::reload(const std::string& certificate_path, const std::string& key_path) {
    // Existing connections keep the one they started with.
    const auto fresh = TRY(server(certificate_path, key_path));
    fresh->ticket_keys_ = ticket_keys_;
    TRY(fresh->set_ticket_callback());
    std::swap(handle_, fresh->handle_);
    ++reloads_;
    select_protocols();
    watch_hellos();
    return {};
}

Result<void> TlsContext::answer_challenge(const std::string& path) {
    TRY(readable(path));
    ERR_clear_error();
    auto challenge = std::make_unique<Challenge>();
    for (const bool reads_key : {false, true}) {
        const std::unique_ptr<BIO, decltype(&BIO_free_all)> file(BIO_new_file(path.c_str(), "r"), BIO_free_all);
        if (file != nullptr && reads_key)
            challenge->key.reset(PEM_read_bio_PrivateKey(file.get(), nullptr, nullptr, nullptr));
        else if (file != nullptr)
            challenge->certificate.reset(PEM_read_bio_X509(file.get(), nullptr, nullptr, nullptr));
    }
    if (challenge->certificate == nullptr || challenge->key == nullptr)
        return tls_error(Errc::malformed, "reading the certificate of a challenge, " + path);
    challenge_ = std::move(challenge);
    watch_hellos();
    return {};
}

void TlsContext::end_challenge() { challenge_.reset(); }

void TlsContext::watch_hellos() {
    if (challenge_ == nullptr)
        return;
    SSL_CTX_set_client_hello_cb(handle_, Challenge::on_hello, &challenge_);
    SSL_CTX_set_alpn_select_cb(handle_, select_protocol, &protocols_);
}

void TlsContext::offer_protocols(std::span<const std::string_view> protocols) {
    protocols_.clear();
    for (const std::string_view name : protocols) {
        protocols_ += static_cast<char>(name.size());
        protocols_ += name;
    }
    select_protocols();
}

void TlsContext::select_protocols() {
    if (protocols_.empty())
        return;
    // The first is for a server, the second for a client.
    SSL_CTX_set_alpn_select_cb(handle_, select_protocol, &protocols_);
    SSL_CTX_set_alpn_protos(handle_, reinterpret_cast<const unsigned char*>(protocols_.data()),
                            static_cast<unsigned int>(protocols_.size()));
}

Result<std::unique_ptr<TlsContext>> TlsContext::client(TlsVerify verify, const std::string& ca_path) {
    auto context = std::make_unique<TlsContext>(Private{}, TRY(make_context(TLS_client_method())), verify);
    if (verify == TlsVerify::none)
        return context;
    if (ca_path.empty()) {
        context->unread_ = std::make_shared<Unread>(context->handle_);
    } else {
        TRY(readable(ca_path));
        ERR_clear_error();
        if (SSL_CTX_load_verify_file(context->handle_, ca_path.c_str()) != 1)
            return tls_error(Errc::malformed, "reading the certificate authorities of " + ca_path);
    }
    SSL_CTX_set_verify(context->handle_, SSL_VERIFY_PEER, nullptr);
    return context;
}

Result<void> TlsContext::read_authorities(Deadline deadline) {
    if (unread_ == nullptr)
        return {};
    TRY(off_loop([unread = unread_] { return unread->read(); }, deadline));
    unread_.reset();
    return {};
}

TlsContext::~TlsContext() {
    SSL_SESSION_free(session_);
    SSL_CTX_free(handle_);
}

}  // namespace live::io
