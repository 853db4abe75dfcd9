// What a system call on a file failed with, as this room's users tell errors apart.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

#include "base/result.hpp"

namespace live::io {

// Errc::denied where the file may not be touched, Errc::system else.
inline Error file_error(const std::string& what, int error) {
    if (error == EACCES || error == EPERM || error == EROFS)
        return {Errc::denied, what + ": " + std::generic_category().message(error)};
    return system_error(what, error);
}

}  // namespace live::io
