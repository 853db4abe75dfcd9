#include "engine/dtls/handshake_step.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/dtls/last_flight.hpp"

namespace live::engine::dtls {

// Stops at the end of the handshake. Output for earlier datagrams is then out of date: the peer has answered it.
void HandshakeStep::run() {
    Result<void> outcome;
    std::vector<std::vector<std::uint8_t>> earlier;
    for (const auto& datagram : datagrams_) {
        outcome = transport_->handle_datagram(arrived_, datagram);
        if (!outcome.ok() || transport_->state() != Transport::State::handshaking)
            break;
        std::ranges::move(transport_->take_output(), std::back_inserter(earlier));
    }
    datagrams_.clear();
    progress_ = transport_->take_progress(std::move(outcome), options_.exports_keys);
    if (progress_.state == Transport::State::handshaking)
        progress_.flight = std::move(earlier);
    const bool is_through = progress_.outcome.ok() && progress_.state == Transport::State::established;
    if (is_through && options_.frees_transport && LastFlight::may_keep(progress_.flight.size())) {
        progress_.goodbye = transport_->write_goodbye();
        transport_.reset();
    }
}

}  // namespace live::engine::dtls
