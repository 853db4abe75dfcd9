// RTMP, as the rest of the server sees it.
#pragma once

#include "session/common/protocol.hpp"

namespace live::session::rtmp {

// `traffic` outlives the description.
Protocol describe(const Traffic& traffic);

}  // namespace live::session::rtmp
