#include "io/files/temporary_file.hpp"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>

#include "io/files/file_error.hpp"

namespace live::io {

Result<void> rename_new(const std::string& from, const std::string& to) {
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0)
        return {};
    if (errno == EEXIST)
        return Error(Errc::conflict, to + " exists already");
    // Some file systems do not support it.
    if (errno == EINVAL || errno == ENOSYS) {
        struct stat about {};
        if (::lstat(to.c_str(), &about) == 0)
            return Error(Errc::conflict, to + " exists already");
        if (::rename(from.c_str(), to.c_str()) == 0)
            return {};
    }
    return file_error("renaming " + from, errno);
}

}  // namespace live::io
