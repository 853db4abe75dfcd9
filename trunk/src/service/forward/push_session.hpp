// PushSession: one connection to one destination, from dialling to its end. Reads the source through a cursor like any reader:
// metadata, sequence headers, the cached GOP, then live packets. A slow destination loses packets (the source moves its cursor)
// or, when it reads nothing at all, its connection; it never delays anybody. Push retries.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/bytes/ref.hpp"
#include "base/log/log.hpp"
#include "engine/rtmp/client.hpp"
#include "io/net/stream.hpp"
#include "media/source/cursor.hpp"
#include "service/forward/destination.hpp"
#include "service/rtmp_client/dial.hpp"
#include "session/srt/call/dialler.hpp"

namespace live::service::forward {

// Shared by all pushes of the process. Owned by app; outlives them.
struct ForwardContext {
    rtmp_client::DialContext dial;
    // Between two log lines about a running push.
    std::chrono::milliseconds report_interval = 10s;
    // For srt:// destinations; nullptr refuses them.
    session::srt::Dialler* srt = nullptr;
    // From a connection to the permission to publish.
    std::chrono::milliseconds start_limit = 10s;
    // A destination that has answered a ping and then answers none for so long is given up; zero: it is not asked.
    std::chrono::milliseconds silence_limit{};
};

// How far a push is, over all its connections; for the API.
struct PushProgress {
    bool is_sending = false;
    TimePoint since{};  // when it began to send
    std::uint64_t sent_bytes = 0;
};

class PushSession {
public:
    // For one batch; a slower destination is given up.
    static constexpr std::chrono::seconds kWriteLimit{15};
    static constexpr std::chrono::milliseconds kGoodbyeLimit{500};
    static constexpr std::chrono::milliseconds kPingInterval{500};
    // A batch is sent when it exceeds this, by at most one packet.
    static constexpr std::size_t kBatchBytes = 64 * 1024;

    // A destination that asks for a new connection sooner than this after the last one is heard then.
    static constexpr std::chrono::seconds kReconnectAfter{1};

    // All outlive this. `progress` may be nullptr.
    PushSession(const Destination& destination, const ForwardContext& context, const Log& log, PushProgress* progress);

    // Connects, until the destination lets the stream be published. Errors as run().
    Result<void> open(io::Deadline deadline);
    // Sends until something ends it. Errc::denied when the destination is this server, so that retrying is pointless;
    // Errc::conflict when the other side has a publisher of the stream, Errc::limit when it refuses for another reason; otherwise
    // the network's error. After Errc::cancelled the goodbye has been sent, within kGoodbyeLimit, unless a write was cut off.
    // `audience`: whether the stream has viewers at the destination. `start` is of the first call.
    // Ok when the destination asks for a new connection: everything is still there, and a second call goes on with it.
    Result<void> run(Ref<media::Source> source, media::Cursor::Start start, media::Cursor::Audience audience,
                     io::Deadline deadline);
    // The tcUrl that the destination asked for when run() returned ok; empty: the same.
    std::string take_reconnect_url();
    // The address of the destination; redirect rules depend on it.
    std::string peer_ip() const;
    // Sends what has come since run() returned, as far as it can within the limit.
    void catch_up(io::Deadline deadline);
    // The stream goes on elsewhere: says goodbye and closes.
    void end();

private:
    struct Counters {
        std::uint64_t packets = 0;
        std::uint64_t bytes = 0;
    };

    Result<void> start(io::Deadline deadline);
    // Ok when the destination asks for a new connection.
    Result<void> relay(media::Cursor& cursor, io::Deadline deadline);
    // True when the cursor has more for the next batch.
    Result<bool> send_batch(media::Cursor& cursor, io::Deadline deadline);
    void add(const media::Packet& packet);
    Result<void> read_available();
    Result<void> look_for_answer(io::Deadline deadline);
    io::Deadline next_ping() const;
    io::Deadline write_deadline(io::Deadline deadline) const;
    Result<void> handle_events();
    Result<void> write_output(io::Deadline deadline);
    Result<void> write(Bytes output, io::Deadline deadline);
    // Sends nothing when a write was cut off in the middle of a message: the bytes would be taken for media.
    void say_goodbye();
    void report(const media::Cursor& cursor, TimePoint now);

    const Destination& destination_;
    const ForwardContext& context_;
    const Log& log_;
    PushProgress* const progress_;
    std::unique_ptr<io::Stream> stream_;
    engine::rtmp::Client engine_;
    std::optional<media::Cursor> cursor_;
    std::optional<std::string> reconnect_url_;
    TimePoint opened_at_{};
    TimePoint pinged_at_{};
    TimePoint answered_at_{};
    std::uint64_t answers_ = 0;
    bool is_message_cut_ = false;
    Counters sent_;
    Counters reported_;
    TimePoint reported_at_{};
    std::uint64_t reported_dropped_ = 0;
};

}  // namespace live::service::forward
