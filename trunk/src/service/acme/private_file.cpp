#include "service/acme/private_file.hpp"

#include <cerrno>
#include <cstdio>
#include <fstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes/random.hpp"

namespace live::service::acme {

namespace {

// Returns an errno; 0 if the whole text is in the new file, on the disk.
int write_draft(const std::string& path, std::string_view text) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0)
        return errno;
    const ::ssize_t written = ::write(fd, text.data(), text.size());
    int error = written < 0 ? errno : written == static_cast<::ssize_t>(text.size()) ? 0 : ENOSPC;
    if (error == 0 && ::fsync(fd) != 0)
        error = errno;
    ::close(fd);
    return error;
}

}  // namespace

Result<std::string> read_private_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file && errno == ENOENT)
        return Error(Errc::not_found, "the file " + path + " does not exist");
    if (!file)
        return system_error("opening " + path, errno);
    std::string content(kPrivateFileBytesMax + 1, '\0');
    file.read(content.data(), static_cast<std::streamsize>(content.size()));
    content.resize(static_cast<std::size_t>(file.gcount()));
    return content.size() <= kPrivateFileBytesMax ? Result<std::string>(std::move(content))
                                                  : Error(Errc::limit, "the file " + path + " has more than 256 KiB");
}

Result<void> write_private_file(const std::string& path, std::string_view content) {
    const std::string draft = path + "." + random_id();
    int error = write_draft(draft, content);
    if (error == 0 && ::rename(draft.c_str(), path.c_str()) < 0)
        error = errno;
    if (error == 0)
        return {};
    ::unlink(draft.c_str());
    return system_error("writing " + path, error);
}

Result<bool> make_private_file(const std::string& path, std::string_view content) {
    const std::string draft = path + "." + random_id();
    int error = write_draft(draft, content);
    if (error == 0 && ::link(draft.c_str(), path.c_str()) < 0)
        error = errno;
    ::unlink(draft.c_str());
    if (error != 0 && error != EEXIST)
        return system_error("making " + path, error);
    return error == 0;
}

}  // namespace live::service::acme
