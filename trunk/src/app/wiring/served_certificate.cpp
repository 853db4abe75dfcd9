#include "app/wiring/served_certificate.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include <sys/stat.h>

#include "base/log/log_format.hpp"
#include "base/text/metrics_text.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/off_loop.hpp"
#include "io/tls/self_signed.hpp"
#include "service/acme/options.hpp"

namespace live::app {

HttpsFiles https_files(const settings::TlsFiles& named) {
    namespace fs = std::filesystem;
    const settings::TlsFiles by_default;
    std::error_code ignored;
    if (named.cert != by_default.cert || named.key != by_default.key || fs::exists(named.cert, ignored) ||
        fs::exists(named.key, ignored))
        return {.tls = named};
    const settings::TlsFiles own{"./objs/server.key", "./objs/server.crt"};
    return {own, !fs::exists(own.cert, ignored) || !fs::exists(own.key, ignored), true};
}

settings::TlsFiles with_acme(const settings::TlsFiles& named, const settings::Settings& settings) {
    const settings::TlsFiles by_default;
    if (!settings.acme.enabled || named.cert != by_default.cert || named.key != by_default.key)
        return named;
    const std::string file = service::acme::files_beside(settings.pid).certificate;
    return {file, file};
}

ServedCertificate::Mark ServedCertificate::mark_of(const std::string& path) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0)
        return {};
    return {static_cast<std::int64_t>(about.st_dev), static_cast<std::int64_t>(about.st_ino), about.st_size, about.st_mtim.tv_sec,
            about.st_mtim.tv_nsec};
}

ServedCertificate::Marks ServedCertificate::marks_of(const settings::TlsFiles& files) {
    return {mark_of(files.cert), mark_of(files.key)};
}

Result<void> ServedCertificate::use(const settings::TlsFiles& files) {
    const Marks marks = marks_of(files);
    if (!context_) {
        auto context = TRY(io::TlsContext::server(files.cert, files.key));
        TRY(context->use_ticket_keys(ticket_keys_));
        context_ = std::move(context);
        note_use(files, marks);
        return {};
    }
    if (files.cert != files_.cert || files.key != files_.key || marks != used_)
        reload(files, marks);
    return {};
}

void ServedCertificate::watch(io::Deadline deadline) {
    while (io::sleep(deadline.sooner(io::Deadline::after(kLookEvery))).ok()) {
        look(deadline);
        look_at_challenge(deadline);
    }
}

void ServedCertificate::look_at_challenge(io::Deadline deadline) {
    if (!context_ || challenge_file_.empty())
        return;
    const auto mark = io::off_loop([path = challenge_file_] { return mark_of(path); }, deadline);
    if (!mark.ok() || std::exchange(challenge_seen_, *mark) == *mark)
        return;
    if (*mark == Mark{})
        return context_->end_challenge();
    if (const auto loaded = context_->answer_challenge(challenge_file_); !loaded.ok())
        LOG_ERROR(log_, "{} cannot answer tls-alpn-01: {}", service_, loaded.error().sentence());
}

void ServedCertificate::look(io::Deadline deadline) {
    if (!context_)
        return;
    const auto marks = io::off_loop([files = files_] { return marks_of(files); }, deadline);
    if (!marks.ok())
        return;
    const bool is_quiet = std::exchange(seen_, *marks) == *marks;
    if (*marks == used_)
        refused_.reset();
    else if (is_quiet && *marks != refused_)
        reload(files_, *marks);
}

void ServedCertificate::reload(const settings::TlsFiles& files, const Marks& marks) {
    if (const auto loaded = context_->reload(files.cert, files.key); !loaded.ok()) {
        refused_ = marks;
        LOG_ERROR(log_, "{} keeps its current certificate: {}", service_, loaded.error().sentence());
        return;
    }
    note_use(files, marks);
    refused_.reset();
    const auto fingerprint = io::certificate_fingerprint(files.cert);
    LOG_INFO(log_, "{} has a new certificate, {}, SHA-256 fingerprint {}", service_, files.cert,
             fingerprint.ok() ? *fingerprint : "unknown");
}

void ServedCertificate::note_use(const settings::TlsFiles& files, const Marks& marks) {
    files_ = files;
    used_ = marks;
    const auto expiry = io::certificate_expiry(files.cert);
    expires_ = expiry.ok() ? std::optional(*expiry) : std::nullopt;
}

void CertificateExpiries::write_metrics(MetricsText& text) const {
    text.family("millrace_certificate_expiry_timestamp_seconds", MetricsText::Type::gauge,
                "Unix time at which the certificate of a TLS service expires.")
        .combine(MetricFamily::Combine::greatest);
    for (const ServedCertificate* certificate : certificates_)
        if (const auto expires = certificate->expires())
            text.sample(static_cast<double>(expires->time_since_epoch().count()), {{"service", certificate->service()}});
}

}  // namespace live::app
