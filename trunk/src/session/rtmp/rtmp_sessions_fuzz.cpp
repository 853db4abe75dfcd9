// RTMP sessions with the memory budget on: clients of our own engine, three that publish and one that plays, over streams without
// sockets. Bytes choose the actions of each after its handshake and how reads are cut: media of every size and kind, messages
// that never end, random bytes, silence and leaving. In all cases the engine reads all output of the server without an error,
// unfinished messages stay within their share of the budget, and nothing is left after the last client.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "engine/rtmp/client.hpp"
#include "io/fibers/loop.hpp"
#include "session/limits/connection_limits.hpp"
#include "session/rtmp/connection.hpp"

namespace {

using namespace live;
using namespace live::session;
using wire::rtmp::MessageType;
using Mode = engine::rtmp::ClientOptions::Mode;

constexpr std::size_t kInputMax = 2'048;
constexpr std::size_t kUnfinishedMax = 64 << 10;
struct Role {
    Mode mode;
    const char* stream;
};
// The second takes the stream over from the first.
constexpr std::array kRoles = {Role{Mode::publish, "cam"}, Role{Mode::publish, "cam"}, Role{Mode::publish, "other"},
                               Role{Mode::play, "cam"}};

struct Step {
    enum class Kind : std::uint8_t { video, audio, data, unfinished, raw, silence, kinds };
    Kind kind{};
    std::uint8_t size = 0;  // times a power of two
    std::vector<std::uint8_t> bytes;
};

class Client {
public:
    // `busy` counts those that have something to do yet: all stay until the last is done.
    Client(const Role& role, std::deque<Step> steps, std::size_t& busy)
        : mode_(role.mode), busy_(busy), steps_(std::move(steps)), engine_(options(role), 1) {
        ++busy_;
        MUST(engine_.start(io::now()));
        engine_.take_output(output_);
    }

    // Returns its next output; empty: nothing yet.
    Bytes sends() {
        if (output_.empty() && engine_.is_started() && !steps_.empty()) {
            take(steps_.front());
            steps_.pop_front();
        }
        if (output_.empty() && engine_.is_started() && steps_.empty())
            give_up();
        return output_;
    }
    void sent(std::size_t count) { output_.erase(output_.begin(), output_.begin() + static_cast<std::ptrdiff_t>(count)); }
    void give_up() {
        if (!std::exchange(is_done_, true))
            --busy_;
    }
    bool is_over() const { return is_done_ && busy_ == 0; }

    void receives(Bytes bytes) {
        CHECK(engine_.handle_bytes(io::now(), bytes).ok());
        while (const auto event = engine_.poll_event())
            if (std::holds_alternative<engine::rtmp::Rejected>(*event))
                give_up();
        engine_.take_output(output_);
    }

private:
    static engine::rtmp::ClientOptions options(const Role& role) {
        engine::rtmp::ClientOptions options;
        options.mode = role.mode;
        options.tc_url = "rtmp://h/live";
        options.app = "live";
        options.stream = role.stream;
        return options;
    }

    void take(const Step& step) {
        std::vector<std::uint8_t> payload(step.bytes);
        payload.resize(payload.size() + (std::size_t{1} << step.size % 17U));
        at_ms_ += step.size;
        const bool is_media = step.kind < Step::Kind::unfinished;
        switch (is_media && mode_ == Mode::play ? Step::Kind::raw : step.kind) {
            case Step::Kind::video: engine_.send_media(MessageType::video, at_ms_, payload); break;
            case Step::Kind::audio: engine_.send_media(MessageType::audio, at_ms_, payload); break;
            case Step::Kind::data: engine_.send_media(MessageType::amf0_data, at_ms_, payload); break;
            case Step::Kind::unfinished: {
                // Set Chunk Size to 65,535, the header of a message of 5 MiB on a chunk stream of its own, and less than a chunk
                // of it.
                output_ = {0x02, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
                const std::array<std::uint8_t, 12> head{
                    static_cast<std::uint8_t>(8U + step.size % 50U), 0, 0, 0, 0x50, 0, 0, 9, 1, 0, 0, 0};
                output_.insert(output_.end(), head.begin(), head.end());
                payload.resize(std::min<std::size_t>(payload.size(), 60'000));
                output_.insert(output_.end(), payload.begin(), payload.end());
                return;
            }
            case Step::Kind::raw: output_ = step.bytes; return;
            case Step::Kind::silence:
            case Step::Kind::kinds: return;
        }
        engine_.take_output(output_);
    }

    const Mode mode_;
    std::size_t& busy_;
    std::deque<Step> steps_;
    engine::rtmp::Client engine_;
    std::vector<std::uint8_t> output_;
    std::uint32_t at_ms_ = 0;
    bool is_done_ = false;
};

// To one of these clients.
class FakeStream final : public io::Stream {
public:
    FakeStream(Client& client, std::uint8_t cut, const MemoryBudget& memory) : client_(client), memory_(memory), cut_(cut) {}

    Result<std::size_t> read_some(MutBytes into, io::Deadline deadline) override {
        for (;;) {
            TRY(io::yield(deadline));
            if (const auto count = try_read(into); count.ok() || count.code() != Errc::need_more)
                return count;
        }
    }
    Result<void> write_all(std::span<const ::iovec> parts, io::Deadline deadline) override {
        TRY(io::yield(deadline));
        TRY(try_write(parts));
        return {};
    }
    Result<void> wait_readable(io::Deadline deadline) override {
        TRY(wait_ready(io::Interest::readable, nullptr, deadline));
        return {};
    }
    Result<std::size_t> try_read(MutBytes into) override {
        CHECK(memory_.bytes(MemoryBudget::Kind::unfinished) <= kUnfinishedMax + into.size());
        if (is_closed_ || client_.is_over())
            return Error(Errc::closed, "the client has left");
        const Bytes sends = client_.sends();
        if (sends.empty())
            return Error(Errc::need_more, "nothing yet");
        const std::size_t count = std::min({sends.size(), into.size(), cut_ == 0 ? into.size() : std::size_t{cut_} * 8U});
        std::copy_n(sends.begin(), count, into.begin());
        client_.sent(count);
        return count;
    }
    Result<std::size_t> try_write(std::span<const ::iovec> parts) override {
        if (is_closed_)
            return Error(Errc::closed, "the client has left");
        std::size_t count = 0;
        for (const ::iovec& part : parts) {
            client_.receives({static_cast<const std::uint8_t*>(part.iov_base), part.iov_len});
            count += part.iov_len;
        }
        return count;
    }
    Result<io::Ready> wait_ready(io::Interest, Signal* signal, io::Deadline deadline) override {
        TRY(io::yield(deadline));
        if (signal != nullptr)
            signal->consume();
        return io::Ready{.readable = true, .writable = true};
    }
    void coalesce_wakes() override {}
    std::string peer() const override { return "203.0.113.9:51544"; }
    void close() override {
        is_closed_ = true;
        client_.give_up();
    }

private:
    Client& client_;
    const MemoryBudget& memory_;
    const std::uint8_t cut_;
    bool is_closed_ = false;
};

class World final : public Admission, public rtmp::VhostOptions, public StreamEvents {
public:
    World() { places_.memory().set_max(MemoryBudget::kUnfinishedPart * kUnfinishedMax); }

    void run(std::array<std::deque<Step>, kRoles.size()> steps, std::uint8_t cut) {
        std::size_t busy = 0;
        std::vector<std::unique_ptr<Client>> made;
        {
            io::Scope scope("connections");
            for (std::size_t i = 0; i < kRoles.size(); ++i) {
                Client& client = *made.emplace_back(std::make_unique<Client>(kRoles[i], std::move(steps[i]), busy));
                MUST(scope.start("connection", [&](io::Deadline deadline) {
                    std::make_unique<rtmp::Connection>(std::make_unique<FakeStream>(client, cut, places_.memory()),
                                                       Arrival{"203.0.113.9", "127.0.0.1", true}, context_, places_.memory(),
                                                       log_)
                        ->run(deadline);
                }));
            }
            while (scope.size() > 0)
                CHECK(io::yield(io::Deadline::never()).ok());
        }
        CHECK(places_.memory().bytes(MemoryBudget::Kind::unfinished) == 0);
        CHECK(clients_.size() == 0);
    }

private:
    Result<rtmp::RtmpOptions> options_of(const std::string&) const override { return rtmp::RtmpOptions(); }
    Answer publish(const ClientRequest& request, io::Deadline) override { return plan(request); }
    Answer play(const ClientRequest& request, io::Deadline) override { return plan(request); }
    Result<void> check_play(const ClientRequest&) const override { return {}; }
    void on_published(const ClientRequest&, const StreamPlan&) override {}
    void on_publish_ended(const ClientRequest&, const StreamPlan&) override {}
    void on_unpublished(const std::string&) override {}
    void on_play_ended(const ClientRequest&, const StreamPlan&) override {}
    void on_closed(const ClientRequest&, const Traffic&) override {}
    static StreamPlan plan(const ClientRequest& request) {
        StreamPlan plan;
        plan.url = "/live/" + request.stream;
        plan.play.mw_latency = {};  // without waiting for more
        plan.publish.takeover = true;
        return plan;
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create({}));
    Log log_;
    media::SlabPool slabs_;
    media::StreamTable streams_{slabs_};
    io::Scope services_{"service"};
    FanOut fan_out_{services_};
    ClientTable clients_;
    Traffic traffic_;
    ConnectionLimits places_{100, log_};
    std::vector<std::uint8_t> scratch_ = std::vector<std::uint8_t>(64 * 1024);
    rtmp::Context context_{streams_, *this, *this, *this, fan_out_, clients_, traffic_, scratch_, "1", "fuzz/1", 1};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static World world;
    if (size < 1 || size > kInputMax)
        return 0;
    Bytes rest(data, size);
    const std::uint8_t cut = rest[0];
    rest = rest.subspan(1);
    std::array<std::deque<Step>, kRoles.size()> steps;
    // Three bytes for each step: client and kind, size, number of bytes that follow.
    while (rest.size() >= 3) {
        Step step;
        step.kind = static_cast<Step::Kind>(rest[0] / kRoles.size() % static_cast<unsigned>(Step::Kind::kinds));
        step.size = rest[1];
        auto& whose = steps[rest[0] % kRoles.size()];
        const std::size_t count = std::min<std::size_t>(rest[2], rest.size() - 3);
        step.bytes.assign(rest.begin() + 3, rest.begin() + 3 + static_cast<std::ptrdiff_t>(count));
        whose.push_back(std::move(step));
        rest = rest.subspan(3 + count);
    }
    world.run(std::move(steps), cut);
    return 0;
}
