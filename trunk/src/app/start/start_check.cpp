#include "app/start/start_check.hpp"

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "app/wiring/listening.hpp"
#include "app/wiring/served_certificate.hpp"
#include "io/tls/tls_context.hpp"
#include "service/tokens/key_file.hpp"

namespace live::app {

namespace {

namespace fs = std::filesystem;

// An errno, or 0 for success; with the effective rights used for opening files.
int refusal(const std::string& path, int mode) { return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0 ? 0 : errno; }

std::string folder_of(const std::string& path) {
    const std::string folder = fs::path(path).parent_path().string();
    return folder.empty() ? "." : folder;
}

// As an open() for writing with O_CREAT would.
Result<void> check_writable(const std::string& path, const std::string& what) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored))
        return system_error(what, EISDIR);
    int error = refusal(path, W_OK);
    if (error == ENOENT)
        error = refusal(folder_of(path), W_OK | X_OK);
    if (error != 0)
        return system_error(what, error);
    return {};
}

// As fs::create_directories() followed by creating a file in it.
int folder_refusal(fs::path folder) {
    std::error_code failed;
    if (folder.empty())
        folder = ".";
    while (!fs::exists(folder, failed)) {
        // A path that cannot be inspected is not a usable folder: it is below a file, or has another owner.
        if (failed)
            return failed.value();
        const fs::path above = folder.parent_path();
        if (above == folder)
            break;
        folder = above.empty() ? "." : above;
    }
    if (!fs::is_directory(folder, failed))
        return ENOTDIR;
    return refusal(folder.string(), W_OK | X_OK);
}

// The start makes the file of the acme block.
Result<void> check_pair(const settings::TlsFiles& named, const settings::Settings& settings) {
    const settings::TlsFiles files = with_acme(named, settings);
    std::error_code ignored;
    if (files.cert == named.cert || fs::exists(files.cert, ignored)) {
        TRY(io::TlsContext::server(files.cert, files.key));
        return {};
    }
    if (const int error = folder_refusal(folder_of(files.cert)); error != 0)
        return system_error("making the certificate " + files.cert, error);
    return {};
}

Result<void> check_https(const settings::TlsFiles& named, const settings::Settings& settings) {
    if (with_acme(named, settings).cert != named.cert)
        return check_pair(named, settings);
    const HttpsFiles files = https_files(named);
    if (!files.is_to_be_made) {
        TRY(io::TlsContext::server(files.tls.cert, files.tls.key));
        return {};
    }
    if (const int error = folder_refusal(folder_of(files.tls.cert)); error != 0)
        return system_error("making the certificate " + files.tls.cert, error);
    return {};
}

// The start makes missing files.
Result<void> check_keys(const settings::Vhost& vhost) {
    if (!vhost.access.enabled)
        return {};
    for (const std::string& file : vhost.access.key_files) {
        const auto key = service::tokens::read_key(file);
        if (!key.ok() && key.code() != Errc::not_found)
            return key.error();
        if (const int error = key.ok() ? 0 : folder_refusal(folder_of(file)); error != 0)
            return system_error("making the key file " + file, error);
    }
    return {};
}

// Up to the first variable: the rest is created once it is known.
std::string fixed_folder(const std::string& path) {
    const std::string_view fixed = std::string_view(path).substr(0, path.find('['));
    return std::string(fixed.substr(0, fixed.rfind('/') + 1));
}

}  // namespace

Result<void> check_start(const settings::Settings& settings) {
    if (settings.log.tank == settings::LogTank::file)
        if (auto log = check_writable(settings.log.file, "cannot open " + settings.log.file); !log.ok())
            return std::move(log).error().during("the log file");
    TRY(check_writable(settings.pid, "cannot open the pid file " + settings.pid));
    for (const settings::Vhost& vhost : settings.vhosts)
        TRY(check_keys(vhost));
    if (settings.rtmps.enabled)
        TRY(check_pair(settings.rtmps.tls, settings));
    if (settings.rtsps.enabled)
        TRY(check_pair(settings.rtsps.tls, settings));
    if (settings.http_api.enabled && settings.http_api.https.enabled)
        TRY(check_https(settings.http_api.https.tls, settings));
    if (settings.http_server.enabled && settings.http_server.https.enabled)
        TRY(check_https(settings.http_server.https.tls, settings));
    return {};
}

Result<void> check_ports(const settings::Settings& settings, const Log& log) {
    std::vector<std::string> texts = settings.listen;
    const auto add = [&texts](bool enabled, const std::vector<std::string>& more) {
        if (enabled)
            texts.insert(texts.end(), more.begin(), more.end());
    };
    add(settings.rtmps.enabled, settings.rtmps.listen);
    add(settings.rtsp_server.enabled, settings.rtsp_server.listen);
    add(settings.rtsps.enabled, settings.rtsps.listen);
    add(settings.http_api.enabled, settings.http_api.listen);
    add(settings.http_api.enabled && settings.http_api.https.enabled, settings.http_api.https.listen);
    add(settings.http_server.enabled, settings.http_server.listen);
    add(settings.http_server.enabled && settings.http_server.https.enabled, settings.http_server.https.listen);
    add(settings.exporter.enabled, settings.exporter.listen);
    for (const WantedEndpoint& wanted : TRY(wanted_endpoints(texts)))
        TRY(listen_at(wanted, "the workers", log));
    return {};
}

std::vector<std::string> unwritable_folders(const settings::Settings& settings) {
    std::vector<std::string> sentences;
    const auto look = [&sentences](const settings::Vhost& vhost, const char* what, const std::string& folder) {
        if (const int error = folder_refusal(folder); error != 0)
            sentences.push_back(fmt::format("vhost {}: {} cannot be written to {}: {}", vhost.name, what,
                                            folder.empty() ? "." : folder, std::generic_category().message(error)));
    };
    for (const settings::Vhost& vhost : settings.vhosts) {
        if (!vhost.enabled)
            continue;
        if (vhost.dvr.enabled)
            look(vhost, "recordings", fixed_folder(vhost.dvr.path));
        if (vhost.hls.enabled)
            look(vhost, "HLS", vhost.hls.path);
        if (vhost.dash.enabled)
            look(vhost, "DASH", vhost.dash.path);
    }
    return sentences;
}

}  // namespace live::app
