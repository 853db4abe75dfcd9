#include "app/wiring/http_certificates.hpp"

#include <filesystem>
#include <system_error>

#include "base/log/log_format.hpp"
#include "io/tls/self_signed.hpp"
#include "service/acme/options.hpp"

namespace live::app {

Result<settings::TlsFiles> HttpCertificates::usable(const settings::TlsFiles& files) const {
    const HttpsFiles chosen = https_files(files);
    if (!chosen.is_our_own)
        return files;
    const settings::TlsFiles& own = chosen.tls;
    if (chosen.is_to_be_made) {
        std::error_code ignored;
        std::filesystem::create_directories("./objs", ignored);
        TRY(io::make_self_signed(own.cert, own.key));
        LOG_WARN(log_, "no certificate at {}: a self-signed one was created, {}", files.cert, own.cert);
    }
    LOG_INFO(log_, "HTTPS certificate {}, SHA-256 fingerprint {}", own.cert, TRY(io::certificate_fingerprint(own.cert)));
    return own;
}

Result<void> HttpCertificates::load(const settings::Settings& settings) {
    const auto load_one = [&](ServedCertificate& certificate, bool enabled, const settings::TlsFiles& named) -> Result<void> {
        if (!enabled)
            return {};
        return certificate.use(TRY(usable(with_acme(named, settings))));
    };
    if (settings.acme.enabled)
        for (ServedCertificate* certificate : {&api_, &streams_})
            certificate->set_challenge_file(service::acme::files_beside(settings.pid).alpn_certificate);
    const settings::HttpApiOptions& api = settings.http_api;
    const settings::HttpServerOptions& server = settings.http_server;
    TRY(load_one(api_, api.enabled && api.https.enabled, api.https.tls));
    return load_one(streams_, server.enabled && server.https.enabled, server.https.tls);
}

Result<void> HttpCertificates::watch(io::Scope& fibers) {
    for (ServedCertificate* certificate : {&api_, &streams_})
        TRY(fibers.start("certificates", [certificate](io::Deadline forever) { certificate->watch(forever); }));
    return {};
}

}  // namespace live::app
