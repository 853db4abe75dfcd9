// Arbitrary bytes as an HTTP/2 client, in portions whose size is the first byte. The second byte: whether a preface and SETTINGS
// come first, whether requests are answered, bodies taken, and some streams reset by the server.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.hpp"
#include "engine/http2/frames_fixture.hpp"
#include "engine/http2/server.hpp"

namespace {

using namespace live;
using namespace live::engine::http2;

constexpr engine::http1::Limits kLimits{.target_bytes = 256, .header_count = 8, .header_bytes = 512, .body_bytes = 1'024};
const std::string kBody(20'000, 'b');
const std::array kParts{::iovec{const_cast<char*>(kBody.data()), kBody.size()}};

void handle(Server& server, const Event& event, std::uint8_t ways) {
    if (event.kind == Event::Kind::body && (ways & 4) != 0)
        server.take_body(event.stream);
    if (event.kind != Event::Kind::request)
        return;
    const auto request = server.take_request(event.stream);
    if (!request)
        return;
    CHECK(request->message.target.size() <= kLimits.target_bytes);
    CHECK(request->message.headers.fields().size() <= kLimits.header_count + 1);
    if ((ways & 8) != 0 && event.stream % 4 == 1)
        return server.reset(event.stream, Code::internal_error);
    if ((ways & 2) == 0)
        return;
    server.respond(event.stream, request->refusal == 0 ? 200 : request->refusal, {{"Server", "x"}}, true);
    server.offer(event.stream, kParts, true);
}

Result<void> run(Server& server, Bytes input, std::size_t portion, std::uint8_t ways) {
    TimePoint now{};
    while (!input.empty()) {
        const Bytes part = input.first(std::min(portion, input.size()));
        input = input.subspan(part.size());
        now += std::chrono::milliseconds(1);
        TRY(server.handle_bytes(now, part));
        CHECK(server.held_bytes() <= static_cast<std::size_t>(Server::kConnectionWindow));
        CHECK(server.streams() <= 2 * Server::kStreamsMax);
        while (const auto event = server.poll_event())
            handle(server, *event, ways);
        while (!TRY(server.next_output()).empty()) {
        }
    }
    return {};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2 || !is_available())
        return 0;
    Server server(kLimits);
    if ((data[1] & 1) != 0)
        CHECK(server.handle_bytes(TimePoint(), as_bytes(greeting())).ok());
    static_cast<void>(run(server, Bytes(data, size).subspan(2), data[0] + std::size_t{1}, data[1]));
    return 0;
}
