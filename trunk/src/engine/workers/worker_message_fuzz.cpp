// Any packets from any workers: refused, or understood as written; the desk's counts stay right, and its answers are messages.
#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "engine/workers/desk.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live::engine::workers;
    live::Bytes rest(data, size);
    constexpr Worker kWorkers = 3;
    Desk desk(kWorkers);
    // A byte says who, a byte how long.
    while (rest.size() >= 2) {
        const auto from = static_cast<Worker>(1 + rest[0] % kWorkers);
        const std::size_t length = std::min<std::size_t>(rest[1], rest.size() - 2);
        const auto message = parse_message(rest.subspan(2, length));
        rest = rest.subspan(2 + length);
        if (!message.ok()) {
            if (length == 0)
                desk.forget(from);
            continue;
        }
        CHECK(MUST(parse_message(write_message(*message))) == *message);
        for (const Desk::Outgoing& out : desk.handle(from, *message)) {
            CHECK(out.to >= 1 && out.to <= kWorkers);
            CHECK(MUST(parse_message(write_message(out.message))) == out.message);
        }
        CHECK(desk.streams(1) + desk.streams(2) + desk.streams(3) == desk.streams());
        if (message->kind == Kind::announce && message->worker != 0)  // as one master tells the next
            desk.restore(message->text, {message->worker, message->epoch});
        CHECK(desk.streams(1) + desk.streams(2) + desk.streams(3) == desk.streams());
    }
    Desk next(kWorkers);
    for (const auto& [url, owner] : desk.owners())
        next.restore(url, owner);
    CHECK(next.streams() == desk.streams() && next.streams(1) == desk.streams(1));
    return 0;
}
