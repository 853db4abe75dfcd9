// The requests of an edge to an origin: dry, built from the stream's names and the options. Each carries the path of servers that
// it has passed (an argument of connect, a field of an HTTP request), so that a loop is detected at its second visit.
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
    std::string cluster_node{};  // its name in its cluster; empty: without a cluster
};

// A stream at an origin.
struct Wanted {
    Origin origin;
    std::string vhost;  // at the origin; wire::rtmp::kDefaultVhost is sent as the origin's own host
    std::string app;
    std::string stream;
    std::string query{};   // '?' and the client's parameters, without those that name a virtual host; or empty
    std::string target{};  // HTTP: path and query as a redirect gave them, instead of those made of the names
    // The address of the server that has redirected the pull; empty for an origin that the operator has listed.
    std::string sent_by{};
    bool is_trusted = true;  // it may receive a proof
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
// Reports whether the target of a redirect may receive a proof: it is the same stream, and the redirect does not leave TLS.
bool keeps_trust(const Wanted& from, const Wanted& to);
// Applies a redirect to a request. The URL is that of a stream, rtmp(s)://host[:port]/app/stream or http(s)://...; of a server
// where the stream has the same names, rtmp(s)://host[:port][/app]; or, in answer to an HTTP request, a path. HTTP paths end in
// .flv, or are "/", so that no API is called. Errc::malformed, Errc::denied, Errc::limit.
Result<Wanted> follow_redirect(const Wanted& from, std::string_view url);

// The fields that mark a request as a server's: `path` is the extended path; `proof` is a proof of relay_proof.hpp, or empty;
// `has` is as in session::kRelayHasField; `url` is the source's, for another worker; `trace_parent` is as in
// session::kTraceParentField, or empty.
struct Introduction {
    std::string path;
    std::string proof{};
    std::optional<std::chrono::milliseconds> has{};
    std::string url{};
    std::string trace_parent{};
};
// Returns the virtual host for session::kRelayVhostField and the proof.
std::string stated_vhost(const Wanted& wanted);
engine::rtmp::ClientOptions rtmp_request(const Wanted& wanted, const ClusterOptions& options, const Node& node,
                                         const Introduction& introduction);
// Returns a whole HTTP request for FLV.
std::string flv_request(const Wanted& wanted, const Node& node, const Introduction& introduction);
// Returns an SRT call. Unless the origin's address contains the stream id, it is made from the names, the client's query and the
// path; it has no room for a proof. Errc::limit when it is too long; other errors as forward::make_srt_destination().
Result<session::srt::CallUrl> srt_request(const Wanted& wanted, session::srt::Mode mode, std::string_view path);
// Returns the requested URL without its query, for the log.
std::string label_of(const Wanted& wanted);

// Returns the protocol of the player that starts a pull, for follow_client; nullopt for other protocols.
std::optional<PullProtocol> protocol_of(const session::ClientRequest& player);

}  // namespace live::service::relay
