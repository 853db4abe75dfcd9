// VhostFiles: the folder of a requested file, from the settings tree: the http_static of its virtual host, otherwise
// http_server.dir. And who may have it, where it is named as HLS and DASH name theirs: a killed process leaves files, and so do
// some settings.
#pragma once

#include <optional>
#include <string>

#include "service/admission/access_policy.hpp"
#include "service/dash/viewers.hpp"
#include "service/files/sessions.hpp"
#include "session/http/static_handler.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class VhostFiles final : public session::http::FileRoots {
public:
    // `settings` outlives this.
    explicit VhostFiles(const settings::CurrentSettings& settings) : settings_(settings) {}

    // The players, for files of guarded streams; without them such files are refused. Both outlive this.
    void set_players(const service::files::Sessions& sessions, const service::dash::Viewers& viewers) {
        sessions_ = &sessions;
        viewers_ = &viewers;
    }

    // Decides about recordings of virtual hosts with `access`; without it they are refused. Outlives this.
    void set_access(const service::admission::AccessPolicy& access) { access_ = &access; }

    std::optional<session::http::FilePlace> find(const session::http::Request& request) const override;
    // The rules of the virtual hosts that may have made the file as HLS or DASH: `security`, and that media of a guarded stream
    // is for its admitted players. A playlist or an MPD that only others than the requested one make does not exist for it.
    // Recordings of the file's form need the right `playback` where `access` is enabled. Errc::denied, Errc::not_found, and
    // errors as AccessPolicy::check().
    Result<void> check(const session::http::Request& request, const session::http::FilePlace& place,
                       io::Deadline deadline) const override;

private:
    Result<void> check_outputs(const session::http::Request& request, const std::string& path) const;
    Result<void> check_recordings(const session::http::Request& request, const std::string& path, io::Deadline deadline) const;
    bool plays(const session::http::Request& request, const settings::Vhost& vhost, const std::string& path) const;

    const settings::CurrentSettings& settings_;
    const service::files::Sessions* sessions_ = nullptr;
    const service::dash::Viewers* viewers_ = nullptr;
    const service::admission::AccessPolicy* access_ = nullptr;
};

}  // namespace live::app
