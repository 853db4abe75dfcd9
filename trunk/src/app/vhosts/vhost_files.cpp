#include "app/vhosts/vhost_files.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text/normal_path.hpp"
#include "service/access/security.hpp"
#include "service/dash/dash_stream.hpp"
#include "service/dvr/options.hpp"
#include "service/files/name_form.hpp"
#include "service/files/stream_name.hpp"
#include "service/hls/files/names.hpp"
#include "service/recordings/playback_context.hpp"
#include "session/http/client.hpp"
#include "settings/conf/whole_path.hpp"

namespace live::app {

namespace {

using service::files::fits_form;
using settings::Vhost;
using settings::whole_folder;
using settings::whole_path;

constexpr std::string_view kVhostMark = "[vhost]";

// "[vhost]/hls" is "/hls/".
std::string prefix_of(std::string_view mount) {
    if (mount.starts_with(kVhostMark))
        mount.remove_prefix(kVhostMark.size());
    std::string prefix(mount);
    if (!prefix.starts_with('/'))
        prefix.insert(0, 1, '/');
    if (!prefix.ends_with('/'))
        prefix += '/';
    return prefix;
}

std::optional<session::http::FilePlace> match(const Vhost& vhost, const std::string& path, const std::string& asked) {
    if (!vhost.enabled || !vhost.http_static.enabled)
        return std::nullopt;
    const std::string prefix = prefix_of(vhost.http_static.mount);
    if (!path.starts_with(prefix))
        return std::nullopt;
    return session::http::FilePlace{vhost.http_static.dir, path.substr(prefix.size()), asked};
}

enum class Made : std::uint8_t { not_here, as_list, as_media };

// Most files are excluded by their endings alone.
bool fits(const std::string& path, const std::string& folder, std::string_view form) {
    const std::size_t dot = std::min(form.rfind('.'), form.size());
    const bool has_ending = form.find(']', dot) != std::string_view::npos || path.ends_with(form.substr(dot));
    return has_ending && fits_form(whole_path(folder, form), path);
}

Made made_as(const service::hls::HlsOptions& hls, const std::string& path) {
    if (!hls.enabled)
        return Made::not_here;
    if (fits(path, hls.path, hls.m3u8_file))
        return Made::as_list;
    for (const std::string* form : {&hls.ts_file, &hls.fmp4_file, &hls.init_file})
        if (fits(path, hls.path, *form))
            return Made::as_media;
    return hls.keys && fits(path, hls.key_file_path, hls.key_file) ? Made::as_media : Made::not_here;
}

Made made_as(const service::dash::DashOptions& dash, const std::string& path) {
    if (!dash.enabled)
        return Made::not_here;
    if (fits(path, dash.path, dash.mpd_file))
        return Made::as_list;
    const bool may_be_segment = path.ends_with(".m4s") || path.ends_with(".mp4");
    const auto forms = may_be_segment ? service::dash::DashStream::segment_forms(dash.mpd_file) : std::vector<std::string>();
    const bool is_segment = std::ranges::any_of(forms, [&](const std::string& form) { return fits(path, dash.path, form); });
    return is_segment ? Made::as_media : Made::not_here;
}

Made made_by(const Vhost& vhost, const std::string& path) {
    if (!vhost.enabled)
        return Made::not_here;
    const Made made = made_as(vhost.hls, path);
    return made == Made::not_here ? made_as(vhost.dash, path) : made;
}

// The client, as a player of a recording of this virtual host; nullopt for another file, and if everybody may have it.
std::optional<session::ClientRequest> player_of_recording(const Vhost& vhost, const session::http::Request& request,
                                                          const std::string& path) {
    if (!vhost.enabled || !vhost.dvr.enabled || !vhost.access.enabled)
        return std::nullopt;
    const std::string named = service::dvr::path_template(vhost.dvr);
    const std::string form = whole_path(named.starts_with('/') ? "/" : "", named);
    if (!path.ends_with(form.substr(form.rfind('.'))) || !fits_form(form, path))
        return std::nullopt;
    // Without a stream in the form, only a right for all paths is for it.
    const auto stream = service::files::match_name(form, path).value_or(service::files::StreamName());
    auto player = session::http::client_of(request, session::ClientKind(service::recordings::kRecordingPlay), vhost.name,
                                           stream.app, stream.stream);
    player.extension = request.path();
    return player;
}

}  // namespace

Result<void> VhostFiles::check(const session::http::Request& request, const session::http::FilePlace& place,
                               io::Deadline deadline) const {
    if (request.is_sibling)
        return {};
    const std::string path = whole_path(place.folder, place.path);
    TRY(check_outputs(request, path));
    return check_recordings(request, path, deadline);
}

Result<void> VhostFiles::check_recordings(const session::http::Request& request, const std::string& path,
                                          io::Deadline deadline) const {
    // The settings may change while a password is checked.
    std::vector<session::ClientRequest> players;
    for (const Vhost& vhost : settings_->vhosts)
        if (auto player = player_of_recording(vhost, request, path))
            players.push_back(*std::move(player));
    for (const session::ClientRequest& player : players) {
        if (access_ == nullptr)
            return Error(Errc::denied, "recordings are for clients with the right to play them");
        TRY(access_->check(player, service::access::Role::play, service::tokens::unix_now(), deadline));
    }
    return {};
}

Result<void> VhostFiles::check_outputs(const session::http::Request& request, const std::string& path) const {
    const auto rules = [&](const Vhost& vhost, Made made) -> Result<void> {
        TRY(service::access::check_security(vhost.security, service::access::Role::play, request.peer_ip));
        const bool has_sessions = vhost.hls.ctx || made_as(vhost.dash, path) != Made::not_here;
        if (made == Made::as_media && has_sessions && vhost.guards_play() && !plays(request, vhost, path))
            return Error(Errc::denied, "this is for players that have got the playlist here");
        return {};
    };
    const Vhost* asked = settings_->find_vhost(request.vhost());
    const Made made_here = asked == nullptr ? Made::not_here : made_by(*asked, path);
    if (made_here != Made::not_here)
        return rules(*asked, made_here);
    Result<void> allowed;
    for (const Vhost& vhost : settings_->vhosts) {
        const Made made = &vhost == asked ? Made::not_here : made_by(vhost, path);
        if (made == Made::as_list)
            return Error(Errc::not_found, "there is no such file");
        if (made == Made::not_here)
            continue;
        allowed = rules(vhost, made);
        if (allowed.ok())
            break;
    }
    return allowed;
}

bool VhostFiles::plays(const session::http::Request& request, const Vhost& vhost, const std::string& path) const {
    if (sessions_ == nullptr || viewers_ == nullptr)
        return false;
    const std::string_view ctx = request.target.query.get("hls_ctx");
    for (const std::string* folder : {&vhost.hls.path, &vhost.hls.key_file_path}) {
        const std::string above = whole_folder(*folder);
        auto stream = vhost.hls.enabled && path.starts_with(above)
                          ? service::hls::stream_of_media(vhost.hls, std::string_view(path).substr(above.size()))
                          : std::nullopt;
        if (!stream)
            continue;
        stream->vhost = request.vhost();
        if (sessions_->plays(ctx, *stream))
            return true;
    }
    const std::string& form = vhost.dash.mpd_file;
    const std::string mpd = path.substr(0, path.rfind('/')) + form.substr(std::min(form.rfind('.'), form.size()));
    const auto stream = vhost.dash.enabled ? service::files::match_name(whole_path(vhost.dash.path, form), mpd) : std::nullopt;
    return stream && viewers_->plays(request, {vhost.name, stream->app, stream->stream, {}});
}

std::optional<session::http::FilePlace> VhostFiles::find(const session::http::Request& request) const {
    const Vhost* asked = settings_->find_vhost(request.vhost());
    const std::string name = asked == nullptr ? "" : asked->name;
    if (asked != nullptr)
        if (auto place = match(*asked, request.path(), name))
            return place;
    // A mount without [vhost] is on every host.
    for (const Vhost& vhost : settings_->vhosts)
        if (&vhost != asked && !vhost.http_static.mount.starts_with(kVhostMark))
            if (auto place = match(vhost, request.path(), name))
                return place;
    return session::http::FilePlace{settings_->http_server.dir, request.path(), name};
}

}  // namespace live::app
