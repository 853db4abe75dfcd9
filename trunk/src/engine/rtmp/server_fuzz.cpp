// Arbitrary bytes into both engines: raw, or after a valid handshake and the usual opening, with arbitrary cuts. The first bytes
// select the answers to questions. No abort, and output stays bounded by input.
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "engine/rtmp/client.hpp"
#include "engine/rtmp/server.hpp"
#include "wire/rtmp/chunk_writer.hpp"

namespace {

using namespace live;
using namespace live::engine::rtmp;
using wire::amf::Value;

void call(ByteWriter& out, std::string_view name, double transaction, std::initializer_list<Value> values) {
    wire::rtmp::write_message(out, 3, wire::rtmp::MessageType::amf0_command, 0, 1, write_command(name, transaction, values), 128);
}

// The part of the conversation that precedes the random bytes.
Bytes opening(ByteWriter& out, unsigned stage) {
    if (stage >= 1)
        out.u8(3).zeros(2 * kHandshakeBlockBytes);
    if (stage >= 2)
        call(out, "connect", 1, {Value::object({{"tcUrl", "rtmp://h/live"}})});
    if (stage == 3)
        call(out, "publish", 2, {Value::null(), "cam"});
    if (stage == 4)
        call(out, "play", 2, {Value::null(), "cam"});
    return out.written();
}

Result<void> answer(Server& server, const Event& event, unsigned choice) {
    if (std::holds_alternative<WantsToConnect>(event)) {
        if ((choice & 3) == 1)
            server.reject_connect("no");
        else if ((choice & 3) == 2)
            server.redirect_connect("rtmp://a/b", "rtmp://a/b/c");
        else
            return server.accept_connect();
    } else if (std::holds_alternative<WantsToPublish>(event)) {
        return (choice & 4) != 0 ? server.reject_publish("NetStream.Publish.BadName", "no") : server.accept_publish();
    } else if (std::holds_alternative<WantsToPlay>(event)) {
        if ((choice & 24) == 24)
            return server.redirect_play("rtmp://a/b", "rtmp://a/b/c");
        return (choice & 8) != 0 ? server.reject_play("NetStream.Play.Failed", "no") : server.accept_play();
    } else if (const auto* pause = std::get_if<PauseChanged>(&event)) {
        server.accept_pause(pause->paused);
    }
    return {};
}

// False if the engine failed.
bool feed(Server& server, Bytes input, unsigned choice) {
    bool good = server.handle_bytes(TimePoint{}, input).ok();
    while (good) {
        server.take_media();
        const auto event = server.poll_event();
        if (!event)
            break;
        good = answer(server, *event, choice).ok();
    }
    std::vector<std::uint8_t> output;
    server.take_output(output);
    // The longest answer to a short input is the connect result; all others are at most a few times the size of the question.
    if (output.size() > 8192 + 64 * input.size())
        std::abort();
    return good;
}

void run_server(Bytes input, unsigned stage, unsigned choice, std::size_t step) {
    ServerOptions options;
    options.message_bytes_max = 1 << 16;
    Server server(std::move(options), 1);
    ByteWriter out;
    if (!feed(server, opening(out, stage), 0))
        std::abort();
    for (std::size_t at = 0; at < input.size(); at += step) {
        if (!feed(server, input.subspan(at, std::min(step, input.size() - at)), choice))
            return;
    }
}

void run_client(Bytes input, unsigned stage, std::size_t step) {
    ClientOptions options;
    options.mode = (stage & 1) != 0 ? ClientOptions::Mode::publish : ClientOptions::Mode::play;
    options.tc_url = "rtmp://h/live";
    options.stream = "cam";
    options.message_bytes_max = 1 << 16;
    Client client(std::move(options), 1);
    if (!client.start(TimePoint{}).ok())
        std::abort();
    ByteWriter out;
    if (stage >= 1)
        out.u8(3).zeros(2 * kHandshakeBlockBytes);
    if (stage >= 2)
        call(out, "_result", 1, {Value::null(), Value::object()});
    if (stage >= 3)
        call(out, "_result", 4, {Value::null(), 1});
    if (stage >= 4)
        call(out, "onStatus", 0, {Value::null(), Value::object({{"code", "NetStream.Play.Start"}})});
    if (!client.handle_bytes(TimePoint{}, out.written()).ok())
        std::abort();
    for (std::size_t at = 0; at < input.size(); at += step) {
        if (!client.handle_bytes(TimePoint{}, input.subspan(at, std::min(step, input.size() - at))).ok())
            return;
        while (client.poll_event()) {
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes all(data, size);
    if (all.size() < 4)
        return 0;
    const unsigned stage = all[0] % 5;
    const unsigned choice = all[1];
    const std::size_t step = 1U + (static_cast<std::size_t>(all[2]) << 8 | all[3]);
    run_server(all.subspan(4), stage, choice, step);
    run_client(all.subspan(4), stage, step);
    return 0;
}
