// Properties of client kinds that decide which policies apply to a client.
#pragma once

#include "session/common/client_kind.hpp"

namespace live::service::admission {

constexpr bool is_rtmp(session::ClientKind kind) {
    using session::ClientKind;
    return kind == ClientKind::rtmp_play || kind == ClientKind::fmle_publish || kind == ClientKind::flash_publish ||
           kind == ClientKind::haivision_publish;
}

// The protocol connects before the client states whether it plays or publishes.
constexpr bool connects_first(session::ClientKind kind) {
    using session::ClientKind;
    return is_rtmp(kind) || kind == ClientKind::srt_play || kind == ClientKind::srt_publish;
}

}  // namespace live::service::admission
