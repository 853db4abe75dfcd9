// What an edge asks of an origin: dry, built from the stream's names and the options. The path of servers that a request has
// passed through goes with it (an argument of connect, a field of an HTTP request), so that a loop is detected at its second
// visit.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "engine/rtmp/client.hpp"
#include "service/relay/options.hpp"
#include "service/relay/origins/origin.hpp"
#include "session/common/admission.hpp"
#include "session/srt/call/call_url.hpp"
#include "session/srt/stream_id.hpp"

namespace live::service::relay {

// The requesting server.
struct Node {
    std::string server_id;
    std::string signature;
    std::string version;
    std::int64_t process_id = 0;
    std::string cluster_node{};  // its name in its cluster; empty: it is in none
};

// A stream at an origin.
struct Wanted {
    Origin origin;
    std::string vhost;  // at the origin; wire::rtmp::kDefaultVhost is named to it as the origin's own host
    std::string app;
    std::string stream;
    std::string query{};   // '?' and the client's parameters, without those that name a virtual host; or empty
    std::string target{};  // HTTP: path and query as a redirect gave them, instead of those made of the names
    // The address of the server that has redirected us there; empty for an origin that the operator has named.
    std::string sent_by{};
    bool is_trusted = true;  // it may be given a proof
};

// Servers in a path, including this one; a longer path is refused.
inline constexpr std::size_t kHopsMax = 8;
inline constexpr std::size_t kPathBytesMax = 1024;
inline constexpr std::size_t kRedirectBytesMax = 4096;

// Appends this server to the path. Errc::denied when it is already in the path, or the path becomes too long.
Result<std::string> extend_path(std::string_view path, std::string_view server_id);

// `vhost` is the edge's virtual host as named in the settings.
Wanted wanted_from(const Origin& origin, const session::ClientRequest& client, const std::string& vhost,
                   const ClusterOptions& options);
// Whether a proof for this request may go to where a redirect leads: to the same stream, and not out of TLS.
bool keeps_trust(const Wanted& from, const Wanted& to);
// What a redirect makes of it: a URL of a stream, rtmp(s)://host[:port]/app/stream or http(s)://...; of a place where the stream
// has the names it had, rtmp(s)://host[:port][/app]; or, in answer to an HTTP request, a path. Paths of HTTP end in .flv, or are
// "/": an API's do not. Errc::malformed, Errc::denied, Errc::limit.
Result<Wanted> follow_redirect(const Wanted& from, std::string_view url);

// How a request says that it is a server's: `path` is the extended path; `proof` is that of relay_proof.hpp, or empty; `has` is
// as in session::kRelayHasField; `url`, for another worker, is that of the source.
struct Introduction {
    std::string path;
    std::string proof{};
    std::optional<std::chrono::milliseconds> has{};
    std::string url{};
};
// The virtual host in session::kRelayVhostField, which the proof is for.
std::string stated_vhost(const Wanted& wanted);
engine::rtmp::ClientOptions rtmp_request(const Wanted& wanted, const ClusterOptions& options, const Node& node,
                                         const Introduction& introduction);
// A whole HTTP request, for FLV.
std::string flv_request(const Wanted& wanted, const Node& node, const Introduction& introduction);
// An SRT call. What the origin's address does not say of the stream id is made of the names, the client's query and the path:
// there is no room for a proof. Errc::limit when that is too long, and as forward::make_srt_destination().
Result<session::srt::CallUrl> srt_request(const Wanted& wanted, session::srt::Mode mode, std::string_view path);
// For the log: where the stream is requested, without its query.
std::string label_of(const Wanted& wanted);

// The protocol of the player that begins a pull, for follow_client; none for the players of other protocols.
std::optional<PullProtocol> protocol_of(const session::ClientRequest& player);

}  // namespace live::service::relay
