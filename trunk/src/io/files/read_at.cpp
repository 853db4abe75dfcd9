#include "io/files/read_at.hpp"

#include <cerrno>

#include <unistd.h>

namespace live::io {

Result<std::vector<std::uint8_t>> read_at(int file, const std::string& name, std::uint64_t offset, std::size_t count) {
    std::vector<std::uint8_t> bytes(count);
    std::size_t done = 0;
    while (done < count) {
        const ssize_t got = ::pread(file, bytes.data() + done, count - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return system_error("reading " + name, errno);
        if (got == 0)
            break;
        done += static_cast<std::size_t>(got);
    }
    bytes.resize(done);
    return bytes;
}

}  // namespace live::io
