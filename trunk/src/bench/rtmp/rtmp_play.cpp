#include "bench/rtmp/rtmp_play.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/log/log_format.hpp"
#include "bench/clips/media_head.hpp"
#include "bench/load/discard.hpp"
#include "bench/measure/delay_stamp.hpp"
#include "bench/rtmp/chunk_skipper.hpp"
#include "bench/rtmp/rtmp_open.hpp"
#include "engine/rtmp/command.hpp"
#include "io/fibers/loop.hpp"
#include "wire/rtmp/control_message.hpp"

namespace live::bench {
namespace {

using wire::rtmp::MessageType;
using wire::rtmp::UserControl;

// A deadline is renewed only this often: renewing it for every read costs more than the read itself.
constexpr std::chrono::seconds kDeadlineStep{5};

Error ended_by_server(const wire::amf::Value* information) {
    const auto text = [&](std::string_view key) {
        const wire::amf::Value* value = information == nullptr ? nullptr : information->find(key);
        return std::string(value == nullptr ? "" : value->string().value_or(""));
    };
    return {Errc::denied, fmt::format("the server ended the stream: {} {}", text("code"), text("description"))};
}

// Follows the data of one connection.
class Player {
public:
    explicit Player(LoadClient& client) : client_(client) {}

    Result<void> run(io::Deadline deadline) {
        opened_ = TRY(open_rtmp(client_, engine::rtmp::ClientOptions::Mode::play,
                                deadline.sooner(io::Deadline::after(LoadTask::kStartLimit))));
        opened_.engine.reset();
        TRY(take(std::exchange(opened_.chunks, {})));
        is_open_ = true;
        // From here on the fiber is parked most of the time; the stack pages of the handshake and the calls are not needed again.
        io::trim_stack();
        client_.on_open();
        return client_.looks() ? follow(deadline) : discard(deadline);
    }

private:
    static constexpr std::uint64_t kWindowUsual = 2'500'000;

    Result<void> take(Bytes chunks) {
        received_ += chunks.size();
        const TimePoint now = io::now();
        while (auto message = TRY(skipper_.read(chunks)))
            TRY(on_message(now, *message));
        return {};
    }

    Result<void> follow(io::Deadline deadline) {
        TimePoint limit_set = io::now();
        auto limit = deadline.sooner(io::Deadline::at(limit_set + LoadTask::kIdleLimit));
        for (;;) {
            const std::size_t count = TRY(opened_.stream->read_some(client_.scratch(), limit));
            client_.count_in(count);
            TRY(take(Bytes(client_.scratch()).first(count)));
            if (const auto now = io::now(); now - limit_set > kDeadlineStep) {
                limit_set = now;
                limit = deadline.sooner(io::Deadline::at(now + LoadTask::kIdleLimit));
            }
            if (received_ - acknowledged_ >= window_ / 2)
                acknowledge();
            if (answers_.size() > 0)
                TRY(send_answers(limit));
        }
    }

    Result<void> discard(io::Deadline deadline) {
        client_.meter.on_first_frame(io::now());
        Discard discard(client_, *opened_.stream);
        for (;;) {
            const std::uint64_t step = window_ / 2;
            TRY(discard.take(step, deadline));
            received_ += step;
            acknowledge();
            TRY(send_answers(deadline.sooner(io::Deadline::after(LoadTask::kIdleLimit))));
        }
    }

    Result<void> on_message(TimePoint now, const SkippedMessage& message) {
        switch (message.type) {
            case MessageType::audio: on_media(now, wire::flv::TagType::audio, message); return {};
            case MessageType::video: on_media(now, wire::flv::TagType::video, message); return {};
            case MessageType::aggregate: client_.on_media(now, message.timestamp_ms); return {};
            case MessageType::amf0_data:
                if (const auto sent = find_data_stamp(message.head))
                    client_.on_stamp(*sent);
                return {};
            default: break;
        }
        // The engine has handled the messages before the play started.
        return is_open_ ? on_protocol(message) : Result<void>();
    }

    void on_media(TimePoint now, wire::flv::TagType type, const SkippedMessage& message) {
        client_.on_payload(type, message.timestamp_ms, message.length);
        if (!carries_frames(type, message.head))
            return;
        client_.on_media(now, message.timestamp_ms);
        if (type != wire::flv::TagType::video)
            return;
        if (const auto sent = find_video_stamp(message.head))
            client_.on_stamp(*sent);
    }

    Result<void> on_protocol(const SkippedMessage& message) {
        if (message.type == MessageType::amf0_command || message.type == MessageType::amf3_command)
            return on_command(message);
        if (!wire::rtmp::is_control(message.type))
            return {};
        const auto control = TRY(wire::rtmp::parse_control(message.type, message.head));
        if (const auto* window = std::get_if<wire::rtmp::WindowAckSize>(&control))
            window_ = std::max<std::uint64_t>(window->bytes, 1);
        const auto* user = std::get_if<UserControl>(&control);
        if (user != nullptr && user->event == UserControl::Event::ping_request)
            wire::rtmp::write_control(answers_, UserControl{UserControl::Event::ping_response, user->value, 0});
        return {};
    }

    Result<void> on_command(const SkippedMessage& message) {
        const auto command = TRY(engine::rtmp::parse_command({message.type, 0, 0, 0, Slice::copy_of(message.head)}));
        if (command.name != "onStatus" && command.name != "_error")
            return {};
        const wire::amf::Value& information = command.argument(0);
        const wire::amf::Value* level = information.find("level");
        if (command.name == "_error" || (level != nullptr && level->string() == "error"))
            return ended_by_server(&information);
        return {};
    }

    void acknowledge() {
        acknowledged_ = received_;
        wire::rtmp::write_control(answers_,
                                  wire::rtmp::Acknowledgement{static_cast<std::uint32_t>(received_ + kServerHandshakeBytes)});
    }

    Result<void> send_answers(io::Deadline deadline) {
        const std::vector<std::uint8_t> bytes = answers_.release();
        const std::array parts{io::as_part(bytes)};
        TRY(opened_.stream->write_all(parts, deadline));
        client_.count_out(bytes.size());
        return {};
    }

    LoadClient& client_;
    OpenedRtmp opened_;
    ChunkSkipper skipper_;
    ByteWriter answers_;
    std::uint64_t received_ = 0;  // after the handshake
    std::uint64_t acknowledged_ = 0;
    std::uint64_t window_ = kWindowUsual;
    bool is_open_ = false;
};

}  // namespace

Result<void> RtmpPlay::run(LoadClient& client, io::Deadline deadline) {
    // Not on the fiber's stack, whose pages a player keeps.
    return std::make_unique<Player>(client)->run(deadline);
}

}  // namespace live::bench
