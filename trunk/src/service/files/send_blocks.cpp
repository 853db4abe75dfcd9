#include "service/files/send_blocks.hpp"

#include <algorithm>
#include <cstdint>

#include "session/http/mime.hpp"
#include "wire/http/byte_range.hpp"
#include "wire/http/status.hpp"

namespace live::service::files {

namespace http = session::http;

namespace {

using wire::http::Status;

Result<void> send_memory(http::Exchange& exchange, std::string_view head, const std::vector<Block>& blocks, std::uint64_t skip,
                         std::uint64_t left, io::Deadline deadline) {
    std::vector<::iovec> parts = {io::as_part(as_bytes(head))};
    std::size_t in_parts = head.size();
    const auto flush = [&]() -> Result<void> {
        exchange.traffic().sent_bytes += in_parts;
        TRY(exchange.stream().write_all(parts, deadline.sooner(io::Deadline::after(kStallLimit))));
        parts.clear();
        in_parts = 0;
        return {};
    };
    for (const Block& block : blocks) {
        Bytes bytes(*block);
        const auto passed = static_cast<std::size_t>(std::min<std::uint64_t>(skip, bytes.size()));
        skip -= passed;
        bytes = bytes.subspan(passed);
        bytes = bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(left, bytes.size())));
        if (bytes.empty())
            continue;
        left -= bytes.size();
        parts.push_back(io::as_part(bytes));
        in_parts += bytes.size();
        if (in_parts >= kPieceBytes)
            TRY(flush());
    }
    return parts.empty() ? Result<void>() : flush();
}

Result<void> send_file(http::Exchange& exchange, std::string_view head, const io::MemoryFile& file, std::uint64_t first,
                       std::uint64_t left, io::Deadline deadline) {
    do {
        const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(left, kPieceBytes));
        exchange.traffic().sent_bytes += head.size() + piece;
        TRY(io::write_with_file(*exchange.tcp(), as_bytes(head), file, first, piece,
                                deadline.sooner(io::Deadline::after(kStallLimit))));
        head = {};
        first += piece;
        left -= piece;
    } while (left > 0);
    return {};
}

}  // namespace

Result<void> send_blocks(http::Exchange& exchange, const std::vector<Block>& blocks,
                         std::vector<std::pair<std::string, std::string>> headers, CopyOfBlocks copy, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    std::uint64_t size = 0;
    for (const Block& block : blocks)
        size += block->size();
    const auto range = wire::http::parse_range_header(request.message.headers.find("Range").value_or(""), size);
    http::Head head;
    head.content_type = http::mime_of(request.path());
    head.end = http::BodyEnd::length;
    head.length = size;
    head.headers = std::move(headers);
    head.headers.emplace_back("Accept-Ranges", "bytes");
    std::uint64_t skip = 0;
    if (range.answer == wire::http::ByteRange::Answer::unsatisfiable) {
        auto reply = http::error_reply(Status::range_not_satisfiable, "the file ends before this range");
        reply.headers.emplace_back("Content-Range", wire::http::content_range(range, size));
        return exchange.send(reply, deadline);
    }
    if (range.answer == wire::http::ByteRange::Answer::part) {
        head.status = Status::partial_content;
        head.headers.emplace_back("Content-Range", wire::http::content_range(range, size));
        head.length = range.count;
        skip = range.first;
    }
    const std::string text = exchange.head_text(head);
    const std::uint64_t count = request.is_head() ? 0 : head.length;
    if (copy.file != nullptr && exchange.tcp() != nullptr)
        return send_file(exchange, text, *copy.file, copy.offset + skip, count, deadline);
    return send_memory(exchange, text, blocks, skip, count, deadline);
}

}  // namespace live::service::files
