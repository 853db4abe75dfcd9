#include "session/http/static_handler.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/files/file.hpp"
#include "session/http/exchange.hpp"
#include "session/http/file_body.hpp"
#include "session/http/flv_start.hpp"
#include "session/http/mime.hpp"
#include "session/http/status_for.hpp"
#include "wire/http/byte_range.hpp"
#include "wire/http/date.hpp"
#include "wire/http/status.hpp"

namespace live::session::http {

namespace {

using wire::http::ByteRange;

using wire::http::Status;

using Fields = std::vector<std::pair<std::string, std::string>>;

Reply text_reply(int status, std::string sentence, Fields fields = {}) {
    return {status, "text/plain", std::move(sentence) + "\n", std::move(fields)};
}

// For a person at a browser the folder's own page, if it has one; programs get a sentence.
Reply missing_reply(const Request& request, const std::string& folder, io::Deadline deadline) {
    constexpr const char* kPage = "404.html";
    constexpr std::size_t kPageBytesMax = 64 << 10;
    Reply sentence = text_reply(Status::not_found, "there is no such file");
    if (request.message.headers.find("Accept").value_or("").find("text/html") == std::string_view::npos)
        return sentence;
    const auto page = io::File::open_below(folder, kPage, deadline);
    if (!page.ok() || page->facts().is_folder || page->facts().size > kPageBytesMax)
        return sentence;
    const auto text = page->read(0, kPageBytesMax, deadline);
    if (!text.ok())
        return sentence;
    return {Status::not_found, std::string(mime_of(kPage)), std::string(as_text(*text)), {{"Cache-Control", "no-cache"}}};
}

// The same answer for missing and for forbidden files.
Reply reply_to(const Error& error, const Request& request, const std::string& folder, io::Deadline deadline) {
    if (error.code() == Errc::not_found || error.code() == Errc::denied)
        return missing_reply(request, folder, deadline);
    return text_reply(Status::service_unavailable, "the server is too busy to read this file");
}

// To the same URL with a trailing slash, so that relative links of the page resolve.
Reply folder_redirect(const Request& request) {
    const std::string& path = request.path();
    std::string location;
    // Exactly one leading slash: two would name another host.
    for (std::size_t at = std::min(path.find_first_not_of('/'), path.size()); at < path.size();) {
        const std::size_t end = std::min(path.find('/', at), path.size());
        location += '/' + wire::http::percent_encode(std::string_view(path).substr(at, end - at));
        at = end + 1;
    }
    location += '/';
    if (!request.target.raw_query.empty())
        location += '?' + request.target.raw_query;
    return {Status::found, "text/plain", "", {{"Location", std::move(location)}}};
}

// RFC 9110, 13.1: a list of tags takes precedence over a date.
bool client_has_it(const Request& request, const content::ServedFile& file, std::string_view tag) {
    const auto& headers = request.message.headers;
    if (const auto tags = headers.find("If-None-Match"))
        return *tags == "*" || tags->find(tag) != std::string_view::npos;
    const auto since = wire::http::parse_date(headers.find("If-Modified-Since").value_or(""));
    return since && file.modified() <= *since;
}

std::optional<std::uint64_t> number_of(std::string_view text) {
    std::uint64_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    return read.ec == std::errc() && read.ptr == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// The Range header, or range= and bytes= for players that cannot set one.
ByteRange range_of(const Request& request, const content::ServedFile& file) {
    const std::uint64_t size = file.facts().size;
    for (const char* name : {"range", "bytes"})
        if (const auto asked = request.target.query.find(name))
            return wire::http::parse_range(*asked, size);
    const auto& headers = request.message.headers;
    // Only for the very file that the client has begun (RFC 9110, 13.1.5).
    if (const auto of = headers.find("If-Range"); of && *of != file.tag() && wire::http::parse_date(*of) != file.modified())
        return {};
    return wire::http::parse_range_header(headers.find("Range").value_or(""), size);
}

// The part of a file to send, and its response head.
struct Answer {
    Head head;
    std::vector<std::uint8_t> preamble;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
};

Result<Answer> whole_or_part(const Request& request, const content::ServedFile& file) {
    const auto& facts = file.facts();
    const ByteRange range = range_of(request, file);
    Answer answer;
    answer.count = facts.size;
    answer.head.status = Status::ok;
    if (range.answer == ByteRange::Answer::unsatisfiable)
        return Error(Errc::limit, wire::http::content_range(range, facts.size));
    if (range.answer == ByteRange::Answer::part) {
        answer.head.status = Status::partial_content;
        answer.first = range.first;
        answer.count = range.count;
        answer.head.headers.emplace_back("Content-Range", wire::http::content_range(range, facts.size));
    }
    return answer;
}

// Errc::limit when `start` is past the end.
Result<Answer> flv_from(const io::File& file, std::uint64_t start, io::Deadline deadline) {
    const std::uint64_t size = file.facts().size;
    if (start >= size)
        return Error(Errc::limit, wire::http::content_range({ByteRange::Answer::unsatisfiable, 0, 0}, size));
    Answer answer;
    answer.preamble = flv_preamble(TRY(file.read(0, kFlvBeginBytes, deadline)));
    answer.first = start;
    answer.count = size - start;
    return answer;
}

Result<Answer> answer_to(const Request& request, const content::ServedFile& file, io::Deadline deadline) {
    const auto start = number_of(request.target.query.get("start"));
    if (start && *start > 0 && request.path().ends_with(".flv"))
        return flv_from(file.file(), *start, deadline);
    return whole_or_part(request, file);
}

// Whether the whole file is requested, which may then be sent compressed.
bool is_for_whole_file(const Request& request) {
    const auto& query = request.target.query;
    return !request.message.headers.find("Range") && !query.find("range") && !query.find("bytes") && !query.find("start");
}

Result<void> send_part(Exchange& exchange, const content::ServedFile& file, std::string_view path, Fields headers,
                       io::Deadline deadline) {
    auto answer = answer_to(exchange.request(), file, deadline);
    if (!answer.ok() && answer.code() == Errc::limit) {
        const Fields range = {{"Content-Range", answer.error().sentence()}};
        return exchange.send(text_reply(Status::range_not_satisfiable, "the file ends before this range", range), deadline);
    }
    if (!answer.ok())
        return exchange.send(text_reply(Status::service_unavailable, "the server is too busy to read this file"), deadline);
    Head& head = answer->head;
    head.content_type = mime_of(path);
    head.varies_by_coding = content::is_compressible(head.content_type);
    head.end = BodyEnd::length;
    head.length = answer->preamble.size() + answer->count;
    std::ranges::move(head.headers, std::back_inserter(headers));
    head.headers = std::move(headers);
    std::string begin = exchange.head_text(head);
    if (exchange.request().is_head())
        answer->count = 0;
    else
        begin += as_text(answer->preamble);
    // Larger contents are for TLS clients; others get the file by sendfile.
    const bool is_small = file.facts().size <= content::OpenFiles::kPlainContentMax;
    if (const Bytes content = file.content(); !content.empty() && (is_small || exchange.tcp() == nullptr))
        return send_content(exchange, begin,
                            content.subspan(static_cast<std::size_t>(answer->first), static_cast<std::size_t>(answer->count)),
                            deadline);
    return send_file_bytes(exchange, begin, file.file(), answer->first, answer->count, deadline);
}

Result<void> send_compressed(Exchange& exchange, const content::ServedFile& file, std::string_view path, Fields headers,
                             io::Deadline deadline) {
    headers.emplace_back("Content-Encoding", "gzip");
    const Bytes content = file.compressed();
    const std::string begin = exchange.head_text({.content_type = std::string(mime_of(path)),
                                                  .end = BodyEnd::length,
                                                  .length = content.size(),
                                                  .headers = std::move(headers),
                                                  .varies_by_coding = true});
    return send_content(exchange, begin, exchange.request().is_head() ? Bytes() : content, deadline);
}

}  // namespace

Result<void> StaticHandler::send_file(Exchange& exchange, content::ServedFile& file, std::string_view path,
                                      io::Deadline deadline) {
    const Request& request = exchange.request();
    const bool is_text = content::is_compressible(mime_of(path));
    const bool is_packed = is_text && is_for_whole_file(request) && accepts_gzip(request);
    if (is_packed)
        TRY(files_.compress(file, deadline));
    const bool is_compressed = is_packed && !file.compressed().empty();
    const std::string tag = is_compressed ? file.compressed_tag() : file.tag();
    Fields headers;
    headers.reserve(6);
    headers.emplace_back("Accept-Ranges", "bytes");
    headers.emplace_back("ETag", tag);
    headers.emplace_back("Last-Modified", file.modified_text());
    if (is_changing(path))
        headers.emplace_back("Cache-Control", "no-cache");
    if (client_has_it(request, file, tag))
        return exchange.send_head({.status = Status::not_modified,
                                   .content_type = "",
                                   .end = BodyEnd::none,
                                   .headers = std::move(headers),
                                   .varies_by_coding = is_text},
                                  deadline);
    return is_compressed ? send_compressed(exchange, file, path, std::move(headers), deadline)
                         : send_part(exchange, file, path, std::move(headers), deadline);
}

Result<void> StaticHandler::serve(Exchange& exchange, io::Deadline deadline) {
    const Request& request = exchange.request();
    if (!request.is_get())
        return exchange.send(text_reply(Status::method_not_allowed, "files are read with GET", {{"Allow", "GET, HEAD, OPTIONS"}}),
                             deadline);
    auto place = roots_.find(request);
    if (!place)
        return exchange.send(text_reply(Status::not_found, "there is no such file"), deadline);
    const bool is_index = place->path.empty() || place->path.ends_with('/');
    if (is_index)
        place->path += "index.html";
    if (const auto allowed = roots_.check(request, *place, deadline); !allowed.ok())
        return allowed.code() == Errc::cancelled ? allowed : exchange.send(refusal_of(allowed.error()), deadline);
    const std::size_t content_max =
        exchange.tcp() != nullptr ? content::OpenFiles::kPlainContentMax : content::OpenFiles::kTlsContentMax;
    const auto file = files_.open(place->folder, place->path, content_max, io::now(), deadline);
    if (!file.ok()) {
        if (file.code() == Errc::cancelled)
            return Error(file.error());
        return exchange.send(reply_to(file.error(), request, place->folder, deadline), deadline);
    }
    if ((*file)->facts().is_folder)
        return exchange.send(is_index ? missing_reply(request, place->folder, deadline) : folder_redirect(request), deadline);
    return send_file(exchange, **file, place->path, deadline);
}

}  // namespace live::session::http
