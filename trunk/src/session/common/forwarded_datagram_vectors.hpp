// Forwarded datagrams, as they are passed on.
#pragma once

#include <array>
#include <string_view>

#include "session/common/forwarded_datagram.hpp"

namespace live::session {

struct ForwardedDatagramVector {
    std::string_view bytes;
    ForwardedDatagram forwarded;
    std::string_view datagram;
};

inline const std::array kForwardedVectors = {
    ForwardedDatagramVector{{"\0\0\x1f\x40"
                             "\0\0\0\0\0\0\0\0\0\0\xff\xff\xc0\0\x02\x07\x01\x02"
                             "\0\0\0\0\0\0\0\0\0\0\xff\xff\xc0\0\x02\x01"
                             "x",
                             39},
                            {ForwardedDatagram::Protocol::webrtc,
                             false,
                             8000,
                             {{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 7}}, 258},
                             {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 1}}},
                            "x"},
    ForwardedDatagramVector{{"\x01\x01\x27\x60"
                             "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01\xff\xff"
                             "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                             "\x80\0two",
                             43},
                            {ForwardedDatagram::Protocol::srt,
                             true,
                             10080,
                             {{{0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}, 65535},
                             {}},
                            {"\x80\0two", 5}},
};

}  // namespace live::session
