// Messages between workers, as they are on the socket.
#pragma once

#include <array>
#include <string_view>

#include "engine/workers/message.hpp"

namespace live::engine::workers {

struct MessageVector {
    std::string_view bytes;
    Message message;
};

inline const std::array kMessageVectors = {
    MessageVector{{"\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16}, {Kind::beat, 0, 0, 0, 0, ""}},
    MessageVector{{"\x04\x01\0\0\0\0\x01\x02\0\0\0\0\0\0\0\0/live/a", 23}, {Kind::claim, 1, 0, 258, 0, "/live/a"}},
    MessageVector{{"\x09\x01\x40\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0/live/a", 23},
                  {Kind::claimed, 1, 64, 0xFFFFFFFF, 0, "/live/a"}},
    MessageVector{{"\x0b\0\x02\0\0\0\0\0\x01\x02\x03\x04\x05\x06\x07\x08v/live/a", 24},
                  {Kind::moved, 0, 2, 0, 0x0102030405060708, "v/live/a"}},
    MessageVector{{"\x0d\x01\x03\0\0\0\0\0\0\0\0\0\0\0\0\0", 16}, {Kind::link, 1, 3, 0, 0, ""}},
    MessageVector{{"\x0e\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16}, {Kind::tally, 0, 0, 0, 0, ""}},
    MessageVector{{"\x11\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0tcp [::]:80", 27}, {Kind::gift, 0, 0, 0, 0, "tcp [::]:80"}},
    MessageVector{{"\x14\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0no file", 23}, {Kind::upgraded, 1, 0, 0, 0, "no file"}},
    MessageVector{{"\x0e\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16}, {Kind::tally, 1, 0, 0, 0, ""}},
    MessageVector{{"\x11\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0udp 1.2.3.4:80", 30}, {Kind::gift, 0, 2, 0, 0, "udp 1.2.3.4:80"}},
    MessageVector{{"\x13\x01\x04\0\0\0\0\x02\0\0\0\0\0\0\0\0", 16}, {Kind::begin, 1, 4, 2, 0, ""}},
    MessageVector{{"\x17\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x03", 18}, {Kind::members, 0, 0, 0, 0, "\x01\x03"}},
    MessageVector{{"\x18\0\xc0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16}, {Kind::member, 0, 192, 0, 0, ""}},
    MessageVector{{"\x19\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16}, {Kind::launch, 0, 0, 0, 0, ""}},
    MessageVector{{"\x1a\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0no file", 23}, {Kind::launched, 1, 0, 0, 0, "no file"}},
    MessageVector{{"\x1b\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16}, {Kind::quit, 0, 0, 0, 0, ""}},
};

}  // namespace live::engine::workers
