// HandshakeStep: datagrams of a peer and the Transport that handles them, as one piece of a server's handshake. Nearly all of a
// handshake's cost is in it (key exchange, signatures, the peer's certificate), and it may run in another thread than its
// session.
//
// Ownership: the step owns the transport and the datagrams from its creation until take_transport(), so nobody else can use the
// transport meanwhile, and neither needs a lock. The step's owner may run it, once, in any thread, or destroy it; only passing it
// on must be synchronized. It shares only the Context's SSL_CTX, with its certificate and key: these are not changed after
// Context::create(), the transport holds a counted reference to them, and OpenSSL permits that use (SSL_CTX_new(3),
// openssl-threads(7)). No callback of the transport leads out of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "engine/dtls/transport.hpp"

namespace live::engine::dtls {

class HandshakeStep {
public:
    struct Options {
        bool exports_keys = true;
        // Destroys the transport once it has established the session, if its last flight can be kept (LastFlight).
        bool frees_transport = false;
    };

    // `datagrams` must not be empty. Those after the one that ends the handshake are dropped: the peer repeats them if they
    // matter. `arrived`: when the last datagram arrived.
    HandshakeStep(std::unique_ptr<Transport> transport, std::vector<std::vector<std::uint8_t>> datagrams, TimePoint arrived,
                  Options options)
        : transport_(std::move(transport)), datagrams_(std::move(datagrams)), arrived_(arrived), options_(options) {}

    void run();

    TimePoint arrived() const { return arrived_; }
    // Datagrams that it has yet to handle.
    std::size_t size() const { return datagrams_.size(); }
    // Call each of these once, after run().
    Transport::Progress take_progress() { return std::move(progress_); }
    // nullptr if it was destroyed.
    std::unique_ptr<Transport> take_transport() { return std::move(transport_); }

private:
    std::unique_ptr<Transport> transport_;
    std::vector<std::vector<std::uint8_t>> datagrams_;
    TimePoint arrived_;
    Options options_;
    Transport::Progress progress_;
};

}  // namespace live::engine::dtls
