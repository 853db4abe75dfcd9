// Recording: turns packets into a file: FLV, MP4 with its header at the end, or fragmented MP4. Dry: it produces bytes to append;
// the recorder writes them to disk.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/bytes/byte_writer.hpp"
#include "base/result.hpp"
#include "io/files/output_file.hpp"
#include "media/ring/packet.hpp"
#include "service/dvr/file_name.hpp"
#include "service/files/event_counts.hpp"
#include "wire/mp4/read/recording_note.hpp"

namespace live::service::dvr {

class Recording {
public:
    enum class Last : bool { no, yes };

    virtual ~Recording() = default;

    // Adds a packet with its time since the beginning of the file; a negative time counts as zero. Errc::conflict: the file
    // cannot continue with this packet (another codec, or it is full), which belongs to the next file. Any other error loses this
    // packet only.
    virtual Result<void> push(const media::Packet& packet, MediaTime time) = 0;
    // Approximate size of the next take().
    virtual std::size_t pending_bytes() const = 0;
    // Reports whether bytes are ready that should reach the disk at once: a part that plays.
    virtual bool has_whole_part() const { return false; }
    // Appends the bytes that are ready for the end of the file; with Last::yes, all remaining ones.
    virtual void take(ByteWriter& out, Last last) = 0;
    // Only the first `bytes` of take() were written: the end of the file refers only to these. No packet may be pushed
    // afterwards.
    virtual void truncate_at(std::uint64_t bytes) = 0;
    // After the last take. May be called in another thread.
    virtual io::OutputFile::Ending finish() const = 0;
    // Reports whether audio or video frames were pushed.
    virtual bool has_media() const = 0;
    // Media up to this time since the beginning of the file is in what was taken and can be played while the file grows; zero for
    // formats that cannot.
    virtual MediaTime playable() const { return {}; }

    // Timed events are counted here too. `counts` must outlive this.
    void count_events_in(files::EventCounts& counts) { counts_ = &counts; }
    // Timed events that are not in the file: the format has no place for them, or its limits are reached.
    std::uint64_t dropped_events() const { return dropped_events_; }

protected:
    enum class Kept : bool { no, yes };
    void count_event(media::TimedEvent::Kind kind, Kept kept);

private:
    files::EventCounts* counts_ = nullptr;
    std::uint64_t dropped_events_ = 0;
};

// `metadata` is the stream's onMetaData message, or empty. `product` is written as the recorder. `note`: for fragmented MP4.
std::unique_ptr<Recording> make_recording(FileFormat format, Bytes metadata, std::string_view product,
                                          const std::optional<wire::mp4::RecordingNote>& note = {});

}  // namespace live::service::dvr
