#include "service/segments/send_file.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#include <fmt/format.h>

#include "io/fibers/loop.hpp"
#include "io/files/memory_file.hpp"
#include "session/http/mime.hpp"
#include "wire/http/byte_range.hpp"
#include "wire/http/status.hpp"

namespace live::service::segments {

namespace http = session::http;

namespace {

using wire::http::Status;

// Written at once: each piece must be sent within kStallLimit.
constexpr std::size_t kPieceBytes = 512 << 10;
constexpr std::chrono::seconds kStallLimit{60};

template <class IsThere>
Result<void> wait_until(File& file, const IsThere& is_available, io::Deadline deadline) {
    while (!is_available()) {
        Signal signal;
        file.waiters().add(signal);
        const auto woken = io::wait(signal, deadline);
        file.waiters().remove(signal);
        TRY(woken);
    }
    return {};
}

// Sends one block after `head`, from the copy if there is one. `offset` is the block's position in the file.
Result<void> send_block(http::Exchange& exchange, File& file, std::string_view head, const Block& block, std::uint64_t offset,
                        io::Deadline deadline) {
    const auto until = deadline.sooner(io::Deadline::after(kStallLimit));
    exchange.traffic().sent_bytes += head.size() + block->size();
    const auto copy = file.copy_for_request();
    const std::uint64_t first = copy.offset + offset;
    if (copy.file == nullptr || exchange.tcp() == nullptr || first + block->size() > copy.file->size())
        return exchange.stream().write_all(std::array{io::as_part(as_bytes(head)), io::as_part(Bytes(*block))}, until);
    return io::write_with_file(*exchange.tcp(), as_bytes(head), *copy.file, first, block->size(), until);
}

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

Result<void> send_copy(http::Exchange& exchange, std::string_view head, const io::MemoryFile& file, std::uint64_t first,
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

Result<void> wait_for_more(File& file, std::size_t count, io::Deadline deadline) {
    return wait_until(file, [&] { return file.blocks().size() > count || file.is_whole(); }, deadline);
}

Result<void> wait_until_whole(File& file, io::Deadline deadline) {
    return wait_until(file, [&] { return file.is_whole(); }, deadline);
}

Result<void> send_file(http::Exchange& exchange, File& file, std::vector<std::pair<std::string, std::string>> headers,
                       io::Deadline deadline) {
    const File::Copy copy = file.copy_for_request();
    // The file may release its blocks while they are being sent.
    const std::vector<Block> blocks = file.blocks();
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
        return send_copy(exchange, text, *copy.file, copy.offset + skip, count, deadline);
    return send_memory(exchange, text, blocks, skip, count, deadline);
}

std::vector<std::pair<std::string, std::string>> headers_for_caches(bool is_guarded) {
    return is_guarded ? std::vector<std::pair<std::string, std::string>>{{"Cache-Control", "private"}}
                      : std::vector<std::pair<std::string, std::string>>();
}

Result<void> send_growing(http::Exchange& exchange, File& file, Duration next_wait,
                          std::vector<std::pair<std::string, std::string>> headers, const std::function<void(std::size_t)>& sent,
                          io::Deadline deadline) {
    http::Head head;
    head.content_type = http::mime_of(exchange.request().path());
    head.headers = std::move(headers);
    TRY(exchange.send_head(head, deadline));
    if (exchange.request().is_head())
        return {};
    const bool has_chunks = exchange.body_end() == http::BodyEnd::chunks;
    std::uint64_t offset = 0;
    // The terminator of a chunk is sent with the head of the next one.
    std::string_view end_of_last;
    for (std::size_t next = 0;; ++next) {
        TRY(wait_for_more(file, next, deadline.sooner(io::Deadline::after(next_wait))));
        if (next >= file.blocks().size())
            break;
        const Block block = file.blocks()[next];
        sent(block->size());
        const std::string head_of_chunk = has_chunks ? fmt::format("{}{:x}\r\n", end_of_last, block->size()) : "";
        TRY(send_block(exchange, file, head_of_chunk, block, offset, deadline));
        offset += block->size();
        end_of_last = "\r\n";
    }
    if (has_chunks && !end_of_last.empty())
        TRY(exchange.stream().write_all(std::array{io::as_part(as_bytes(end_of_last))}, deadline));
    return exchange.finish_chunks(deadline);
}

}  // namespace live::service::segments
