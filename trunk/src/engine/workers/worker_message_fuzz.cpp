// Any packets from any workers: refused, or understood as written; the directory's counts stay right, and its answers are
// messages.
#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "engine/workers/stream_directory.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live::engine::workers;
    live::Bytes rest(data, size);
    constexpr Worker kWorkers = 3;
    StreamDirectory directory(kWorkers);
    // One byte selects the sender, the next one the length.
    while (rest.size() >= 2) {
        const auto from = static_cast<Worker>(1 + rest[0] % kWorkers);
        const std::size_t length = std::min<std::size_t>(rest[1], rest.size() - 2);
        const auto message = parse_message(rest.subspan(2, length));
        rest = rest.subspan(2 + length);
        if (!message.ok()) {
            if (length == 0)
                directory.forget(from);
            continue;
        }
        CHECK(MUST(parse_message(write_message(*message))) == *message);
        for (const StreamDirectory::Outgoing& out : directory.handle(from, *message)) {
            CHECK(out.to >= 1 && out.to <= kWorkers);
            CHECK(MUST(parse_message(write_message(out.message))) == out.message);
        }
        CHECK(directory.streams(1) + directory.streams(2) + directory.streams(3) == directory.streams());
        if (message->kind == Kind::announce && message->worker != 0)  // as from one master to the next
            directory.restore(message->text, {message->worker, message->epoch});
        CHECK(directory.streams(1) + directory.streams(2) + directory.streams(3) == directory.streams());
    }
    StreamDirectory next(kWorkers);
    for (const auto& [url, owner] : directory.owners())
        next.restore(url, owner);
    CHECK(next.streams() == directory.streams() && next.streams(1) == directory.streams(1));
    return 0;
}
