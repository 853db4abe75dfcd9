// PlaySession: one HTTP or WebSocket player of a live stream, from its request to the last byte. It checks admission, waits for
// the publisher if there is none yet, decides which kinds the player gets, and leaves the sending to Player. It ends when the
// publisher leaves. Another node that requests sync messages gets every packet at once, with the ends of publishers in between.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/bytes/ref.hpp"
#include "base/signal.hpp"
#include "engine/websocket/frame_reader.hpp"
#include "io/fibers/deadline.hpp"
#include "media/source/wire_cursor.hpp"
#include "session/fan_out/end_watch.hpp"
#include "session/fan_out/player.hpp"
#include "session/http/exchange.hpp"
#include "session/http_live/context.hpp"
#include "session/http_live/tracks.hpp"

namespace live::session::http_live {

// Response head for a player: nothing follows it on this connection.
http::Head head_of(const Mount& mount);

class PlaySession final : private PlayerProtocol, private Client {
public:
    // Everything referred to outlives this.
    PlaySession(http::Exchange& exchange, Context& context, ClientRequest request, MountedUrl url);

    // Answers, and runs until the stream or the connection ends; returns that error.
    Result<void> run(io::Deadline deadline);

private:
    struct Start {
        Tracks tracks;
        std::optional<media::Sequence> from;  // for a player that has waited
    };

    // False: the player has been sent to another server.
    Result<bool> admit(io::Deadline deadline);
    Result<void> find_source();
    Result<void> refuse(const Error& error, io::Deadline deadline);
    Result<void> stream(io::Deadline deadline);
    bool requests_sync() const;
    Result<void> send_head(io::Deadline deadline);
    Result<void> send_head_ahead(const std::string& text, io::Deadline deadline);
    Result<void> accept_websocket(io::Deadline deadline);
    Result<void> finish(io::Deadline deadline);
    Result<void> receive(Bytes input);
    Result<void> answer(Bytes bytes);
    Result<void> say_goodbye(Bytes bytes, Error why);
    Result<Start> wait_for_media(io::Deadline deadline);
    Result<void> prepare(const Start& start, io::Deadline deadline);
    Result<void> play(io::Deadline deadline);
    media::WireFormat format_for(const Tracks& tracks) const;
    // Client
    const ClientRequest& request() const override { return request_; }
    ClientFigures figures() const override;
    void kick(std::string reason) override;
    // PlayerProtocol
    Result<Step> on_readable() override;
    Result<void> on_caught_up() override;
    bool is_over() override;

    http::Exchange& exchange_;
    Context& context_;
    const ClientRequest request_;
    StreamPlan plan_;
    const MountedUrl url_;
    Ref<media::Source> source_;
    media::Framing framing_ = media::Framing::none;
    std::unique_ptr<engine::websocket::FrameReader> frames_;  // by WebSocket only: it takes 190 bytes of every player
    std::optional<media::WireCursor> cursor_;
    std::optional<Player> player_;
    std::optional<EndWatch> end_watch_;  // while playing
    bool gets_sync_ = false;
    std::unique_ptr<std::string> kick_reason_;
    std::unique_ptr<Error> goodbye_;  // why nothing follows the last answer
    ClientEntry entry_;
};

}  // namespace live::session::http_live
