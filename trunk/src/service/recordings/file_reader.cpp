#include "service/recordings/file_reader.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace live::service::recordings {

namespace {

// No link is followed at the end of the path: names come from streams.
constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

}  // namespace

FileReader::~FileReader() {
    for (const Open& one : open_)
        ::close(one.descriptor);
}

Result<int> FileReader::descriptor_of(std::size_t file) {
    const auto known = std::ranges::find(open_, file, &Open::file);
    if (known != open_.end()) {
        std::rotate(known, known + 1, open_.end());
        return open_.back().descriptor;
    }
    const std::string& path = paths_.at(file);
    int descriptor = ::open(path.c_str(), kFlags);
    if (descriptor < 0 && errno == ENOENT)
        descriptor = ::open((path + ".tmp").c_str(), kFlags);
    // Between the two, it got its name.
    if (descriptor < 0 && errno == ENOENT)
        descriptor = ::open(path.c_str(), kFlags);
    if (descriptor < 0 && errno == ENOENT)
        return Error(Errc::not_found, "a recording has been removed");
    if (descriptor < 0)
        return system_error("opening a recording", errno);
    if (open_.size() == kOpenMax) {
        ::close(open_.front().descriptor);
        open_.erase(open_.begin());
    }
    open_.push_back({file, descriptor});
    return descriptor;
}

Result<std::vector<std::uint8_t>> FileReader::read(std::size_t file, std::uint64_t offset, std::size_t count) {
    const int descriptor = TRY(descriptor_of(file));
    std::vector<std::uint8_t> bytes(count);
    std::size_t have = 0;
    while (have < count) {
        const ssize_t got = ::pread(descriptor, bytes.data() + have, count - have, static_cast<off_t>(offset + have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return system_error("reading a recording", errno);
        if (got == 0)
            break;
        have += static_cast<std::size_t>(got);
    }
    bytes.resize(have);
    return bytes;
}

}  // namespace live::service::recordings
