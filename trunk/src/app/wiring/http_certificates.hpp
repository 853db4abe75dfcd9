// HttpCertificates: the certificates of the HTTPS ports. If the settings name none, and none exists at the default path, it makes
// a self-signed one.
#pragma once

#include <string>

#include "app/wiring/served_certificate.hpp"
#include "base/log/log.hpp"
#include "io/fibers/scope.hpp"
#include "settings/conf/tree.hpp"

namespace live::app {

class HttpCertificates {
public:
    // `secret` as that of ServedCertificate.
    HttpCertificates(const std::string& secret, const Log& log)
        : log_(log), api_("HTTPS API", secret, log), streams_("HTTPS server", secret, log) {}

    // Loads the pairs that the settings name. Errors as ServedCertificate::use.
    Result<void> load(const settings::Settings& settings);
    // Starts the fibers that check the files for changes.
    Result<void> watch(io::Scope& fibers);
    // nullptr before the first load().
    io::TlsContext* api() const { return api_.context(); }
    io::TlsContext* streams() const { return streams_.context(); }
    void add_to(CertificateExpiries& expiries) const {
        expiries.add(api_);
        expiries.add(streams_);
    }

private:
    Result<settings::TlsFiles> usable(const settings::TlsFiles& files) const;

    const Log& log_;
    ServedCertificate api_;
    ServedCertificate streams_;
};

}  // namespace live::app
