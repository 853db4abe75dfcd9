// Whether a child publishes to this server. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "session/common/admission.hpp"

namespace live::service::ffmpeg {

// The publisher of the stream at an RTMP URL of this machine, if one of `rtmp_ports` is in it; nullopt for other outputs and for
// names that are not admitted.
std::optional<session::ClientRequest> own_output(std::string_view output, std::span<const std::uint16_t> rtmp_ports);

}  // namespace live::service::ffmpeg
