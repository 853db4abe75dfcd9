#include "service/workers/strays.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"

namespace live::service::workers {

Result<void> Strays::start(io::Scope&, io::Deadline) {
    received_.resize(session::Stray::kHeadBytes + session::Stray::kDatagramBytesMax + 1);
    return {};
}

void Strays::on_others(const std::vector<engine::workers::Worker>& all) {
    std::vector<engine::workers::Worker> others;
    std::ranges::copy_if(all, std::back_inserter(others), [this](auto one) { return workers_.seat().shares_ports_with(one); });
    std::erase_if(links_, [&](const Link& link) { return std::ranges::find(others, link.to) == others.end(); });
    if (others.empty() || !std::exchange(is_heir_, false))
        return;
    for (const auto other : others) {
        auto socket = workers_.connect_datagrams(other);
        if (socket.ok())
            links_.push_back({other, *std::move(socket)});
        else
            LOG_WARN(log_, "sessions of process {} get no datagrams any more: {}", other, socket.error().sentence());
    }
}

void Strays::pass(const session::Stray& stray, Bytes datagram) {
    if (links_.empty() || datagram.empty() || datagram.size() > session::Stray::kDatagramBytesMax)
        return;
    session::write_stray(stray, datagram, message_);
    std::erase_if(links_, [this](Link& link) {
        const auto sent = link.socket.try_send(message_);
        passed_ += sent.ok() && *sent ? 1 : 0;
        return !sent.ok();
    });
}

void Strays::serve(io::Socket socket) {
    // A std::function is copied, so the socket has two owners.
    const auto held = std::make_shared<io::MessageSocket>(std::move(socket));
    const auto started = receivers_.start("strays", [this, held](io::Deadline forever) { receive(*held, forever); });
    if (!started.ok())
        LOG_WARN(log_, "datagrams of another process are not taken: {}", started.error().text());
}

void Strays::receive(io::MessageSocket& socket, io::Deadline deadline) {
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
Result<void> Strays::take_batch(io::MessageSocket& socket) {
    for (std::size_t i = 0; i < kBatch; ++i) {
        const auto got = TRY(socket.try_receive(received_));
        const MutBytes message = MutBytes(received_).first(got.size);
        if (const auto stray = session::parse_stray(message); stray.ok())
            take_(*stray, message.subspan(session::Stray::kHeadBytes));
    }
    return {};
}

}  // namespace live::service::workers
