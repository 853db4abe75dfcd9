// OpenSSL's error queue as an Error. Only for .cpp files of the io room.
#pragma once

#include <string>

#include "base/result.hpp"

namespace live::io {

// `what` with the oldest error of the queue, which is emptied. The queue is per OS thread, shared by all fibers, so nothing may
// suspend between the failed call and this one.
Error tls_error(Errc code, const std::string& what);

}  // namespace live::io
