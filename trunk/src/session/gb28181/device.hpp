// Device: one session that the API has opened, and the media of the camera that has connected for it. A fiber serves it from the
// first packet on: TcpInput reads a connection, UdpInput waits for what a port delivers.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/signal.hpp"
#include "base/time.hpp"
#include "engine/gb28181/media_receiver.hpp"
#include "engine/gb28181/session_table.hpp"
#include "engine/gb28181/tcp_frames.hpp"
#include "io/fibers/deadline.hpp"
#include "io/net/tcp_stream.hpp"
#include "session/common/read_tick.hpp"
#include "session/common/traffic.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::session::gb28181 {

struct Device {
    std::string id;
    std::uint64_t number = 0;  // of the session: ids come again
    wire::rtmp::StreamUrl url;
    // From the first packet on.
    std::unique_ptr<engine::gb28181::MediaReceiver> receiver{};
    bool is_served = false;   // a fiber serves it, and removes it in the end
    bool is_dialled = false;  // a fiber connects to it
    TimePoint received_at{};  // the newest packet
    Signal changed{};         // a packet over UDP, or the session is to end
    std::string ended_by{};   // the reason why it is to end
    io::TcpStream* stream = nullptr;

    // The fiber that serves it ends soon.
    void end(std::string why) {
        ended_by = std::move(why);
        if (stream != nullptr)
            stream->close();
        changed.raise();
    }
};

// Where the media of a device comes from.
class MediaInput {
public:
    // Waits until more of the stream has been passed to the device's receiver. Errc::closed at the end of a connection,
    // Errc::timed_out, Errc::cancelled, Errc::malformed.
    virtual Result<void> receive(io::Deadline deadline) = 0;
    // Waits for the next tick, if everything that has arrived was read; the kernel holds what arrives meanwhile. Returns early
    // when the device is to end. Errc::cancelled.
    virtual Result<void> pause(std::chrono::milliseconds /*tick*/, io::Deadline /*deadline*/) { return {}; }
    // Memory of incomplete packets.
    virtual std::size_t held_bytes() const { return 0; }

protected:
    ~MediaInput() = default;
};

class UdpInput final : public MediaInput {
public:
    explicit UdpInput(Device& device) : device_(device) {}
    Result<void> receive(io::Deadline deadline) override;

private:
    Device& device_;
};

class TcpInput final : public MediaInput {
public:
    // All outlive this. `frames` may have packets that follow the first one.
    TcpInput(Device& device, io::TcpStream& stream, engine::gb28181::TcpFrames& frames, Traffic& traffic, MutBytes scratch)
        : device_(device), stream_(stream), frames_(frames), traffic_(traffic), scratch_(scratch) {}

    Result<void> receive(io::Deadline deadline) override;
    Result<void> pause(std::chrono::milliseconds tick, io::Deadline deadline) override;
    std::size_t held_bytes() const override { return frames_.held_bytes(); }

private:
    bool take_packets();

    Device& device_;
    io::TcpStream& stream_;
    engine::gb28181::TcpFrames& frames_;
    Traffic& traffic_;
    MutBytes scratch_;
    ReadTick ticks_;
    std::size_t received_ = 0;  // since the previous tick
    bool is_drained_ = false;
};

}  // namespace live::session::gb28181
