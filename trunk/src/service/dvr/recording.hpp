// Recording: what becomes of packets in a file: FLV, MP4 with its header at the end, or MP4 in fragments. Dry: it gives bytes to
// append; the recorder brings them to the disk.
#pragma once

#include <memory>
#include <string_view>

#include "base/byte_writer.hpp"
#include "base/result.hpp"
#include "io/output_file.hpp"
#include "media/packet.hpp"
#include "service/dvr/file_name.hpp"

namespace live::service::dvr {

class Recording {
public:
    enum class Last : bool { no, yes };

    virtual ~Recording() = default;

    // A packet, and its time since the file's beginning; a negative one counts as zero. Errc::conflict: the file cannot go on
    // with this packet (another codec, or it is full); it belongs at the beginning of the next. Any other error loses this packet
    // only.
    virtual Result<void> push(const media::Packet& packet, MediaTime time) = 0;
    // That take() would give by now, about.
    virtual std::size_t pending_bytes() const = 0;
    // Appends what goes to the end of the file now; Last::yes: with all that is still held back.
    virtual void take(ByteWriter& out, Last last) = 0;
    // The disk took only `bytes` of all that take() gave: nothing may lead behind them, and nothing is pushed any more.
    virtual void lose_behind(std::uint64_t bytes) = 0;
    // Behind the last take. May be called in another thread.
    virtual io::OutputFile::Ending finish() const = 0;
    // Audio or frames have been taken in; sequence headers alone are nothing.
    virtual bool has_media() const = 0;
};

// `metadata` is the stream's onMetaData message, or empty; `product` says in it who recorded.
std::unique_ptr<Recording> make_recording(FileFormat format, Bytes metadata, std::string_view product);

}  // namespace live::service::dvr
