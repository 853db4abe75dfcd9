#include "service/recordings/playback_session.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/log/log_format.hpp"
#include "base/net/ip_network.hpp"
#include "io/fibers/loop.hpp"
#include "service/recordings/recorded_playlist.hpp"
#include "session/http/file_body.hpp"
#include "wire/http/byte_range.hpp"
#include "wire/http/status.hpp"

namespace live::service::recordings {

namespace http = session::http;
namespace mp4 = wire::mp4;

namespace {

using wire::http::ByteRange;
using wire::http::Status;

constexpr std::string_view kMovieType = "video/mp4";

std::uint64_t bytes_of(const PlaybackSource::Part& part) {
    std::uint64_t bytes = part.head.size();
    for (const mp4::FileRange& range : part.media)
        bytes += range.count;
    return bytes;
}

int status_of(Errc code) {
    switch (code) {
        case Errc::not_found:
        case Errc::unsupported: return Status::not_found;
        case Errc::malformed: return Status::bad_request;
        case Errc::denied: return Status::forbidden;
        case Errc::limit:
        case Errc::timed_out: return Status::service_unavailable;
        default: return Status::internal_server_error;
    }
}

}  // namespace

std::optional<io::Party> party_of(const std::string& peer_ip) {
    const auto address = parse_ip(peer_ip);
    return address.ok() ? std::optional<io::Party>(address->bytes) : std::nullopt;
}

http::Reply playback_error(int status, std::string_view sentence) {
    return {.status = status, .content_type = "application/json", .body = error_text(sentence), .headers = {}};
}

PlaybackSession::PlaybackSession(http::Exchange& exchange, const PlaybackContext& context, session::ClientRequest request,
                                 session::StreamPlan plan, PlaybackRequest asked)
    : exchange_(exchange),
      context_(context),
      request_(std::move(request)),
      plan_(std::move(plan)),
      asked_(std::move(asked)),
      entry_(context.clients, *this) {}

void PlaybackSession::kick(std::string reason) {
    LOG_INFO(exchange_.log(), "client finished. reason=\"{}\"", reason);
    kick_reason_ = std::move(reason);
    exchange_.stream().close();
}

Result<void> PlaybackSession::run(io::Deadline deadline) {
    session::StreamStay stay(entry_, plan_, io::now());
    auto ended = play(deadline);
    if (!kick_reason_.empty())
        ended = Error(Errc::closed, kick_reason_);
    stay.end(ended);
    return ended;
}

Result<void> PlaybackSession::play(io::Deadline deadline) {
    if (asked_.format == PlaybackRequest::Format::cues)
        return send_cues(deadline);
    if (asked_.format == PlaybackRequest::Format::segment || asked_.format == PlaybackRequest::Format::init)
        return send_file_part(deadline);
    const auto span = find_span();
    if (!span.ok())
        return refuse(span.error(), deadline);
    return asked_.format == PlaybackRequest::Format::fmp4 ? play_fragments(*span, deadline) : play_movie(*span, deadline);
}

Result<void> PlaybackSession::play_fragments(const Span& span, io::Deadline deadline) {
    if (span.duration <= kKeptFragmentsMax && span.files.size() <= kKeptFilesMax) {
        auto source = PlaybackSource::of_files(span.files, party_of(request_.peer_ip));
        const auto kept = find_kept(source, span, deadline);
        if (!kept.ok())
            return refuse(kept.error(), deadline);
        if (*kept != nullptr)
            return send_kept(source, **kept, deadline);
    }
    auto source = open(span, deadline);
    return source.ok() ? send_fragments(*source, deadline) : refuse(source.error(), deadline);
}

// The header of a short span is shared with equal requests; that of a long one is computed while it is sent.
Result<void> PlaybackSession::play_movie(const Span& span, io::Deadline deadline) {
    if (span.duration <= kKeptDurationMax && span.files.size() <= kKeptFilesMax) {
        auto source = PlaybackSource::of_files(span.files, party_of(request_.peer_ip));
        const auto kept = find_kept(source, span, deadline);
        if (!kept.ok())
            return refuse(kept.error(), deadline);
        if (*kept != nullptr)
            return send_kept(source, **kept, deadline);
    }
    auto source = count(span, deadline);
    return source.ok() ? send_movie(*source, deadline) : refuse(source.error(), deadline);
}

Result<KeptMovies::Movie> PlaybackSession::find_kept(PlaybackSource& source, const Span& span, io::Deadline deadline) {
    const bool is_fragmented = asked_.format == PlaybackRequest::Format::fmp4;
    const std::string key =
        (is_fragmented ? "fragments " : "movie ") + TRY(source.key_of(span.files, span.start, span.duration, deadline));
    const auto make = [this, &span](io::Deadline limit) { return make_kept(span, limit); };
    return context_.library.movies().find(key, make, deadline);
}

Result<KeptMovies::Movie> PlaybackSession::make_kept(const Span& span, io::Deadline deadline) const {
    const bool is_fragmented = asked_.format == PlaybackRequest::Format::fmp4;
    auto source = TRY(is_fragmented ? open(span, deadline) : count(span, deadline));
    return is_fragmented ? source.whole_fragments(deadline) : source.whole_header(deadline);
}

Result<PlaybackSource> PlaybackSession::count(const Span& span, io::Deadline deadline) const {
    auto source = TRY(open(span, deadline));
    TRY(source.count(deadline));
    return source;
}

Result<void> PlaybackSession::refuse(const Error& error, io::Deadline deadline) {
    if (error.code() == Errc::cancelled)
        return error;
    LOG_INFO(exchange_.log(), "playback of {}: {}", plan_.url, error.text());
    return exchange_.send(playback_error(status_of(error.code()), error.sentence()), deadline);
}

// Without a start: from the first recording on; without a duration: to the end of its span.
Result<PlaybackSession::Span> PlaybackSession::find_span() const {
    const RecordedStream* const stream = context_.library.index().find(plan_.url);
    if (stream == nullptr)
        return Error(Errc::not_found, "there is no recording of this stream");
    const auto from = asked_.start_at(wall_now());
    const auto spans = spans_of(*stream, from, std::nullopt);
    if (spans.empty())
        return Error(Errc::not_found, "there is no recording of this time");
    WallTime start = from.value_or(spans.front().start);
    MediaTime duration = asked_.duration.value_or(spans.front().start + spans.front().duration - start);
    auto files = files_from(*stream, start, duration);
    if (files.empty())
        return Error(Errc::not_found, "there is no recording of this time");
    // Between two recordings nothing can be shown: it begins with the later one.
    if (files.front().start > start) {
        duration -= files.front().start - start;
        start = files.front().start;
    }
    return Span{std::move(files), start, duration};
}

Result<PlaybackSource> PlaybackSession::open(const Span& span, io::Deadline deadline) const {
    return PlaybackSource::open(span.files, span.start, span.duration, party_of(request_.peer_ip), deadline);
}

Result<void> PlaybackSession::send_bytes(Bytes bytes, io::Deadline deadline) {
    sent_bytes_ += bytes.size();
    exchange_.traffic().sent_bytes += bytes.size();
    return exchange_.stream().write_all(std::array{io::as_part(bytes)}, deadline.sooner(io::Deadline::after(kStallLimit)));
}

Result<void> PlaybackSession::send_range(PlaybackSource& source, const mp4::FileRange& range, std::string head,
                                         io::Deadline deadline) {
    const io::File* const file = TRY(source.file(range.file, deadline));
    sent_bytes_ += head.size() + range.count;
    return http::send_file_bytes(exchange_, head, *file, range.offset, range.count, deadline);
}

// Its bytes are those of the file; only the times in the headers of fragments differ.
Result<void> PlaybackSession::send_file_part(io::Deadline deadline) {
    const RecordedStream* const stream = context_.library.index().find(plan_.url);
    const RecordingFile* const found = stream == nullptr ? nullptr : file_at(*stream, *asked_.start);
    if (found == nullptr)
        return refuse(Error(Errc::not_found, "no recording begins at this time"), deadline);
    const RecordingFile file = *found;
    auto source = PlaybackSource::of_files({file}, party_of(request_.peer_ip));
    std::vector<PlaybackSource::Part> parts;
    if (asked_.format == PlaybackRequest::Format::init) {
        auto header = source.file_header(file.bytes, deadline);
        if (!header.ok())
            return refuse(header.error(), deadline);
        parts.push_back(*std::move(header));
    } else {
        const auto& [offset, bytes, at] = asked_.segment;
        auto segment = source.file_segment(file.bytes, offset, bytes, at, deadline);
        if (!segment.ok())
            return refuse(segment.error(), deadline);
        parts = *std::move(segment);
    }
    http::Head head;
    head.content_type = kMovieType;
    head.end = http::BodyEnd::length;
    for (const auto& part : parts)
        head.length += bytes_of(part);
    head.headers.emplace_back("Cache-Control", "max-age=3600");
    TRY(exchange_.send_head(head, deadline));
    for (const auto& part : parts)
        if (!exchange_.request().is_head())
            TRY(send_part(source, part, deadline));
    return {};
}

Result<void> PlaybackSession::send_cues(io::Deadline deadline) {
    const RecordedStream* const stream = context_.library.index().find(plan_.url);
    const RecordingFile* const found = stream == nullptr ? nullptr : file_at(*stream, *asked_.start);
    if (found == nullptr)
        return refuse(Error(Errc::not_found, "no recording begins at this time"), deadline);
    const RecordingFile file = *found;
    const auto map = context_.library.maps().find(file, party_of(request_.peer_ip), deadline);
    if (!map.ok())
        return refuse(map.error(), deadline);
    auto text = text_segment(**map, asked_.segment.offset, asked_.segment.at, asked_.language);
    if (!text)
        return refuse(Error(Errc::not_found, "there is no such segment"), deadline);
    return exchange_.send({.content_type = "text/vtt", .body = *std::move(text), .headers = {{"Cache-Control", "no-cache"}}},
                          deadline);
}

Result<void> PlaybackSession::send_fragments(PlaybackSource& source, io::Deadline deadline) {
    http::Head head;
    head.content_type = kMovieType;
    const auto init = source.init(deadline);
    if (!init.ok())
        return refuse(init.error(), deadline);
    TRY(exchange_.send_head(head, deadline));
    if (exchange_.request().is_head())
        return {};
    TRY(send_part(source, {*init, {}}, deadline));
    for (;;) {
        const auto parts = TRY(source.next(deadline));
        if (parts.empty())
            break;
        for (const auto& part : parts)
            TRY(send_part(source, part, deadline));
    }
    return exchange_.body_end() == http::BodyEnd::chunks ? exchange_.finish_chunks(deadline) : Result<void>();
}

// One HTTP chunk, where there are chunks.
Result<void> PlaybackSession::send_part(PlaybackSource& source, const PlaybackSource::Part& part, io::Deadline deadline) {
    const bool has_chunks = exchange_.body_end() == http::BodyEnd::chunks;
    std::string head = has_chunks ? fmt::format("{:x}\r\n", bytes_of(part)) : std::string();
    head += as_text(part.head);
    for (const mp4::FileRange& range : part.media)
        if (range.count > 0)
            TRY(send_range(source, range, std::exchange(head, {}), deadline));
    if (has_chunks)
        head += "\r\n";
    return head.empty() ? Result<void>() : send_bytes(as_bytes(head), deadline);
}

// Answers requests for no bytes and for bytes that do not exist.
Result<PlaybackSession::Answer> PlaybackSession::begin_answer(std::uint64_t size, io::Deadline deadline) {
    const auto range = wire::http::parse_range_header(exchange_.request().message.headers.find("Range").value_or(""), size);
    if (range.answer == ByteRange::Answer::unsatisfiable) {
        auto reply = playback_error(Status::range_not_satisfiable, "the file ends before this range");
        reply.headers.emplace_back("Content-Range", wire::http::content_range(range, size));
        TRY(exchange_.send(reply, deadline));
        return Answer();
    }
    const bool is_part = range.answer == ByteRange::Answer::part;
    http::Head head;
    head.content_type = kMovieType;
    head.end = http::BodyEnd::length;
    head.length = is_part ? range.count : size;
    head.headers.emplace_back("Accept-Ranges", "bytes");
    if (is_part) {
        head.status = Status::partial_content;
        head.headers.emplace_back("Content-Range", wire::http::content_range(range, size));
    }
    if (exchange_.request().is_head() || head.length == 0) {
        TRY(exchange_.send_head(head, deadline));
        return Answer();
    }
    return Answer{is_part ? range.first : 0, head.length, exchange_.head_text(head)};
}

// One that is not kept is made again up to a later range.
Result<void> PlaybackSession::send_movie(PlaybackSource& source, io::Deadline deadline) {
    const mp4::ExcerptMovie& movie = source.movie();
    auto answer = TRY(begin_answer(movie.bytes(), deadline));
    if (answer.count == 0)
        return {};
    const std::uint64_t in_header =
        answer.first < movie.header_bytes() ? std::min(movie.header_bytes() - answer.first, answer.count) : 0;
    if (in_header > 0) {
        if (!answer.head.empty())
            TRY(send_bytes(as_bytes(std::exchange(answer.head, {})), deadline));
        TRY(send_header(source, answer.first, in_header, deadline));
    }
    std::uint64_t skip = answer.first + in_header - std::min(movie.header_bytes(), answer.first + in_header);
    std::uint64_t count = answer.count - in_header;
    for (mp4::FileRange range : movie.ranges()) {
        const std::uint64_t passed = std::min(skip, range.count);
        skip -= passed;
        range.offset += passed;
        range.count = std::min(range.count - passed, count);
        count -= range.count;
        if (range.count > 0)
            TRY(send_range(source, range, std::exchange(answer.head, {}), deadline));
    }
    return answer.head.empty() ? Result<void>() : send_bytes(as_bytes(answer.head), deadline);
}

Result<void> PlaybackSession::send_header(PlaybackSource& source, std::uint64_t skip, std::uint64_t count,
                                          io::Deadline deadline) {
    while (count > 0) {
        const auto made = TRY(source.next_header(deadline));
        Bytes bytes(made);
        const auto passed = static_cast<std::size_t>(std::min<std::uint64_t>(skip, bytes.size()));
        skip -= passed;
        bytes = bytes.subspan(passed);
        bytes = bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(count, bytes.size())));
        count -= bytes.size();
        if (!bytes.empty())
            TRY(send_bytes(bytes, deadline));
    }
    return {};
}

// All parts of a file in one call.
Result<void> PlaybackSession::send_kept(PlaybackSource& source, const KeptMovie& movie, io::Deadline deadline) {
    auto answer = TRY(begin_answer(movie.bytes(), deadline));
    std::uint64_t skip = answer.first;
    std::uint64_t left = answer.count;
    // Returns the requested part of the next `count` bytes.
    const auto take = [&skip, &left](std::uint64_t count) {
        const std::uint64_t passed = std::min(skip, count);
        skip -= passed;
        const std::uint64_t taken = std::min(count - passed, left);
        left -= taken;
        return std::pair(passed, taken);
    };
    std::vector<http::FilePiece> pieces;
    std::string_view header = as_text(movie.header);
    std::string begin = std::move(answer.head);
    for (std::size_t at = 0; at < movie.pieces.size() && left > 0;) {
        const std::size_t file = movie.pieces[at].media.file;
        pieces.clear();
        for (; at < movie.pieces.size() && movie.pieces[at].media.file == file; ++at) {
            const KeptMovie::Piece& piece = movie.pieces[at];
            const auto [head_at, head_bytes] = take(piece.header_bytes);
            const std::string_view head = header.substr(static_cast<std::size_t>(head_at), static_cast<std::size_t>(head_bytes));
            header.remove_prefix(static_cast<std::size_t>(piece.header_bytes));
            const auto [media_at, media_bytes] = take(piece.media.count);
            if (head_bytes + media_bytes > 0)
                pieces.push_back({head, piece.media.offset + media_at, media_bytes});
        }
        if (pieces.empty())
            continue;
        if (!begin.empty() && pieces.front().head.size() <= kJoinedHeaderMax) {
            begin += pieces.front().head;
            pieces.front().head = begin;
        } else if (!begin.empty()) {
            pieces.insert(pieces.begin(), {.head = begin});
        }
        for (const http::FilePiece& piece : pieces)
            sent_bytes_ += piece.head.size() + piece.count;
        const io::File* const opened = TRY(source.file(file, deadline));
        TRY(http::send_file_pieces(exchange_, *opened, pieces, deadline));
        begin.clear();
    }
    return {};
}

}  // namespace live::service::recordings
