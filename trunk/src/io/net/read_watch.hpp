// ReadWatch: waits for input of a TCP stream without a fiber, for connections that are silent for long. A parked fiber costs a
// page of its stack.
#pragma once

#include "io/fibers/park.hpp"
#include "io/net/tcp_stream.hpp"

namespace live::io {

class ReadWatch final : st::Sleeper {
public:
    class Listener {
    public:
        // There is something to read, or the stream was closed. Called once, by the loop: must not suspend, nor destroy the
        // watch.
        virtual void on_readable() = 0;

    protected:
        ~Listener() = default;
    };

    // `listener` outlives this.
    explicit ReadWatch(Listener& listener) : listener_(listener) {}
    ~ReadWatch();
    ReadWatch(const ReadWatch&) = delete;
    ReadWatch& operator=(const ReadWatch&) = delete;

    // Until the call of the listener no fiber may wait for the stream, which outlives this. False, and nothing is awaited, if
    // there may be something to read now, or the stream is closed.
    bool begin(const TcpStream& stream);

private:
    void wake() override;

    Listener& listener_;
    st::ParkNode node_;
    bool is_linked_ = false;
};

}  // namespace live::io
