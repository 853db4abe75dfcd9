#include "service/dash/viewers.hpp"

#include <string_view>
#include <utility>

#include "base/bytes/random.hpp"
#include "io/fibers/loop.hpp"
#include "session/http/client.hpp"

namespace live::service::dash {

namespace http = session::http;

namespace {

// Part of the User-Agent header that is compared.
constexpr std::size_t kAgentBytesMax = 256;
// Entries allowed beyond twice the number of sessions.
constexpr std::size_t kOldMax = 64;

// In the URLs of segments.
constexpr std::string_view kSessionName = "dash_ctx";

// CTA-5004: measurements of the player, which differ in each request.
constexpr std::string_view kChanging = "CMCD";

// The session that a segment request names; empty if it names none that can exist.
std::string session_name_in(const http::Request& request) {
    const std::string_view name = request.target.query.get(kSessionName);
    return name.size() <= files::Sessions::kNameBytesMax ? std::string(name) : std::string();
}

session::ClientRequest player_of(const http::Request& request, const segments::StreamOfFiles& stream, const std::string& id) {
    auto client = session::http::client_of(request, session::ClientKind::hls_play, stream.vhost, stream.app, stream.stream);
    client.id = id;
    client.protocol = request.secure ? "https-dash" : "http-dash";
    client.page_url = request.message.headers.find("Referer").value_or("");
    client.extension = ".mpd";
    return client;
}

Error gone() { return {Errc::not_found, "this player has been disconnected"}; }

}  // namespace

std::string Viewers::key_of(const http::Request& request, const segments::StreamOfFiles& stream) const {
    const auto& headers = request.message.headers;
    const std::string_view agent = headers.find("User-Agent").value_or("");
    std::string key = stream.vhost + '/' + stream.app + '/' + stream.stream + '\n' + request.client_ip() + '\n';
    key.append(agent.substr(0, kAgentBytesMax));
    if (!guards(request, stream))
        return key;
    // Any client can claim an address in X-Forwarded-For.
    key.append("\n").append(request.peer_ip).append("\n").append(headers.find("Authorization").value_or(""));
    for (const auto& [name, value] : request.target.query.parameters())
        if (name != kChanging)
            key.append("\n").append(name).append("=").append(value);
    return key;
}

std::string Viewers::query_for(const http::Request& request, const segments::StreamOfFiles& stream) const {
    const files::Session* session = guards(request, stream) ? find(key_of(request, stream)) : nullptr;
    return session == nullptr ? std::string() : std::string(kSessionName) + "=" + session->request().id;
}

files::Session* Viewers::find_for_segment(const http::Request& request, const segments::StreamOfFiles& stream) const {
    if (!guards(request, stream))
        return find(key_of(request, stream));
    const std::string name = session_name_in(request);
    files::Session* const session = name.empty() ? nullptr : sessions_.find(name);
    if (session == nullptr)
        return nullptr;
    const session::ClientRequest& player = session->request();
    return player.vhost == stream.vhost && player.app == stream.app && player.stream == stream.stream ? session : nullptr;
}

files::Session* Viewers::find(const std::string& key) const {
    const auto found = ids_.find(key);
    if (found != ids_.end())
        return sessions_.find(found->second);
    // Another worker may have opened the session here.
    return sessions_.are_shared() ? sessions_.find(sessions_.name_for(key)) : nullptr;
}

bool Viewers::may_pull(const http::Request& request, const segments::StreamOfFiles& stream) const {
    return sessions_.may_pull(player_of(request, stream, ""));
}

// Entries outlive their sessions; stale ones are removed once they may be the majority.
void Viewers::forget_old() {
    if (ids_.size() >= 2 * sessions_.size() + kOldMax)
        std::erase_if(ids_, [this](const auto& entry) { return sessions_.find(entry.second) == nullptr; });
}

Result<std::optional<session::Redirect>> Viewers::admit(const http::Request& request, const segments::StreamOfFiles& stream,
                                                        io::Deadline deadline) {
    const std::string key = key_of(request, stream);
    if (files::Session* session = find(key)) {
        if (session->is_kicked())
            return gone();
        if (request.is_head())
            return std::optional<session::Redirect>();
        if (auto elsewhere = sessions_.send_on(*session))
            return elsewhere;
        session->touch(io::now());
        return std::optional<session::Redirect>();
    }
    // HEAD opens no session, but is subject to the access rules.
    if (request.is_head()) {
        TRY(sessions_.check(player_of(request, stream, "")));
        return std::optional<session::Redirect>();
    }
    forget_old();
    const std::string id = sessions_.name_for(key);
    if (auto elsewhere = TRY(sessions_.open(player_of(request, stream, id), stream.idle_limit, deadline)))
        return elsewhere;
    // For concurrent requests the later session counts; the other one ends when its idle limit expires.
    ids_[key] = id;
    return std::optional<session::Redirect>();
}

bool Viewers::guards(const http::Request& request, const segments::StreamOfFiles& stream) const {
    return sessions_.guards(player_of(request, stream, ""));
}

bool Viewers::plays(const http::Request& request, const segments::StreamOfFiles& stream) const {
    const files::Session* session = find_for_segment(request, stream);
    return session != nullptr && !session->is_kicked();
}

Result<void> Viewers::touch(const http::Request& request, const segments::StreamOfFiles& stream, io::Deadline deadline) {
    files::Session* session = find_for_segment(request, stream);
    if (session == nullptr) {
        const bool is_guarded = guards(request, stream);
        const std::string name = is_guarded ? session_name_in(request) : std::string();
        auto player = player_of(request, stream, name);
        // If another worker has the session, there is a guest here. Otherwise the rules give the reason of the refusal.
        if (!name.empty() && sessions_.is_elsewhere(name))
            TRY(sessions_.open(std::move(player), stream.idle_limit, deadline));
        else
            TRY(sessions_.check(player));
        if (!is_guarded)
            return {};
        session = find_for_segment(request, stream);
    }
    if (session == nullptr)
        return Error(Errc::denied, "this is for players that have got the MPD here");
    if (session->is_kicked())
        return gone();
    if (!request.is_head())
        session->touch(io::now());
    return {};
}

void Viewers::add_sent(const http::Request& request, const segments::StreamOfFiles& stream, std::uint64_t bytes) {
    const bool is_guarded = guards(request, stream);
    const std::string name = is_guarded ? session_name_in(request) : std::string();
    files::Session* const session = name.empty() ? find(key_of(request, stream)) : find_for_segment(request, stream);
    if (session != nullptr)
        session->add_sent(bytes);
    else if (sessions_.are_shared())
        sessions_.note_passing(name.empty() ? sessions_.name_for(key_of(request, stream)) : name, bytes);
}

}  // namespace live::service::dash
