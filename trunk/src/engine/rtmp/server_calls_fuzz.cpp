// Commands in any order after a valid connect, one per input byte, with arbitrary cuts: the events must match a naive model
// wherever the bytes are cut.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/check.hpp"
#include "engine/rtmp/server.hpp"
#include "wire/rtmp/chunk_writer.hpp"

namespace {

using namespace live;
using namespace live::engine::rtmp;
using wire::amf::Value;
using wire::rtmp::MessageType;

enum class Call : std::uint8_t {
    create_stream,
    release_stream,
    fc_publish,
    publish,
    publish_false,
    play,
    pause,
    close_stream,
    fc_unpublish,
    delete_stream,
    audio,
    chunk_size,
    unknown,
    count,
};

constexpr std::size_t kCallsMax = 200;
// Maximum output for one command.
constexpr std::size_t kAnswerBytesMax = 4'096;

// The expected events of a server for the commands, one letter each. The bits of `choice` select the answers in turn.
struct Model {
    enum class Is : std::uint8_t { ready, publishing, playing, over } is = Is::ready;
    std::string events;

    void stop() {
        if (is == Is::publishing)
            events += 's';
        if (is == Is::playing)
            events += 't';
        is = Is::ready;
    }
    void take(Call call, bool is_accepted) {
        switch (call) {
            case Call::publish:
                if (is != Is::ready) {
                    is = Is::over;
                    return;
                }
                events += 'P';
                is = is_accepted ? Is::publishing : Is::ready;
                return;
            case Call::play:
                if (is == Is::publishing) {
                    is = Is::over;
                    return;
                }
                stop();
                events += 'L';
                is = is_accepted ? Is::playing : Is::ready;
                return;
            case Call::publish_false:
            case Call::close_stream: return stop();
            case Call::fc_unpublish:
                if (is == Is::publishing)
                    stop();
                return;
            case Call::delete_stream:
                is = Is::ready;
                events += 'd';
                return;
            case Call::pause:
                if (is == Is::playing)
                    events += 'p';
                return;
            case Call::audio:
                if (is == Is::publishing)
                    events += 'm';
                return;
            default: return;
        }
    }
};

struct Writer {
    ByteWriter out;
    std::uint32_t chunk_size = 128;

    void call(std::string_view name, std::initializer_list<Value> values) {
        write_message(out, 3, MessageType::amf0_command, 0, 1, write_command(name, 2, values), chunk_size);
    }
    void write(Call call_of, std::size_t at) {
        static const std::vector<std::uint8_t> audio(500, 0xaf);
        switch (call_of) {
            case Call::create_stream: return call("createStream", {Value::null()});
            case Call::release_stream: return call("releaseStream", {Value::null(), "cam"});
            case Call::fc_publish: return call("FCPublish", {Value::null(), "cam"});
            case Call::publish: return call("publish", {Value::null(), "cam"});
            case Call::publish_false: return call("publish", {Value::null(), false});
            case Call::play: return call("play", {Value::null(), "cam"});
            case Call::pause: return call("pause", {Value::null(), at % 2 == 0});
            case Call::close_stream: return call("closeStream", {Value::null()});
            case Call::fc_unpublish: return call("FCUnpublish", {Value::null(), "cam"});
            case Call::delete_stream: return call("deleteStream", {Value::null(), 1});
            case Call::audio:
                write_message(out, 4, MessageType::audio, 0, 1, Bytes(audio).first(1 + at % audio.size()), chunk_size);
                return;
            case Call::chunk_size:
                chunk_size = static_cast<std::uint32_t>(128 + 100 * (at % 5));
                wire::rtmp::write_control(out, wire::rtmp::SetChunkSize{chunk_size});
                return;
            default: return call("somethingElse", {Value::null()});
        }
    }
};

struct Played {
    Server server{ServerOptions{.message_bytes_max = 1 << 16, .identity = {}}, 1};
    unsigned choice = 0;
    std::size_t questions = 0;
    std::string events;
    bool is_over = false;

    bool next_answer() { return (choice >> questions++ % 8 & 1) == 0; }
    void give(Bytes input) {
        bool good = server.handle_bytes(TimePoint{}, input).ok();
        take_media();
        while (const auto event = server.poll_event()) {
            good = take(*event) && good;
            take_media();
        }
        is_over = is_over || !good;
    }
    void take_media() { events.append(server.take_media().size(), 'm'); }
    bool take(const Event& event) {
        if (std::holds_alternative<WantsToConnect>(event))
            return server.accept_connect().ok();
        if (std::holds_alternative<WantsToPublish>(event)) {
            events += 'P';
            return (next_answer() ? server.accept_publish() : server.reject_publish("NetStream.Publish.BadName", "no")).ok();
        }
        if (std::holds_alternative<WantsToPlay>(event)) {
            events += 'L';
            return (next_answer() ? server.accept_play() : server.reject_play("NetStream.Play.Failed", "no")).ok();
        }
        if (const auto* const pause = std::get_if<PauseChanged>(&event))
            server.accept_pause(pause->paused);
        constexpr std::string_view kLetters = "???pstd??";
        events += kLetters[event.index()];
        return true;
    }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 3)
        return 0;
    const std::size_t step = 1U + data[0] * 8U;
    Played played;
    played.choice = data[1];
    Model model;
    Writer writer;
    writer.out.u8(3).zeros(2 * kHandshakeBlockBytes);
    writer.call("connect", {Value::object({{"tcUrl", "rtmp://h/live"}})});
    std::size_t questions = 0;
    const std::size_t count = std::min(size - 2, kCallsMax);
    for (std::size_t i = 0; i < count && model.is != Model::Is::over; ++i) {
        const auto call = static_cast<Call>(data[2 + i] % static_cast<unsigned>(Call::count));
        const std::size_t before = model.events.size();
        model.take(call, (data[1] >> questions % 8 & 1) == 0);
        if (model.events.size() > before && (model.events.back() == 'P' || model.events.back() == 'L'))
            ++questions;
        writer.write(call, i);
    }
    const Bytes all = writer.out.written();
    for (std::size_t at = 0; at < all.size() && !played.is_over; at += step)
        played.give(all.subspan(at, std::min(step, all.size() - at)));
    std::vector<std::uint8_t> output;
    played.server.take_output(output);
    CHECK(played.events == model.events);
    CHECK(played.is_over == (model.is == Model::Is::over));
    CHECK(output.size() <= kAnswerBytesMax * (count + 2));
    return 0;
}
