// Between a port, which receives a stream, and the session that publishes it.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/time.hpp"
#include "media/source/stream_table.hpp"
#include "session/common/admission.hpp"
#include "session/common/client_table.hpp"
#include "session/fan_out/transport_log.hpp"
#include "session/limits/connection_limits.hpp"
#include "wire/ts/read/ts_reader.hpp"

namespace live::session::mpegts {

// Shared by all casters of this kind. Everything referred to outlives the ports.
struct Context {
    media::StreamTable& streams;
    Admission& admission;
    StreamEvents& events;
    ClientTable& clients;
    ConnectionLimits& places;
    // For players of SRT; nullptr: there are none.
    TransportLogs* transports = nullptr;
};

// Takes the frames of a port once it is published.
class FrameSink {
public:
    virtual void take(wire::ts::TsReader::Unit unit) = 0;
    // Bytes of the stream as they came, which the reader has read; before the frames that they complete.
    virtual void pass(Bytes bytes, const wire::ts::TsReader& reader) = 0;
    // After the units of one batch of datagrams.
    virtual void flush() = 0;

protected:
    ~FrameSink() = default;
};

class DemuxedInput {
public:
    // A stream that nothing comes for has ended.
    static constexpr std::chrono::seconds kSilenceMax{3};

    virtual const Context& context() const = 0;
    // When the latest datagram came.
    virtual TimePoint heard() const = 0;
    virtual std::uint64_t received_bytes() const = 0;
    // Frames that wait, and unfinished ones.
    virtual std::size_t held_bytes() const = 0;
    // The sink takes what has come, and all that follows; nullptr: no longer.
    virtual void set_sink(FrameSink* sink) = 0;
    // Gives the last frames to the sink; the stream is over.
    virtual void finish_reader() = 0;

protected:
    ~DemuxedInput() = default;
};

}  // namespace live::session::mpegts
