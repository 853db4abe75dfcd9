// Maps the errno of a failed file operation to the errors that users of this room distinguish.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

#include "base/result.hpp"

namespace live::io {

// Errc::denied for missing permission, otherwise Errc::system.
inline Error file_error(const std::string& what, int error) {
    if (error == EACCES || error == EPERM || error == EROFS)
        return {Errc::denied, what + ": " + std::generic_category().message(error)};
    return system_error(what, error);
}

}  // namespace live::io
