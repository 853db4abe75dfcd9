#include "io/files/shared_memory.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace live::io {

namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;

Result<std::uint8_t*> pages_of(const Socket& descriptor, std::size_t size) {
    void* const pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.fd(), 0);
    if (pages == MAP_FAILED)
        return system_error("mmap of shared memory", errno);
    return static_cast<std::uint8_t*>(pages);
}

}  // namespace

Result<std::unique_ptr<SharedMemory>> SharedMemory::create(std::size_t size) {
    Socket descriptor(::memfd_create("live-shared", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!descriptor.is_open())
        return system_error("memfd_create", errno);
    if (::ftruncate(descriptor.fd(), static_cast<off_t>(size)) != 0 ||
        ::fcntl(descriptor.fd(), F_ADD_SEALS, kSeals | F_SEAL_SEAL) != 0)
        return system_error("making shared memory", errno);
    std::uint8_t* const pages = TRY(pages_of(descriptor, size));
    return std::make_unique<SharedMemory>(Private{}, std::move(descriptor), pages, size);
}

// Sealed, because an access to a removed page ends the process.
Result<std::unique_ptr<SharedMemory>> SharedMemory::adopt(Socket descriptor, std::size_t size) {
    const int seals = ::fcntl(descriptor.fd(), F_GET_SEALS);
    const off_t end = seals < 0 ? -1 : ::lseek(descriptor.fd(), 0, SEEK_END);
    if (seals < 0 || (seals & kSeals) != kSeals || end < static_cast<off_t>(size))
        return Error(Errc::system, "a descriptor is not that of shared memory of this server");
    std::uint8_t* const pages = TRY(pages_of(descriptor, size));
    return std::make_unique<SharedMemory>(Private{}, std::move(descriptor), pages, size);
}

SharedMemory::SharedMemory(Private, Socket descriptor, std::uint8_t* pages, std::size_t size)
    : descriptor_(std::move(descriptor)), pages_(pages), size_(size) {}

SharedMemory::~SharedMemory() { ::munmap(pages_, size_); }

Result<Socket> SharedMemory::handle() const {
    Socket copy(::fcntl(descriptor_.fd(), F_DUPFD_CLOEXEC, 0));
    if (!copy.is_open())
        return system_error("passing shared memory on", errno);
    return copy;
}

}  // namespace live::io
