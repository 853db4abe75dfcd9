#include "service/dash/dash_handler.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/loop.hpp"
#include "service/files/normal_path.hpp"
#include "service/files/send_blocks.hpp"
#include "session/http/mime.hpp"
#include "session/http/status_for.hpp"
#include "wire/http/status.hpp"

namespace live::service::dash {

namespace http = session::http;

namespace {

using wire::http::Status;
constexpr std::string_view kMpdEnding = ".mpd";

Result<void> send_block(http::Exchange& exchange, const Block& block, io::Deadline deadline) {
    const bool is_chunk = exchange.body_end() == http::BodyEnd::chunks;
    const std::string head = is_chunk ? fmt::format("{:x}\r\n", block->size()) : "";
    const std::string_view tail = is_chunk ? "\r\n" : "";
    const std::array parts{io::as_part(as_bytes(head)), io::as_part(Bytes(*block)), io::as_part(as_bytes(tail))};
    exchange.traffic().sent_bytes += head.size() + block->size() + tail.size();
    return exchange.stream().write_all(parts, deadline.sooner(io::Deadline::after(files::kStallLimit)));
}

}  // namespace

DashHandler::Found DashHandler::find(const http::Request& request) const {
    const auto place = roots_.find(request);
    if (!place)
        return {};
    Found found{held_.find(files::normal_path(place->folder, place->path))};
    found.is_others = found.file != nullptr && !place->vhost.empty() && place->vhost != found.file->stream()->vhost;
    return found;
}

// The MPD was asked for with vhost=, which the addresses of its segments have not: a player with a session gets them.
bool DashHandler::may_have(const http::Request& request, const Found& found, bool is_mpd) const {
    return found.file != nullptr && (!found.is_others || (!is_mpd && viewers_.knows(request, *found.file->stream())));
}

Result<void> DashHandler::serve(http::Exchange& exchange, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    if (!request.is_get())
        return exchange.send(http::method_not_allowed("GET, HEAD, OPTIONS", "DASH is played with GET"), deadline);
    const Found found = find(request);
    const bool is_mpd = request.path().ends_with(kMpdEnding);
    if (!may_have(request, found, is_mpd))
        return exchange.send(http::error_reply(Status::not_found, "there is no such file"), deadline);
    const HeldFileRef& file = found.file;
    const auto admitted = is_mpd ? viewers_.admit(request, *file->stream(), deadline) : viewers_.touch(request, *file->stream());
    if (!admitted.ok()) {
        if (admitted.code() == Errc::cancelled)
            return admitted;
        const int status = session::http::status_for(admitted.code());
        return exchange.send(http::error_reply(status, admitted.error().sentence()), deadline);
    }
    if (!request.is_head())
        file->note_asked();
    if (!file->is_whole())
        return send_growing(exchange, *file, deadline);
    std::vector<std::pair<std::string, std::string>> headers;
    if (is_mpd)
        headers.emplace_back("Cache-Control", "no-cache");
    if (!request.is_head())
        viewers_.add_sent(request, *file->stream(), file->bytes());
    return files::send_blocks(exchange, file->blocks(), std::move(headers), nullptr, deadline);
}

Result<void> DashHandler::wait_for_more(HeldFile& file, std::size_t count, io::Deadline deadline) {
    const auto until = deadline.sooner(io::Deadline::after(kWaitMax));
    while (file.blocks().size() <= count && !file.is_whole()) {
        Signal signal;
        file.waiters().add(signal);
        const auto woken = io::wait(signal, until);
        file.waiters().remove(signal);
        TRY(woken);
    }
    return {};
}

Result<void> DashHandler::send_growing(http::Exchange& exchange, HeldFile& file, io::Deadline deadline) {
    // HEAD is answered from what is there.
    const auto first = exchange.request().is_head() ? Result<void>() : wait_for_more(file, 0, deadline);
    if (!first.ok() && first.code() != Errc::timed_out)
        return first;
    if (file.blocks().empty())
        return exchange.send(http::error_reply(Status::not_found, "this fragment has not come to be"), deadline);
    http::Head head;
    head.content_type = http::mime_of(exchange.request().path());
    TRY(exchange.send_head(head, deadline));
    if (exchange.request().is_head())
        return {};
    for (std::size_t sent = 0;; ++sent) {
        TRY(wait_for_more(file, sent, deadline));
        if (sent == file.blocks().size())
            return exchange.finish_chunks(deadline);
        const Block block = file.blocks()[sent];
        viewers_.add_sent(exchange.request(), *file.stream(), block->size());
        TRY(send_block(exchange, block, deadline));
    }
}

}  // namespace live::service::dash
