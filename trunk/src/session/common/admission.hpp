// Admission: may this client publish or play this stream, and with which settings? The one question asked before a session
// begins, whatever the protocol. The answer comes from higher up (settings, rules about addresses and pages, callbacks); sessions
// only know this interface. What became of a client that was let in is told to StreamEvents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "io/deadline.hpp"
#include "media/options.hpp"
#include "session/common/client_kind.hpp"
#include "session/common/traffic.hpp"

namespace live::session {

// Who asks for what. All texts come from the client; vhost, app and stream have passed the allow-list of names.
struct ClientRequest {
    std::string id;  // of the session, as in the log
    ClientKind kind = ClientKind::unknown;
    std::string ip;       // to show and to tell; HTTP: as a proxy says it (X-Forwarded-For, X-Real-IP), which anybody can claim
    std::string peer_ip;  // of the connection's other end: what rules about addresses look at
    std::string peer;     // the same with its port: "10.0.0.7:51544"
    // What it speaks, to the letter: "rtmp", "rtmps", "http-flv", "wss-ts".
    std::string protocol;
    std::string vhost;
    std::string app;
    std::string stream;
    std::string param;     // the query, with its '?'
    std::string tc_url;    // RTMP: as sent; HTTP and HLS: rtmp://VHOST/APP
    std::string page_url;  // RTMP: pageUrl; HTTP: the Referer field
    std::string swf_url;   // RTMP only
    // What a player over HTTP wrote behind the stream's name: ".flv".
    std::string extension{};

    // The query may hold a key.
    std::string tc_url_without_query() const { return tc_url.substr(0, tc_url.find('?')); }
};

// What an admitted client works with.
struct StreamPlan {
    std::string url;                    // of the source
    std::string vhost;                  // the virtual host that serves it, by its name in the settings
    std::uint32_t chunk_size = 60'000;  // bytes; the stream is encoded once for all of its RTMP players
    media::PlayOptions play;
    media::PublishOptions publish;
    // A publisher's: full URLs that an operator's service wants the stream pushed to, in place of the configured ones.
    std::optional<std::vector<std::string>> forward_urls{};
};

// What admission says to a client. There is room for more kinds, and a switch over them names whoever has to know one: to be sent
// elsewhere, or to be served what is to be pulled from there.
class Answer {
public:
    enum class Kind : std::uint8_t { serve, refuse };

    Answer(StreamPlan plan) : content_(std::move(plan)) {}
    // The sentence is for the client: it says why in words that give nothing else away. Errc::not_found when no virtual host
    // serves it, Errc::denied when something refuses.
    Answer(Error why) : content_(std::move(why)) {}

    Kind kind() const { return static_cast<Kind>(content_.index()); }
    // The plan, or why not.
    Result<StreamPlan> served() && {
        switch (kind()) {
            case Kind::serve: return std::get<StreamPlan>(std::move(content_));
            case Kind::refuse: break;
        }
        return std::get<Error>(std::move(content_));
    }

private:
    std::variant<StreamPlan, Error> content_;  // in the order of the kinds
};

// Asked once a client. May take as long as the operator's callbacks do.
class Admission {
public:
    virtual ~Admission() = default;
    // Once admitted, tell on_published and on_publish_ended; nothing when the stream turns out to be somebody else's.
    virtual Answer publish(const ClientRequest& request, io::Deadline deadline) = 0;
    // Once admitted, on_play_ended has to be told on whatever path: keep an AdmittedPlay.
    virtual Answer play(const ClientRequest& request, io::Deadline deadline) = 0;
    // For protocols that can do nothing else with a client than serve it. Not inlined: what they ask is not to stay on the stack
    // of a fiber that waits for media afterwards.
    [[gnu::noinline]] Result<StreamPlan> serve_publish(const ClientRequest& request, io::Deadline deadline) {
        return publish(request, deadline).served();
    }
    [[gnu::noinline]] Result<StreamPlan> serve_play(const ClientRequest& request, io::Deadline deadline) {
        return play(request, deadline).served();
    }
    // What the rules say of a player, for an answer that plays nothing (HEAD): virtual host, page, address. No callback is asked,
    // nothing has to be told. Must not suspend.
    virtual Result<void> check_play(const ClientRequest& request) const = 0;
};

// Told what becomes of clients and streams, after the fact and in the order it happens: forwarding and callbacks live from it.
// Must not suspend.
class StreamEvents {
public:
    virtual ~StreamEvents() = default;
    // An admitted publisher has got the stream.
    virtual void on_published(const ClientRequest& request, const StreamPlan& plan) = 0;
    // It has gone, or was replaced: once for each on_published.
    virtual void on_publish_ended(const ClientRequest& request, const StreamPlan& plan) = 0;
    // Nobody publishes the stream any more.
    virtual void on_unpublished(const std::string& url) = 0;
    // Once for each play that was admitted.
    virtual void on_play_ended(const ClientRequest& request, const StreamPlan& plan) = 0;
    // The connection of a client that asked to publish or play is over, admitted or not: once for each. Only of clients that
    // connect first (RTMP, SRT) and of posted streams, which callbacks take for RTMP. `traffic` is this connection's.
    virtual void on_closed(const ClientRequest& request, const Traffic& traffic) = 0;
};

// An admitted play, as long as it lives: tells its end once. What is referred to outlives it.
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
