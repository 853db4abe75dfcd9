// SharedMemory: bytes, zero at first, that several processes of this server have at the same time. The descriptor is passed to
// them; nothing has a name in the file system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "io/net/socket.hpp"

namespace live::io {

class SharedMemory {
    struct Private {};  // only create() and adopt() make one

public:
    // No process can change its size. Errc::system.
    static Result<std::unique_ptr<SharedMemory>> create(std::size_t size);
    // Made by another process. Errc::system, also when it is smaller or may become so.
    static Result<std::unique_ptr<SharedMemory>> adopt(Socket descriptor, std::size_t size);
    SharedMemory(Private, Socket descriptor, std::uint8_t* pages, std::size_t size);
    ~SharedMemory();
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    // Aligned to a page.
    MutBytes bytes() const { return {pages_, size_}; }
    // A descriptor of the same, to be passed. Errc::system.
    Result<Socket> handle() const;

private:
    const Socket descriptor_;
    std::uint8_t* const pages_;
    const std::size_t size_;
};

}  // namespace live::io
