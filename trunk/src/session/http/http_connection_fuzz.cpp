// An HTTP connection with handlers, over a stream that delivers the input's bytes: pipelined requests, complete, truncated and
// malformed, with whole and streamed bodies, for files, and with authentication. The responses must not depend on how the bytes
// are split into reads.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/files/scratch_folder_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "session/http/connection.hpp"
#include "session/http/static_handler.hpp"

namespace {

using namespace live;
using namespace live::session::http;

constexpr std::size_t kInputMax = 16'384;

// A client that sends a fixed input and then closes.
class Client final : public io::Stream {
public:
    // The bits of `cuts`, used cyclically, say where reads end; 0 never cuts.
    Client(Bytes sends, std::uint32_t cuts, std::string& gets) : sends_(sends), cuts_(cuts), gets_(gets) {}

    Result<std::size_t> read_some(MutBytes into, io::Deadline) override {
        if (sends_.empty())
            return Error(Errc::closed, "the peer closed the connection");
        std::size_t count = std::min(into.size(), sends_.size());
        if (cuts_ != 0) {
            count = std::min<std::size_t>(count, 1 + (cuts_ & 0x3F));
            cuts_ = cuts_ >> 5 | cuts_ << 27;
        }
        std::copy_n(sends_.begin(), count, into.begin());
        sends_ = sends_.subspan(count);
        return count;
    }
    Result<void> write_all(std::span<const ::iovec> parts, io::Deadline) override {
        TRY(try_write(parts));
        return {};
    }
    Result<void> wait_readable(io::Deadline) override { return {}; }
    Result<std::size_t> try_read(MutBytes into) override { return read_some(into, io::Deadline::never()); }
    Result<std::size_t> try_write(std::span<const ::iovec> parts) override {
        std::size_t count = 0;
        for (const ::iovec& part : parts) {
            gets_.append(static_cast<const char*>(part.iov_base), part.iov_len);
            count += part.iov_len;
        }
        return count;
    }
    Result<io::Ready> wait_ready(io::Interest, Signal*, io::Deadline) override {
        return io::Ready{.readable = true, .writable = true};
    }
    void coalesce_wakes() override {}
    std::string peer() const override { return "203.0.113.9:51544"; }
    void close() override { sends_ = {}; }

private:
    Bytes sends_;
    std::uint32_t cuts_;
    std::string& gets_;
};

class Echo final : public Handler {
public:
    Reply handle(const Request& request, io::Deadline) override {
        Reply reply;
        reply.content_type = "text/plain";
        reply.body = request.message.method + " " + request.path() + " " + request.message.body;
        return reply;
    }
};

// Reads the streamed body, but stops early when it begins with an x.
class Parrot final : public Handler {
public:
    BodyMode body_mode(const Request& request) const override {
        return request.message.method == "POST" ? BodyMode::streamed : BodyMode::whole;
    }
    Result<void> serve(Exchange& exchange, io::Deadline deadline) override {
        std::string body;
        for (bool is_over = false; !is_over;) {
            const auto part = exchange.read_body(deadline);
            has_stopped = has_stopped || !part.ok();
            body += TRY(part);
            is_over = part->empty();
            if (body.starts_with('x'))
                has_stopped = is_over = true;
        }
        TRY(exchange.send_head({200, "text/plain", BodyEnd::chunks, 0, {}}, deadline));
        const bool in_chunks = exchange.body_end() == BodyEnd::chunks;
        const std::string chunk = in_chunks ? fmt::format("{:x}\r\n{}\r\n", body.size(), body) : body;
        if (!body.empty())
            TRY(exchange.stream().write_all(std::array{io::as_part(as_bytes(chunk))}, deadline));
        return exchange.finish_chunks(deadline);
    }

    // Then cuts matter: they decide how much of the body had arrived, whether the connection can stay, and which part refuses
    // malformed input.
    bool has_stopped = false;
};

// Erases each text that begins with `first` and ends with the next `last`.
void erase_all(std::string& text, std::string_view first, std::string_view last) {
    for (std::size_t at = 0; (at = text.find(first, at)) != std::string::npos;) {
        const std::size_t end = text.find(last, at + first.size());
        text.erase(at, end == std::string::npos ? end : end + last.size() - at);
    }
}

class World final : public FileRoots {
public:
    World() {
        folder_.write("index.html", "index");
        folder_.write("film.flv", std::string("FLV\x01\x05\0\0\0\x09\0\0\0\0", 13) + std::string(300, 'f'));
        router_.add("/echo", echo_);
        router_.add("/api/v1/", echo_);
        router_.add("/parrot", parrot_);
        router_.add("/", files_);
        context_.auth = {.enabled = true, .username = "u", .password = "p", .token = "t", .guards_rtc = true};
        context_.allows_jsonp = true;
        context_.limits.body_bytes = 1000;
        // Twice that, plus one read beyond it: enough for one connection, whatever it sends.
        places_.memory().set_max(session::MemoryBudget::kUnfinishedPart * (2 * context_.limits.body_bytes + scratch_.size()));
    }
    std::optional<FilePlace> find(const Request& request) const override {
        return FilePlace{folder_.file(""), request.path(), ""};
    }
    // None when the responses depend on the cuts.
    std::optional<std::string> answers_to(Bytes input, std::uint32_t cuts) {
        parrot_.has_stopped = false;
        std::string answers;
        Connection(std::make_unique<Client>(input, cuts, answers), nullptr, "203.0.113.9", context_, places_, log_)
            .run(io::Deadline::never());
        CHECK(places_.memory().used() == 0 && places_.memory().losses() == 0);
        CHECK(answers.empty() || answers.starts_with("HTTP/1.1 "));
        // Only sent if the body has not arrived yet, so it depends on the cuts.
        erase_all(answers, "HTTP/1.1 100 Continue\r\n\r\n", "");
        // A second may begin between the two runs.
        erase_all(answers, "\r\nDate: ", " GMT");
        return parrot_.has_stopped ? std::nullopt : std::optional(answers);
    }

private:
    ScratchFolder folder_;
    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create({}));
    Echo echo_;
    Parrot parrot_;
    StaticHandler files_{*this};
    Router router_;
    Log log_;
    session::ConnectionLimits places_{100, log_};
    std::array<std::uint8_t, 4096> scratch_{};
    Context context_{.router = router_, .scratch = scratch_, .server = "fuzz/1", .auth = {}, .limits = {}};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static World world;
    if (size < 4 || size > kInputMax)
        return 0;
    const Bytes input(data, size);
    const std::uint32_t cuts = std::uint32_t{data[0]} | std::uint32_t{data[1]} << 8 | std::uint32_t{data[2]} << 16 | 1U << 24;
    const auto whole = world.answers_to(input.subspan(3), 0);
    const auto cut = world.answers_to(input.subspan(3), cuts);
    CHECK(!whole || !cut || *whole == *cut);
    return 0;
}
