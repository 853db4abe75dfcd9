// OutgoingCalls: the calls to other servers that have no connection yet, by their socket ids.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/bytes/bytes.hpp"
#include "base/net/transport_address.hpp"
#include "base/time.hpp"
#include "engine/srt/listener.hpp"

namespace live::session::srt {

// A call to another server that has no connection yet. Nothing here may suspend.
class OutgoingCall {
public:
    virtual void take(TimePoint now, Bytes datagram) = 0;

protected:
    ~OutgoingCall() = default;
};

class OutgoingCalls {
public:
    // Datagrams of that server for this socket id belong to the call, until remove().
    void add(OutgoingCall& call, engine::srt::SocketId id, const TransportAddress& to) {
        calls_[static_cast<std::uint32_t>(id)] = {&call, to};
    }
    void remove(const OutgoingCall& call) {
        std::erase_if(calls_, [&call](const auto& called) { return called.second.call == &call; });
    }
    bool contains(engine::srt::SocketId id) const { return calls_.contains(static_cast<std::uint32_t>(id)); }
    // nullptr if the datagram belongs to none.
    OutgoingCall* find(engine::srt::SocketId id, const TransportAddress& from) const {
        const auto found = calls_.find(static_cast<std::uint32_t>(id));
        return found != calls_.end() && found->second.to == from ? found->second.call : nullptr;
    }

private:
    struct Called {
        OutgoingCall* call = nullptr;
        TransportAddress to;
    };

    std::unordered_map<std::uint32_t, Called> calls_;
};

}  // namespace live::session::srt
