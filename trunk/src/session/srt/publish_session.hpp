// PublishSession: one SRT client that publishes: the transport stream in its payloads becomes frames of a source.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "media/ingest/ingest.hpp"
#include "media/source/publication.hpp"
#include "session/common/traffic.hpp"
#include "session/srt/session.hpp"
#include "wire/ts/read/early_reader.hpp"

namespace live::session::srt {

class PublishSession final : public Session, public PulledLink {
public:
    // If players get data more often than this, payloads are delivered as they become due, and not on ticks.
    static constexpr std::chrono::milliseconds kMergedWriteMin{100};

    using Session::Session;
    ~PublishSession() override;

    // PulledLink, of a call
    PullFigures pull_figures() const override;
    void end_pull(std::string why) override { kick(std::move(why)); }

private:
    Result<void> serve(Opening& opening, io::Deadline deadline) override;
    Result<void> receive(Opening& opening, std::unique_ptr<media::Publication> publication, io::Deadline deadline);
    bool is_publisher() const override { return true; }
    void on_datagram() override;
    void on_input(TimePoint now) override;
    Duration patience(TimePoint now) const override;
    bool is_behind() const override { return is_behind_; }
    // Reads the payloads that have arrived in order, while they are in the cache. Their frames wait until they are due.
    void read_arrived();
    void read(Bytes bytes, std::uint64_t position);
    // Takes due payloads, for as long as a turn of the loop may take. True if none is left.
    bool take_some(TimePoint now);
    // Passes on the frames of payloads up to this position.
    void take_frames(std::uint64_t due);
    void log_tracks();

    wire::ts::EarlyReader reader_;
    media::Publication* publication_ = nullptr;       // while it is published
    std::optional<media::Ingest> ingest_;             // likewise
    std::optional<TransportLogs::Holder> transport_;  // likewise; for players of SRT
    std::uint32_t logged_version_ = 0;
    bool is_behind_ = false;  // payloads that are due wait for the next turn
};

}  // namespace live::session::srt
