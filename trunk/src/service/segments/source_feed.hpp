// SourceFeed: follows one stream for an output that makes segments of it: its packets, and who publishes, in the order in which
// they came. A reader of the source like any player. It also knows when such an output is over: some time after the last
// publisher.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/log.hpp"
#include "base/ref.hpp"
#include "io/deadline.hpp"
#include "media/cursor.hpp"
#include "session/common/admission.hpp"

namespace live::service::segments {

class SourceFeed {
public:
    // What follows a source. The functions with a deadline may suspend.
    class Sink {
    public:
        // Somebody begins to publish; none: the publisher has gone.
        virtual void on_publisher(const std::optional<session::ClientRequest>& publisher, io::Deadline deadline) = 0;
        virtual void on_packet(const media::Packet& packet, io::Deadline deadline) = 0;
        // Packets are missing in front of the next one.
        virtual void on_hole() = 0;

    protected:
        ~Sink() = default;
    };

    // `output` is how the log calls it: "HLS".
    SourceFeed(std::string output, Ref<media::Source> source, media::Listens how, Log log);

    // None of these suspends.
    void on_published(const session::ClientRequest& publisher);
    void on_unpublished();
    // Nobody publishes, and the memory is needed: the output is to dispose of everything now.
    void give_up();
    // Something outside has changed: the output's fiber looks at it.
    void wake() { cursor_.readable().raise(); }
    bool is_published() const { return published_; }
    // The last publisher has gone, and all that it sent was handed out.
    bool has_ended() const { return !published_ && changes_.empty(); }
    // The output ends: whoever publishes is nobody here.
    void end() { published_ = false; }

    // Hands out what there is. Others have their turn between two packets: what has gathered may be megabytes.
    enum class Drained : std::uint8_t { all, in_part };
    Drained drain(Sink& sink, io::Deadline deadline);
    // After drain(): until there is more. `over`: nobody has published for that long, or give_up().
    enum class Next : std::uint8_t { packets, over, cancelled };
    Next wait(Drained drained, Duration kept_for, io::Deadline deadline);
    // Whether anybody plays what is made.
    void set_watched(bool watched) {
        cursor_.set_audience(watched ? media::Cursor::Audience::some : media::Cursor::Audience::none);
    }

    media::Source& source() { return *source_; }
    const media::Source& source() const { return *source_; }
    const std::string& url() const { return source_->url(); }

private:
    void follow_publishers(Sink& sink, io::Deadline deadline);
    bool is_too_large(const media::Packet& packet);

    const std::string output_;
    Ref<media::Source> source_;
    Log log_;
    media::Cursor cursor_;
    // Where in the source's ring somebody begins to publish, or ends.
    struct Change {
        media::Sequence at{};
        std::optional<session::ClientRequest> publisher;
    };
    std::deque<Change> changes_;  // that the cursor has not come to
    std::uint64_t dropped_ = 0;   // by the cursor, as far as it is known here
    TimePoint ended_at_{};
    bool published_ = false;
    bool is_given_up_ = false;  // until the next publisher
    bool large_told_ = false;   // that frames are left out
};

}  // namespace live::service::segments
