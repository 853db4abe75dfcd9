#include "service/workers/datagram_forwarder.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"

namespace live::service::workers {

Result<void> DatagramForwarder::start(io::Scope&, io::Deadline) {
    received_.resize(session::ForwardedDatagram::kHeadBytes + session::ForwardedDatagram::kDatagramBytesMax + 1);
    return {};
}

void DatagramForwarder::on_others(const std::vector<engine::workers::Worker>& all) {
    std::vector<engine::workers::Worker> others;
    std::ranges::copy_if(all, std::back_inserter(others),
                         [this](auto one) { return workers_.identity().shares_ports_with(one); });
    std::erase_if(links_, [&](const Link& link) { return std::ranges::find(others, link.to) == others.end(); });
    if (others.empty() || !std::exchange(takes_over_, false))
        return;
    for (const auto other : others) {
        auto socket = workers_.connect_datagrams(other);
        if (socket.ok())
            links_.push_back({other, *std::move(socket)});
        else
            LOG_WARN(log_, "datagrams for sessions of process {} are dropped: {}", other, socket.error().sentence());
    }
}

void DatagramForwarder::pass(const session::ForwardedDatagram& forwarded, Bytes datagram) {
    if (links_.empty() || datagram.empty() || datagram.size() > session::ForwardedDatagram::kDatagramBytesMax)
        return;
    session::write_forwarded(forwarded, datagram, message_);
    std::erase_if(links_, [this](Link& link) {
        const auto sent = link.socket.try_send(message_);
        passed_ += sent.ok() && *sent ? 1 : 0;
        return !sent.ok();
    });
}

void DatagramForwarder::serve(io::Socket socket) {
    // A std::function is copied, so the socket has two owners.
    const auto held = std::make_shared<io::MessageSocket>(std::move(socket));
    const auto started = receivers_.start("datagram-forwarder", [this, held](io::Deadline forever) { receive(*held, forever); });
    if (!started.ok())
        LOG_WARN(log_, "datagrams of another process are not received: {}", started.error().text());
}

void DatagramForwarder::receive(io::MessageSocket& socket, io::Deadline deadline) {
    for (;;) {
        const auto taken = take_batch(socket);
        if (taken.ok() && !io::yield(deadline).ok())
            return;
        if (taken.ok())
            continue;
        if (taken.code() != Errc::need_more || !socket.wait(io::Interest::readable, nullptr, deadline).ok())
            return;
    }
}

// Errc::need_more when there is nothing more.
Result<void> DatagramForwarder::take_batch(io::MessageSocket& socket) {
    for (std::size_t i = 0; i < kBatch; ++i) {
        const auto got = TRY(socket.try_receive(received_));
        const MutBytes message = MutBytes(received_).first(got.size);
        if (const auto forwarded = session::parse_forwarded(message); forwarded.ok())
            take_(*forwarded, message.subspan(session::ForwardedDatagram::kHeadBytes));
    }
    return {};
}

}  // namespace live::service::workers
