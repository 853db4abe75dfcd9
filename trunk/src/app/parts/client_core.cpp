#include "app/parts/client_core.hpp"

#include <algorithm>

#include "app/memory/memory_keeper.hpp"
#include "app/start/log_file.hpp"
#include "base/log/log_format.hpp"

namespace live::app {

namespace {

// The master rotates the files of its workers.
io::LineWriter::Rotation access_log_rotation(const settings::Settings& settings, const ServerNames& names) {
    return names.identity().is_worker() ? io::LineWriter::Rotation{} : rotation_of(settings.log);
}

// The files of all virtual hosts, also of disabled ones.
std::vector<std::string> key_files(const settings::Settings& settings) {
    std::vector<std::string> files;
    for (const settings::Vhost& vhost : settings.vhosts)
        if (vhost.access.enabled)
            files.insert(files.end(), vhost.access.key_files.begin(), vhost.access.key_files.end());
    return files;
}

}  // namespace

ClientCore::ClientCore(const settings::CurrentSettings& settings, const ServerNames& names, media::StreamTable& streams,
                       std::size_t connections_max, const Log& log)
    : settings_(settings),
      names_(names),
      streams_(streams),
      log_(log),
      vhosts_(settings),
      stats_(streams),
      access_log_(settings->access_log, access_log_rotation(*settings, names), vhosts_, log),
      tokens_([&settings] { return key_files(settings.coming()); }, table_, log),
      users_([&settings] { return settings.coming().users; }, log),
      places_(connections_max, log, settings->limits) {
    set_limits(connections_max);
    if (names.shared_limits() != nullptr)
        places_.share(*names.shared_limits());
    stats_.share_ids(names.workers_secret);
    table_.add_watcher(stats_);
    table_.add_watcher(access_log_);
}

void ClientCore::set_limits(std::size_t connections_max) {
    places_.set_limits(connections_max, settings_->limits);
    const std::size_t configured = std::size_t{settings_->limits.memory_budget} << 20;
    const std::size_t memory = configured > 0 ? configured : usual_memory_budget();
    places_.memory().set_max(memory, memory / std::max<std::size_t>(names_.identity().count, 1));
    LOG_INFO(log_, "limits: {} connections, {} MiB of memory", connections_max, memory >> 20);
}

void ClientCore::apply_vhosts(const service::admission::VhostPolicy& vhosts) {
    table_.for_each([&](session::ClientEntry& client) {
        const session::ClientRequest& request = client.client().request();
        if (request.vhost.empty())
            return;
        const auto vhost = vhosts.rules_of(request.vhost);
        if (!vhost.ok()) {
            client.kick(vhost.error().sentence());
            return;
        }
        const auto source = streams_.find(service::admission::stream_url(vhost->name, request.app, request.stream));
        if (source) {
            source->set_options(vhost->play);
            source->wire_logs().set_chunk_size(vhost->rtmp.chunk_size);
        }
    });
}

void ClientCore::apply_access(const service::admission::AccessPolicy& access) {
    using service::access::Role;
    const auto now = service::tokens::unix_now();
    table_.for_each([&](session::ClientEntry& client) {
        if (client.plan() == nullptr || !client.plan()->has_access_rights)
            return;
        const session::ClientRequest& request = client.client().request();
        const Role role = is_publisher(request.kind) ? Role::publish : Role::play;
        if (const auto allowed = access.check_again(request, role, client.plan()->user, now);
            !allowed.ok() && allowed.code() != Errc::limit)
            client.kick("a reload: " + allowed.error().sentence());
    });
}

void ClientCore::kick_publisher(const std::string& url, const std::string& why) {
    table_.for_each([&](session::ClientEntry& client) {
        const session::ClientKind kind = client.client().request().kind;
        const bool publishes = client.plan() != nullptr && client.plan()->url == url && is_publisher(kind);
        if (publishes && kind != session::ClientKind::relay_pull)
            client.kick(why);
    });
}

void ClientCore::ask_publishers_to_leave() {
    table_.for_each([](session::ClientEntry& client) {
        if (client.plan() != nullptr && is_publisher(client.client().request().kind))
            client.ask_to_leave("the server is about to stop");
    });
}

void ClientCore::add_services(service::ServiceList& services) {
    services.add(stats_);
    services.add(access_log_);
    services.add(tokens_);
    services.add(users_);
}

}  // namespace live::app
