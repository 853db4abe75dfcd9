// SharedMemory: zero-initialised memory that several processes of this server map at the same time. They receive its
// descriptor; it has no name in the file system.
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
    // Creates memory whose size no process can change. Errc::system.
    static Result<std::unique_ptr<SharedMemory>> create(std::size_t size);
    // Maps memory that another process created. Errc::system, also if it is smaller than `size` or could be made smaller.
    static Result<std::unique_ptr<SharedMemory>> adopt(Socket descriptor, std::size_t size);
    SharedMemory(Private, Socket descriptor, std::uint8_t* pages, std::size_t size);
    ~SharedMemory();
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    // Aligned to a page.
    MutBytes bytes() const { return {pages_, size_}; }
    // Returns a duplicate of the descriptor, to be passed to another process. Errc::system.
    Result<Socket> handle() const;

private:
    const Socket descriptor_;
    std::uint8_t* const pages_;
    const std::size_t size_;
};

}  // namespace live::io
