// PlaybackSession: one client that plays recordings: listed, counted and kicked like other players.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "service/recordings/playback_context.hpp"
#include "service/recordings/playback_request.hpp"
#include "service/recordings/playback_source.hpp"
#include "session/http/exchange.hpp"

namespace live::service::recordings {

class PlaybackSession final : private session::Client {
public:
    // A client that takes nothing for so long is disconnected.
    static constexpr std::chrono::seconds kStallLimit{60};
    // Longer spans, and those of more files, have a header for each request.
    static constexpr MediaTime kKeptDurationMax = std::chrono::minutes(30);
    static constexpr std::size_t kKeptFilesMax = 64;
    // The same for fragments, whose headers are larger.
    static constexpr MediaTime kKeptFragmentsMax = std::chrono::minutes(15);
    // A kept header of so many bytes is sent together with the media.
    static constexpr std::size_t kJoinedHeaderMax = 128 << 10;

    // Referenced objects outlive this. `plan` is that of the admitted player.
    PlaybackSession(session::http::Exchange& exchange, const PlaybackContext& context, session::ClientRequest request,
                    session::StreamPlan plan, PlaybackRequest asked);
    PlaybackSession(const PlaybackSession&) = delete;
    PlaybackSession& operator=(const PlaybackSession&) = delete;

    // Sends the excerpt. Returns the connection's errors; others are answered.
    Result<void> run(io::Deadline deadline);

private:
    const session::ClientRequest& request() const override { return request_; }
    session::ClientFigures figures() const override { return {.sent_bytes = sent_bytes_}; }
    void kick(std::string reason) override;

    // Recordings to be played, and the time in them.
    struct Span {
        std::vector<RecordingFile> files;
        WallTime start{};
        MediaTime duration{};
    };
    // The requested part of an answer whose size is known.
    struct Answer {
        std::uint64_t first = 0;
        std::uint64_t count = 0;  // zero: it has been answered
        std::string head;
    };

    Result<void> play(io::Deadline deadline);
    Result<void> play_fragments(const Span& span, io::Deadline deadline);
    Result<void> play_movie(const Span& span, io::Deadline deadline);
    Result<Span> find_span() const;
    Result<KeptMovies::Movie> find_kept(PlaybackSource& source, const Span& span, io::Deadline deadline);
    Result<KeptMovies::Movie> make_kept(const Span& span, io::Deadline deadline) const;
    Result<PlaybackSource> open(const Span& span, io::Deadline deadline) const;
    Result<PlaybackSource> count(const Span& span, io::Deadline deadline) const;
    Result<void> send_file_part(io::Deadline deadline);
    Result<void> send_cues(io::Deadline deadline);
    Result<void> send_fragments(PlaybackSource& source, io::Deadline deadline);
    Result<void> send_part(PlaybackSource& source, const PlaybackSource::Part& part, io::Deadline deadline);
    Result<Answer> begin_answer(std::uint64_t size, io::Deadline deadline);
    Result<void> send_movie(PlaybackSource& source, io::Deadline deadline);
    Result<void> send_header(PlaybackSource& source, std::uint64_t skip, std::uint64_t count, io::Deadline deadline);
    Result<void> send_kept(PlaybackSource& source, const KeptMovie& movie, io::Deadline deadline);
    Result<void> send_range(PlaybackSource& source, const wire::mp4::FileRange& range, std::string head, io::Deadline deadline);
    Result<void> send_bytes(Bytes bytes, io::Deadline deadline);
    Result<void> refuse(const Error& error, io::Deadline deadline);

    session::http::Exchange& exchange_;
    const PlaybackContext& context_;
    const session::ClientRequest request_;
    const session::StreamPlan plan_;
    const PlaybackRequest asked_;
    std::uint64_t sent_bytes_ = 0;
    std::string kick_reason_;
    session::ClientEntry entry_;
};

// The party of a client in the worker threads.
std::optional<io::Party> party_of(const std::string& peer_ip);

// The answer to an error before anything was sent.
session::http::Reply playback_error(int status, std::string_view sentence);

}  // namespace live::service::recordings
