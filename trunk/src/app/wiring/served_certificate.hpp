// ServedCertificate: certificate and key of one TLS service at runtime. They are reloaded when the settings name other files, and
// when the files change: programs that renew certificates rarely notify their users. If a new pair is unusable, the current one
// stays; existing connections are never affected. Session tickets are common to all processes of the server.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log/log.hpp"
#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "io/tls/ticket_keys.hpp"
#include "io/tls/tls_context.hpp"
#include "service/service.hpp"
#include "settings/conf/tree.hpp"

namespace live::app {

// The pair for an HTTPS service.
struct HttpsFiles {
    settings::TlsFiles tls;
    // The settings name none and none exists at the default path, so a self-signed one will be made there.
    bool is_to_be_made = false;
    bool is_our_own = false;
};
HttpsFiles https_files(const settings::TlsFiles& named);
// The pair that a TLS service uses: that of the acme block, if it is enabled and `named` is the default one.
settings::TlsFiles with_acme(const settings::TlsFiles& named, const settings::Settings& settings);

class ServedCertificate {
public:
    // Interval between checks. A change is applied by the second check that sees it, because two files are rarely replaced at the
    // same moment.
    static constexpr std::chrono::seconds kLookEvery{2};

    // `service` is its name in the log. Processes with the same `secret` resume each other's sessions.
    ServedCertificate(std::string service, std::string secret, const Log& log)
        : service_(std::move(service)), log_(log), ticket_keys_(std::move(secret)) {}

    // Uses the files named in the settings, reloaded if they have changed. An error (as TlsContext::server) means that nothing
    // has changed; once a context is in use, errors are logged and not returned.
    Result<void> use(const settings::TlsFiles& files);
    // Answers the challenges of tls-alpn-01 whenever this file exists. To be called before watch().
    void set_challenge_file(std::string path) { challenge_file_ = std::move(path); }
    // Until cancelled: checks the files for changes.
    void watch(io::Deadline deadline);
    // Stays the same object after the first use(); nullptr before that.
    io::TlsContext* context() const { return context_.get(); }
    const std::string& service() const { return service_; }
    // The expiry of the pair in use; nothing before the first use().
    std::optional<std::chrono::sys_seconds> expires() const { return expires_; }

private:
    // File properties that change with its content: device, inode, size, time of change. Zeros for a missing file.
    using Mark = std::array<std::int64_t, 5>;
    using Marks = std::array<Mark, 2>;

    void look(io::Deadline deadline);
    void look_at_challenge(io::Deadline deadline);
    static Mark mark_of(const std::string& path);
    static Marks marks_of(const settings::TlsFiles& files);
    void reload(const settings::TlsFiles& files, const Marks& marks);
    void note_use(const settings::TlsFiles& files, const Marks& marks);

    const std::string service_;
    const Log& log_;
    io::TicketKeys ticket_keys_;
    settings::TlsFiles files_;
    std::unique_ptr<io::TlsContext> context_;
    std::optional<std::chrono::sys_seconds> expires_;
    Marks used_{};
    Marks seen_{};
    std::optional<Marks> refused_;
    std::string challenge_file_;
    Mark challenge_seen_{};
};

// Reports the expiry of each certificate in use for Prometheus.
class CertificateExpiries final : public service::Service {
public:
    // `certificate` must outlive this.
    void add(const ServedCertificate& certificate) { certificates_.push_back(&certificate); }

    std::string_view name() const override { return "certificates"; }
    void write_metrics(MetricsText& text) const override;

private:
    std::vector<const ServedCertificate*> certificates_;
};

}  // namespace live::app
