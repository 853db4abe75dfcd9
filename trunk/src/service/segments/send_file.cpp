#include "service/segments/send_file.hpp"

#include <array>

#include <fmt/format.h>

#include "io/fibers/loop.hpp"
#include "service/files/send_blocks.hpp"
#include "session/http/mime.hpp"

namespace live::service::segments {

namespace http = session::http;

namespace {

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
    const auto until = deadline.sooner(io::Deadline::after(files::kStallLimit));
    exchange.traffic().sent_bytes += head.size() + block->size();
    const auto copy = file.copy_for_request();
    const std::uint64_t first = copy.offset + offset;
    if (copy.file == nullptr || exchange.tcp() == nullptr || first + block->size() > copy.file->size())
        return exchange.stream().write_all(std::array{io::as_part(as_bytes(head)), io::as_part(Bytes(*block))}, until);
    return io::write_with_file(*exchange.tcp(), as_bytes(head), *copy.file, first, block->size(), until);
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
    auto copy = file.copy_for_request();
    // The file may release its blocks while they are being sent.
    const std::vector<Block> blocks = file.blocks();
    return files::send_blocks(exchange, blocks, std::move(headers), std::move(copy), deadline);
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
