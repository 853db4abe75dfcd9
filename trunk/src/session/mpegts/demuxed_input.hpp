// DemuxedInput: the stream that a port receives, as the session that publishes it sees it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "base/time.hpp"
#include "io/net/udp_socket.hpp"
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
    // For SRT players; nullptr if SRT is disabled.
    TransportLogs* transports = nullptr;
    // The sockets of all ports, which are read in turns, are its owners.
    std::shared_ptr<io::UdpSocket::Inbox> inbox{};
};

// Receives the frames of a port once the stream is published.
class FrameSink {
public:
    virtual void take(wire::ts::TsReader::Unit unit) = 0;
    // Bytes of the stream as they arrived and were read; called before the frames that they complete.
    virtual void pass(Bytes bytes, const wire::ts::TsReader& reader) = 0;
    // After the units of one batch of datagrams.
    virtual void flush() = 0;
    // How long datagrams may wait to be read together. Zero: somebody waits for the stream.
    virtual std::chrono::milliseconds read_interval() const = 0;

protected:
    ~FrameSink() = default;
};

class DemuxedInput {
public:
    // A stream without datagrams for this long has ended.
    static constexpr std::chrono::seconds kSilenceMax{3};

    virtual const Context& context() const = 0;
    // The arrival of the latest datagram.
    virtual TimePoint heard() const = 0;
    virtual std::uint64_t received_bytes() const = 0;
    // Memory of waiting and unfinished frames.
    virtual std::size_t held_bytes() const = 0;
    // The sink receives the waiting frames and all that follow, until it is replaced. nullptr: frames wait.
    virtual void set_sink(FrameSink* sink) = 0;
    // The stream has ended: passes the last frames to the sink.
    virtual void finish_reader() = 0;

protected:
    ~DemuxedInput() = default;
};

}  // namespace live::session::mpegts
