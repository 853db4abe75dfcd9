// PushSession: one connection to one destination, from dialling to its end. Reads the source through a cursor like any reader:
// metadata, sequence headers, the cached GOP, then live packets. A slow destination loses packets (the source moves its cursor)
// or, when it reads nothing, its connection; it never delays the publisher or other readers. Forwarder and Push retry.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
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

// Shared by all pushes of the process. Owned by app; must outlive them.
struct ForwardContext {
    rtmp_client::DialContext dial;
    // Between two log lines about a running push.
    std::chrono::milliseconds report_interval = 10s;
    // For srt:// destinations; empty: they are refused.
    std::function<session::srt::Dialler&()> srt{};
    // Time limit from the connection to the permission to publish.
    std::chrono::milliseconds start_limit = 10s;
    // A destination that has answered a ping and then answers none for this long is left; zero: no pings are sent.
    std::chrono::milliseconds silence_limit{};
};

// The progress of a push over all its connections, for the API.
struct PushProgress {
    bool is_sending = false;
    TimePoint since{};  // when it began to send
    std::uint64_t sent_bytes = 0;
};

class PushSession {
public:
    // The time limit of one batch; a slower destination is left.
    static constexpr std::chrono::seconds kWriteLimit{15};
    static constexpr std::chrono::milliseconds kGoodbyeLimit{500};
    static constexpr std::chrono::milliseconds kPingInterval{500};
    // A batch is sent when it exceeds this, by at most one packet.
    static constexpr std::size_t kBatchBytes = 64 * 1024;

    // A reconnect request sooner than this after the last connection takes effect after this time.
    static constexpr std::chrono::seconds kReconnectAfter{1};

    // All referenced objects must outlive this. `progress` may be nullptr.
    PushSession(const Destination& destination, const ForwardContext& context, const Log& log, PushProgress* progress);

    // Connects and waits until the destination permits the stream. Errors as run().
    Result<void> open(io::Deadline deadline);
    // Sends until the push ends. Errc::denied when the destination is this server, so that retrying is pointless; Errc::conflict
    // when the other side has a publisher of the stream, Errc::limit when it refuses for another reason; otherwise the network's
    // error. After Errc::cancelled, the destination has been notified within kGoodbyeLimit, unless a write was cut off.
    // `audience` states whether the stream has viewers at the destination. `start` is for the first call. Returns ok on a
    // reconnect request of the destination: the connection is still open, and a second call continues on it.
    Result<void> run(Ref<media::Source> source, media::Cursor::Start start, media::Cursor::Audience audience,
                     io::Deadline deadline);
    // Returns the tcUrl of the reconnect request after run() returned ok; empty: the same.
    std::string take_reconnect_url();
    // Returns the address of the destination, for the rules of redirects.
    std::string peer_ip() const;
    // Sends the packets that arrived since run() returned, as far as possible within the limit.
    void catch_up(io::Deadline deadline);
    // The stream continues at another destination: unpublishes and closes.
    void end();

private:
    struct Counters {
        std::uint64_t packets = 0;
        std::uint64_t bytes = 0;
    };

    Result<void> start(io::Deadline deadline);
    // Returns ok on a reconnect request of the destination.
    Result<void> relay(media::Cursor& cursor, io::Deadline deadline);
    // Reports whether the cursor has more for the next batch.
    Result<bool> send_batch(media::Cursor& cursor, io::Deadline deadline);
    void add(const media::Packet& packet);
    Result<void> read_available();
    Result<void> look_for_answer(io::Deadline deadline);
    io::Deadline next_ping() const;
    io::Deadline write_deadline(io::Deadline deadline) const;
    Result<void> handle_events();
    Result<void> write_output(io::Deadline deadline);
    Result<void> write(Bytes output, io::Deadline deadline);
    // Sends nothing when a write was cut off in the middle of a message: the destination would parse the bytes as media.
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
