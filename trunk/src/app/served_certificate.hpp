// ServedCertificate: certificate and key of one TLS service while it runs. They are taken anew when the settings name others, and
// when the files change: programs that renew certificates rarely know whom to tell. A pair that cannot be used leaves the one
// that is; connections that exist go on in any case.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/log.hpp"
#include "base/result.hpp"
#include "io/deadline.hpp"
#include "io/tls_context.hpp"
#include "settings/services.hpp"

namespace live::app {

// The pair that an HTTPS service takes.
struct HttpsFiles {
    settings::TlsFiles tls;
    // Neither the settings name one nor is one where it would be, so it is one of our own making, which is not there yet.
    bool is_to_be_made = false;
    bool is_our_own = false;
};
HttpsFiles https_files(const settings::TlsFiles& named);

class ServedCertificate {
public:
    // Between two looks. A change is taken over by the second look that sees it, because two files are rarely replaced at once.
    static constexpr std::chrono::seconds kLookEvery{2};

    // `service` is its name in the log.
    ServedCertificate(std::string service, const Log& log) : service_(std::move(service)), log_(log) {}

    // The files that the settings name, read anew when they have changed. An error (as TlsContext::server) means that nothing has
    // changed; with a context in use it is in the log, and no error.
    Result<void> use(const settings::TlsFiles& files);
    // Until cancelled: looks whether the files have changed.
    void watch(io::Deadline deadline);
    // The same for ever, from the first use() on; before that nullptr.
    io::TlsContext* context() const { return context_.get(); }

private:
    // What of a file changes with its content: device, inode, size, time of change. Zeros where there is none.
    using Mark = std::array<std::int64_t, 5>;
    using Marks = std::array<Mark, 2>;

    void look(io::Deadline deadline);
    static Mark mark_of(const std::string& path);
    static Marks marks_of(const settings::TlsFiles& files);
    void reload(const settings::TlsFiles& files, const Marks& marks);

    const std::string service_;
    const Log& log_;
    settings::TlsFiles files_;
    std::unique_ptr<io::TlsContext> context_;
    Marks used_{};
    Marks seen_{};
    std::optional<Marks> refused_;
};

}  // namespace live::app
