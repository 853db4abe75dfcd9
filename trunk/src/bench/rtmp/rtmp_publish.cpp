#include "bench/rtmp/rtmp_publish.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "bench/measure/delay_stamp.hpp"
#include "bench/rtmp/rtmp_open.hpp"
#include "io/fibers/loop.hpp"

namespace live::bench {
namespace {

using std::chrono::milliseconds;
using wire::rtmp::MessageType;

// Publishers wake at multiples of this, so that many share one turn of the loop.
constexpr milliseconds kPublishTick{5};
constexpr milliseconds kExactPublishTick{1};
// Bytes that are collected before a send.
constexpr std::size_t kBatchBytes = 256 << 10;
constexpr milliseconds kLastWordsLimit{1000};
// Lets the server read to the end before the close: an unread response would turn the close into a reset.
constexpr milliseconds kLingerLimit{300};
// The interval of the messages with a stamp, for clips whose frames cannot carry one.
constexpr milliseconds kStampStep{1000};

class Publisher {
public:
    Publisher(LoadClient& client, const FlvClip& clip) : client_(client), clip_(clip) {
        const LoadOptions& options = client.context.options;
        is_exact_ = options.stamp || options.ahead <= Seconds(0);
        ahead_ = is_exact_ ? milliseconds(0) : std::chrono::duration_cast<milliseconds>(options.ahead);
    }

    Result<void> run(io::Deadline deadline) {
        opened_ = TRY(open_rtmp(client_, engine::rtmp::ClientOptions::Mode::publish,
                                deadline.sooner(io::Deadline::after(LoadTask::kStartLimit))));
        start_ = io::now();
        client_.on_open();
        client_.meter.on_first_frame(start_);
        io::trim_stack();
        auto ended = publish(deadline);
        if (!ended.ok() && ended.code() == Errc::cancelled)
            send_goodbye();
        opened_.stream->close();
        return ended;
    }

private:
    Result<void> publish(io::Deadline deadline) {
        for (;;) {
            TRY(send_due(deadline));
            TRY(read_available());
            TRY(opened_.stream->wait_ready(io::Interest::readable, nullptr, deadline.sooner(io::Deadline::at(next_wake()))));
        }
    }

    // When the next message is due. If they may run ahead, publishers send several at once: they wake when a third of that
    // allowance is used.
    TimePoint next_wake() const {
        const auto tick = is_exact_ ? kExactPublishTick : kPublishTick;
        auto due = start_ + milliseconds(next_time_ms()) - ahead_;
        if (!is_exact_)
            due = std::max(due, io::now() + ahead_ / 3);
        const auto ticks = std::chrono::ceil<milliseconds>(due.time_since_epoch()) / tick + 1;
        return TimePoint(ticks * tick);
    }

    std::int64_t next_time_ms() const {
        return static_cast<std::int64_t>(round_) * clip_.round_ms + clip_.messages[next_].time_ms;
    }

    Result<void> send_due(io::Deadline deadline) {
        const TimePoint now = io::now();
        while (start_ + milliseconds(next_time_ms()) <= now + ahead_) {
            const ClipMessage& message = clip_.messages[next_];
            if (round_ == 0 || !message.is_setup)
                add(now, message);
            if (++next_ == clip_.messages.size()) {
                next_ = 0;
                ++round_;
            }
            // Sends each message separately at its time, as an encoder does.
            if (is_exact_ || waiting_bytes_ >= kBatchBytes)
                TRY(flush(deadline));
        }
        return flush(deadline);
    }

    void add(TimePoint now, const ClipMessage& message) {
        // RTMP's clock wraps at 32 bits.
        const auto time_ms = static_cast<std::uint32_t>(next_time_ms());
        const auto behind = now - (start_ + milliseconds(next_time_ms()));
        const auto late = std::chrono::duration_cast<std::chrono::microseconds>(behind);
        client_.meter.on_late(late);
        client_.context.totals.late_max = std::max(client_.context.totals.late_max, late);
        if (!client_.context.options.stamp || !add_stamped(now, message, time_ms))
            send(message.type, time_ms, message.body.bytes());
    }

    // False when the message itself is still to be sent.
    bool add_stamped(TimePoint now, const ClipMessage& message, std::uint32_t time_ms) {
        const auto wall = std::chrono::system_clock::now().time_since_epoch();
        const auto micros = std::chrono::duration_cast<SystemMicros>(wall);
        if (clip_.takes_video_stamps) {
            const auto stamped = message.type == MessageType::video ? stamped_video(message.body.bytes(), micros) : std::nullopt;
            if (stamped)
                send(message.type, time_ms, *stamped);
            client_.context.totals.stamps += stamped ? 1 : 0;
            return stamped.has_value();
        }
        if (!message.is_setup && now - stamped_at_ >= kStampStep) {
            stamped_at_ = now;
            send(MessageType::amf0_data, time_ms, stamp_message(micros));
            ++client_.context.totals.stamps;
        }
        return false;
    }

    void send(MessageType type, std::uint32_t time_ms, Bytes body) {
        opened_.engine->send_media(type, time_ms, body);
        waiting_bytes_ += body.size();
        if (type == MessageType::video)
            waiting_media_.add(wire::flv::TagType::video, time_ms, body.size());
        else if (type == MessageType::audio)
            waiting_media_.add(wire::flv::TagType::audio, time_ms, body.size());
    }

    Result<void> flush(io::Deadline deadline) {
        if (!opened_.engine->has_output())
            return {};
        std::vector<std::uint8_t> batch;
        opened_.engine->take_output(batch);
        waiting_bytes_ = 0;
        is_message_cut_ = true;
        const std::array all{io::as_part(batch)};
        const std::size_t taken = TRY(opened_.stream->try_write(all));
        if (taken < batch.size()) {
            const std::array rest{io::as_part(Bytes(batch).subspan(taken))};
            TRY(opened_.stream->write_all(rest, deadline.sooner(io::Deadline::after(LoadTask::kIdleLimit))));
        }
        is_message_cut_ = false;
        client_.context.totals.media.add(std::exchange(waiting_media_, {}));
        client_.count_out(batch.size());
        return {};
    }

    Result<void> read_available() {
        const auto count = opened_.stream->try_read(client_.scratch());
        if (!count.ok())
            return count.code() == Errc::need_more ? Result<void>() : Result<void>(count.error());
        client_.context.totals.bytes_in += *count;
        TRY(opened_.engine->handle_bytes(io::now(), Bytes(client_.scratch()).first(*count)));
        while (auto event = opened_.engine->poll_event()) {
            if (const auto* rejected = std::get_if<engine::rtmp::Rejected>(&*event))
                return Error(Errc::denied, fmt::format("the server refuses: {}: {}", rejected->code, rejected->description));
            if (const auto* over = std::get_if<engine::rtmp::StreamEnded>(&*event))
                return Error(Errc::denied, fmt::format("the server ended the stream: {}", over->code));
        }
        return {};
    }

    void send_goodbye() {
        if (is_message_cut_)
            return;
        const io::CancelShield shield;
        opened_.engine->stop();
        const auto said = write_output(client_, opened_, io::Deadline::after(kLastWordsLimit));
        const auto limit = io::Deadline::after(kLingerLimit);
        for (bool goes_on = said.ok(); goes_on;)
            goes_on = opened_.stream->read_some(client_.scratch(), limit).ok();
    }

    LoadClient& client_;
    const FlvClip& clip_;
    OpenedRtmp opened_;
    TimePoint start_{};
    TimePoint stamped_at_{};
    milliseconds ahead_{};
    std::uint64_t round_ = 0;
    std::size_t next_ = 0;
    std::size_t waiting_bytes_ = 0;
    MediaAccount waiting_media_;  // not yet in the socket
    bool is_exact_ = false;
    bool is_message_cut_ = false;
};

}  // namespace

Result<void> RtmpPublish::run(LoadClient& client, io::Deadline deadline) {
    return std::make_unique<Publisher>(client, clip_)->run(deadline);
}

}  // namespace live::bench
