#include "supervisor/line/master_line.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace live::supervisor {

namespace messages = engine::workers;

Result<void> MasterLine::take_tally(std::string_view secret, io::Deadline deadline) {
    Incoming first = TRY(next("the master sends nothing", deadline));
    if (first.message.kind != messages::Kind::tally)
        return Error(Errc::malformed, "the master does not begin with the memory that the workers share");
    inherits_ = first.message.flag == 1;
    memory_ = TRY(io::SharedMemory::adopt(std::move(first.passed), messages::SharedLimits::bytes_for(identity_.count)));
    messages::SharedLimits::Key key{};
    std::copy_n(secret.begin(), std::min(secret.size(), key.size()), key.begin());
    shared_limits_.emplace(memory_->bytes(), identity_.count, identity_.number, key);
    return {};
}

bool MasterLine::send(const messages::Message& message, io::Socket passed) {
    if (is_full())
        return false;
    queue_.push_back({messages::write_message(message), std::move(passed)});
    static_cast<void>(flush());  // the reader notices a closed line
    if (!queue_.empty())
        queued_.raise();
    return true;
}

Result<void> MasterLine::flush() {
    while (!queue_.empty()) {
        if (!TRY(socket_.try_send(queue_.front().bytes, queue_.front().passed.fd())))
            break;
        queue_.pop_front();
    }
    return {};
}

Result<void> MasterLine::flush_all(io::Deadline deadline) {
    for (TRY(flush()); !queue_.empty(); TRY(flush()))
        if (TRY(socket_.wait(io::Interest::writable, nullptr, deadline)).timed_out)
            return Error(Errc::timed_out, "the other process does not read");
    return {};
}

Result<std::optional<MasterLine::Incoming>> MasterLine::take() {
    std::array<std::uint8_t, messages::kMessageMax> packet{};
    for (;;) {
        auto received = socket_.try_receive(packet);
        if (!received.ok() && received.code() == Errc::need_more)
            return std::optional<Incoming>();
        if (!received.ok())
            return Error(received.error());
        auto message = messages::parse_message(Bytes(packet).first(received->size));
        if (message.ok())
            return std::optional(Incoming{*std::move(message), std::move(received->passed)});
    }
}

Result<MasterLine::Incoming> MasterLine::next(std::string_view late, io::Deadline deadline) {
    for (;;) {
        if (auto incoming = TRY(take()))
            return *std::move(incoming);
        TRY(wait(deadline));
        if (deadline.expired())
            return Error(Errc::timed_out, std::string(late));
    }
}

Result<void> MasterLine::wait(io::Deadline deadline) {
    const auto interest = queue_.empty() ? io::Interest::readable : io::Interest::both;
    TRY(socket_.wait(interest, &queued_, deadline));
    return {};
}

}  // namespace live::supervisor
