// Admission: may this client publish or play this stream, and with which settings? Asked once before a session of any
// protocol begins. A higher room implements it (settings, rules about addresses and pages, callbacks). StreamEvents receives
// the events of admitted clients.
#pragma once

#include <charconv>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "media/ring/options.hpp"
#include "session/common/client_kind.hpp"
#include "session/common/credentials.hpp"
#include "session/common/traffic.hpp"

namespace live::session {

// The list of servers that a relayed request has passed. A longer one is cut off, which makes it a path that is too long. In HTTP
// it is a field of the request.
inline constexpr std::size_t kRelayPathBytesMax = 1024;
inline constexpr std::string_view kRelayPathField = "X-Millrace-Path";
// The proof that the request comes from a server of the same operator. A longer one is invalid.
inline constexpr std::size_t kRelayProofBytesMax = 256;
inline constexpr std::string_view kRelayProofField = "X-Millrace-Proof";
// The virtual host of a relay's request. It overrides the URL's, and the proof covers it.
inline constexpr std::size_t kRelayVhostBytesMax = 256;
inline constexpr std::string_view kRelayVhostField = "X-Millrace-Vhost";
// The name of a node.
inline constexpr std::size_t kRelayNodeBytesMax = 64;
// HTTP-FLV: with the path, the relay requests sync messages (media/ring/sync_message.hpp) and the source's own timeline. The same
// field in the response grants them. The response then outlasts the stream's publisher: a sync message reports the end.
inline constexpr std::string_view kRelaySyncField = "X-Millrace-Marks";
// The age of the newest media that the relay has of the stream, in milliseconds, so that it misses nothing: it has them from
// another node. With the path; of a relay that has none, and of one that has none of these seconds: no field.
inline constexpr std::string_view kRelayHasField = "X-Millrace-Has";
inline constexpr std::chrono::milliseconds kRelayHasMax{10'000};
// The trace of the request (W3C Trace Context), in HTTP a field, in RTMP an argument of connect.
inline constexpr std::size_t kTraceParentBytesMax = 64;
inline constexpr std::string_view kTraceParentField = "traceparent";
// An RTMP client's own arguments to connect, as AMF0. Longer ones are not kept.
inline constexpr std::size_t kConnectArgumentsBytesMax = 4096;

// The parameters by which a connection from another server describes itself, and those of other clients in the same place. They
// are not verified.
struct RelayClaims {
    // RTMP and HTTP live streams: the servers that the request has passed, as another edge lists them; see
    // service/relay/upstream/upstream_request.hpp. A client that invents a list is only refused by it.
    std::string path;
    // The proof of the path; see service/relay/relay_proof.hpp.
    std::string proof;
    // RTMP: the values after the command object of connect, as AMF0, of a client that is not a relay.
    std::string connect_arguments;
    // RTMP: the name that the other server has as a node of a cluster.
    std::string node{};
    // See kRelayHasField.
    std::optional<std::chrono::milliseconds> has{};
    // RTMP, with a path: as kRelayVhostField. In HTTP, session::http::Request::stream_vhost() reads it.
    std::string vhost{};
    // RTMP, another worker of this server: the URL of the source that it has admitted its client to; see Admission.
    std::string url{};
    // See kTraceParentField.
    std::string trace_parent{};

    bool is_empty() const { return path.empty() && proof.empty() && connect_arguments.empty() && trace_parent.empty(); }
};

// Parses an age in milliseconds, such as "340"; nullopt if the text is not a valid age.
inline std::optional<std::chrono::milliseconds> read_relay_has(std::string_view text) {
    std::uint32_t age = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), age);
    const bool is_age = failure == std::errc() && end == text.data() + text.size() && age <= kRelayHasMax.count();
    return is_age ? std::optional(std::chrono::milliseconds(age)) : std::nullopt;
}

// A client and its request. All texts come from the client; vhost, app and stream have passed the allow-list of names.
struct ClientRequest {
    std::string id;  // of the session, as in the log
    ClientKind kind = ClientKind::unknown;
    bool is_secure = false;  // over TLS, of this server or of a proxy in front of it
    // The other end of its connection is another worker of this server: it is neither admitted nor counted here.
    bool is_sibling = false;
    // Another worker of this server has admitted it: it is neither admitted nor counted here, but its stream is pulled.
    bool is_admitted = false;
    std::string ip;       // for display and callbacks; HTTP: as stated by a proxy (X-Forwarded-For, X-Real-IP), which anyone can
                          // forge
    std::string peer_ip;  // of the remote end of the connection: used by address rules
    std::string peer;     // the same with its port: "10.0.0.7:51544"
    // The exact protocol name: "rtmp", "rtmps", "http-flv", "wss-ts".
    std::string protocol;
    std::string vhost;
    std::string app;
    std::string stream;
    std::string param;     // the query, including '?'
    std::string tc_url;    // RTMP: as sent; HTTP and HLS: rtmp://VHOST/APP
    std::string page_url;  // RTMP: pageUrl; HTTP: the Referer field
    std::string swf_url;   // RTMP only
    // The extension after the stream's name in an HTTP player's URL: ".flv". For a recording: the path as requested.
    std::string extension{};
    // Owners: all copies of this request. nullptr for nearly all players, so that it costs them no memory.
    std::shared_ptr<const RelayClaims> claims{};
    // Likewise; nullptr without credentials outside of the query.
    std::shared_ptr<const Credentials> credentials{};

    bool is_relay() const { return claims != nullptr && !claims->path.empty(); }
    std::string_view relay_path() const { return claims == nullptr ? std::string_view() : claims->path; }
    // The query may contain a key.
    std::string tc_url_without_query() const { return tc_url.substr(0, tc_url.find('?')); }
};

// Settings of an admitted client.
struct StreamPlan {
    std::string url;                    // of the source
    std::string vhost;                  // name of the serving virtual host in the settings
    std::uint32_t chunk_size = 60'000;  // bytes; the stream is encoded once for all of its RTMP players
    // The client is a server of the same operator: callbacks are not called for it.
    bool is_trusted_relay = false;
    media::PlayOptions play;
    media::PublishOptions publish;
    // Publishers only: full URLs to forward the stream to, requested by an operator's service, instead of the configured ones.
    std::optional<std::vector<std::string>> forward_urls{};
    // SRT: the passphrase that an operator's service requires from this client instead of the configured one; empty: none.
    std::optional<std::string> srt_passphrase{};
    // The client's token or signed URL expires then, and its session ends.
    std::optional<std::chrono::sys_seconds> ends_at{};
    // The client has passed `access`, as this user of the conf, or without one by a token.
    bool has_access_rights = false;
    std::string user{};
};

// Another server that has the stream: "host:port" for each protocol. Empty where that is unknown; a client is sent only to an
// address for its protocol.
struct Redirect {
    std::string rtmp{};
    std::string http{};  // of live streams and files
    std::string api{};   // of WHEP
    // "name=value", added to the query there: marks a player that a cluster has redirected.
    std::string mark{};
    // To where the client is already: another process has the ports.
    bool is_here = false;
};

// The outcome for an admitted player.
using Served = std::variant<StreamPlan, Redirect>;

// The answer of admission. A switch over its kinds shows which callers must handle a new one.
class Answer {
public:
    enum class Kind : std::uint8_t { serve, pull, redirect, refuse };
    // The player is served like any other after this node has the stream, which Admission::pull() fetches.
    struct Pull {
        StreamPlan plan;
    };

    Answer(StreamPlan plan) : content_(std::move(plan)) {}
    Answer(Pull pull) : content_(std::move(pull)) {}
    // Players only: nothing is served here, and no event follows.
    Answer(Redirect redirect) : content_(std::move(redirect)) {}
    // The sentence is for the client: it gives the reason without revealing anything else. Errc::not_found when no virtual host
    // serves it, Errc::denied when something refuses.
    Answer(Error why) : content_(std::move(why)) {}

    Kind kind() const { return static_cast<Kind>(content_.index()); }
    // The plan, the redirect, or the refusal.
    Result<Served> served() && {
        switch (kind()) {
            case Kind::serve: return Served(std::get<StreamPlan>(std::move(content_)));
            case Kind::pull: return Served(std::get<Pull>(std::move(content_)).plan);
            case Kind::redirect: return Served(std::get<Redirect>(std::move(content_)));
            case Kind::refuse: break;
        }
        return std::get<Error>(std::move(content_));
    }

private:
    std::variant<StreamPlan, Pull, Redirect, Error> content_;  // in the order of the kinds
};

// Asked once per client. May take as long as the operator's callbacks do.
class Admission {
public:
    virtual ~Admission() = default;
    // Once admitted, call on_published and on_publish_ended; neither if the stream turns out to be taken.
    virtual Answer publish(const ClientRequest& request, io::Deadline deadline) = 0;
    // Once admitted (not redirected), on_play_ended must be called on every path: keep an AdmittedPlay.
    virtual Answer play(const ClientRequest& request, io::Deadline deadline) = 0;
    // For sessions that do not support pulls. Not inlined: the locals must not remain on the stack of a fiber that waits for
    // media afterwards.
    [[gnu::noinline]] Result<StreamPlan> serve_publish(const ClientRequest& request, io::Deadline deadline) {
        auto served = publish(request, deadline).served();
        if (!served.ok())
            return served.error();
        if (auto* plan = std::get_if<StreamPlan>(&*served))
            return std::move(*plan);
        return Error(Errc::denied, "the stream is published on another server");
    }
    [[gnu::noinline]] Result<Served> serve_play(const ClientRequest& request, io::Deadline deadline) {
        Answer answer = play(request, deadline);
        const bool pulls = answer.kind() == Answer::Kind::pull;
        auto served = std::move(answer).served();
        if (pulls)
            TRY(pull(request, std::get<StreamPlan>(*served), deadline));
        return served;
    }
    // For an answer of that kind: returns when the stream has media here. Errc::not_found after a timeout; the play has
    // ended then, and no event is due.
    virtual Result<void> pull(const ClientRequest& /*request*/, const StreamPlan& plan, io::Deadline /*deadline*/) {
        return Error(Errc::not_found, "there is no stream " + plan.url);
    }
    // Reports whether another server may provide a stream that this node does not have: by a pull, or by a redirect of the
    // player. Must not suspend.
    virtual bool may_pull(const ClientRequest& /*request*/) const { return false; }
    // Returns the server to which a player of this node should move, if this server is about to stop and another one is
    // available. Must not suspend.
    virtual std::optional<Redirect> send_on(const ClientRequest& /*request*/) const { return std::nullopt; }
    // Checks a player against the rules only, for a response that plays nothing (HEAD): virtual host, page, address. Calls no
    // callback and requires no event. Must not suspend.
    virtual Result<void> check_play(const ClientRequest& request) const = 0;
    // Whether the players of the stream are guarded, by on_play or by address rules: then its segments are for admitted sessions
    // only. Must not suspend.
    virtual bool guards_play(const ClientRequest& /*request*/) const { return false; }
};

// Receives what happens to clients and streams, after the fact and in order: the source of forwarding and callbacks. Must not
// suspend.
class StreamEvents {
public:
    virtual ~StreamEvents() = default;
    // An admitted publisher has acquired the stream.
    virtual void on_published(const ClientRequest& request, const StreamPlan& plan) = 0;
    // The publisher has left or was replaced: once for each on_published.
    virtual void on_publish_ended(const ClientRequest& request, const StreamPlan& plan) = 0;
    // The publisher has left without a successor.
    virtual void on_unpublished(const std::string& url) = 0;
    // The slate begins, after the publisher has left or before the first one: the stream continues without on_unpublished, until
    // on_published or on_unpublished. `request` names the stream.
    virtual void on_stand_in(const ClientRequest& /*request*/, const StreamPlan& /*plan*/) {}
    // Once for each admitted play.
    virtual void on_play_ended(const ClientRequest& request, const StreamPlan& plan) = 0;
    // The connection of a client that asked to publish or play is over, admitted or not: once each. Only for clients that connect
    // first (RTMP, SRT) and for posted streams, which callbacks treat as RTMP. `traffic` is that of this connection.
    virtual void on_closed(const ClientRequest& request, const Traffic& traffic) = 0;
};

// An admitted play for as long as it lives: reports its end once. Everything referred to outlives it.
class AdmittedPlay {
public:
    AdmittedPlay(StreamEvents& events, const ClientRequest& request, const StreamPlan& plan)
        : events_(events), request_(request), plan_(plan) {}
    ~AdmittedPlay() { events_.on_play_ended(request_, plan_); }
    AdmittedPlay(const AdmittedPlay&) = delete;
    AdmittedPlay& operator=(const AdmittedPlay&) = delete;

private:
    StreamEvents& events_;
    const ClientRequest& request_;
    const StreamPlan& plan_;
};

}  // namespace live::session
