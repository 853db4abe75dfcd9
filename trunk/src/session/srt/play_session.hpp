// PlaySession: one SRT client that plays a source as a transport stream, from a key frame on, in units of whole transport
// packets.
#pragma once

#include <array>
#include <optional>
#include <span>

#include <sys/uio.h>

#include "media/source/wire_cursor.hpp"
#include "session/srt/session.hpp"

namespace live::session::srt {

class PlaySession : public Session, private GroupPlayer {
public:
    // After this many packets without video, a stream counts as audio only.
    static constexpr std::uint64_t kSurePackets = 20;
    // Sent at once; others get a turn before the rest.
    static constexpr std::size_t kUnitsAtOnce = 256;

    using Session::Session;
    ~PlaySession() override;

protected:
    Result<void> serve(Opening& opening, io::Deadline deadline) override;
    // GroupPlayer
    void serve(TimePoint now) override;
    // Sends until something ends it, once connected.
    Result<void> send(const Ref<media::Source>& source, std::size_t payload_bytes_max, media::Audience audience,
                      io::Deadline deadline);

private:
    Result<void> make_key(Opening& opening, io::Deadline deadline);
    Result<void> play(Opening& opening, io::Deadline deadline);
    ClientFigures figures() const override;
    bool is_publisher() const override { return false; }
    void on_input(TimePoint now) override;
    Link& link() override { return *this; }

    // A transport stream, sent unchanged.
    void pass(const TransportLog& log, TimePoint now);
    bool begin_to_pass(const TransportLog& log);
    // Whether it was taken, so that more may follow.
    bool send_unit(TimePoint now, const Slice& unit);
    bool begin();
    std::optional<media::Sequence> starting_point() const;
    Slice next_unit();
    Slice next_unit(const TransportLog& log);
    // In a log, and whether others are likely to cut there too.
    struct Place {
        std::uint64_t log = 0;
        std::uint64_t position = 0;
        bool is_shared = false;
    };
    std::size_t left_of_round(const Place& place, std::uint64_t log_end, std::size_t size_max) const;
    // nullptr: not cut yet.
    const Slice* known_unit(const Place& place, std::size_t size_max) const;
    // The first bytes of `parts`, which have as many.
    Slice cut(const Place& place, std::span<const ::iovec> parts, std::size_t size);

    Ref<media::Source> source_;
    PlayGroup* group_ = nullptr;
    std::optional<media::WireCursor> cursor_;
    media::Sequence not_before_ = 0;
    std::uint64_t passed_ = 0;  // the id of the log
    TransportLog::Position passed_to_ = 0;
    bool is_passing_ = false;
    Slice opening_;                     // to be sent before
    std::uint64_t missed_packets_ = 0;  // transport packets
    std::size_t unit_bytes_ = 0;
    bool is_full_ = false;  // the connection takes no more until something is acknowledged
};

}  // namespace live::session::srt
