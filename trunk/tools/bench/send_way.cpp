#include "send_way.hpp"

#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "common.hpp"

namespace bench {

namespace {

constexpr int kFlags = MSG_DONTWAIT | MSG_NOSIGNAL;
constexpr std::size_t kHugePage = 2 * 1024 * 1024;

ssize_t send_pieces(int socket, const std::uint8_t* data, std::size_t from, std::size_t to, const std::vector<std::size_t>& ends) {
    std::array<iovec, kPiecesMax> pieces;
    std::size_t count = 0;
    for (auto end = std::upper_bound(ends.begin(), ends.end(), from); from < to && count < pieces.size(); ++end) {
        const std::size_t until = end == ends.end() ? to : std::min(*end, to);
        pieces[count++] = {const_cast<std::uint8_t*>(data + from), until - from};
        from = until;
        if (end == ends.end())
            break;
    }
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = count;
    return sendmsg(socket, &message, kFlags);
}

}  // namespace

SendWay send_way(std::string_view name) {
    constexpr std::array<std::string_view, 4> kNames = {"send", "writev", "sendfile", "zerocopy"};
    const auto found = std::find(kNames.begin(), kNames.end(), name);
    if (found == kNames.end())
        die("there is no way to send called " + std::string(name) + ": send, writev, sendfile, zerocopy");
    return static_cast<SendWay>(found - kNames.begin());
}

RunMemory::RunMemory(const std::vector<std::uint8_t>& bytes, bool huge_pages)
    : size_((bytes.size() + kHugePage - 1) / kHugePage * kHugePage) {
    int flags = MAP_SHARED;
    if (huge_pages) {
        flags = MAP_PRIVATE | MAP_ANONYMOUS;
    } else {
        file_ = memfd_create("run", MFD_CLOEXEC);
        if (file_ < 0 || ftruncate(file_, static_cast<off_t>(size_)) != 0)
            die("no memory file for the run");
    }
    // A huge page begins at a multiple of its size: room for that, unused otherwise.
    void* mapped = mmap(nullptr, size_ + (huge_pages ? kHugePage : 0), PROT_READ | PROT_WRITE, flags, file_, 0);
    if (mapped == MAP_FAILED)
        die("no memory for the run");
    data_ = static_cast<std::uint8_t*>(mapped);
    if (huge_pages) {
        data_ += (kHugePage - reinterpret_cast<std::uintptr_t>(mapped) % kHugePage) % kHugePage;
        if (madvise(data_, size_, MADV_HUGEPAGE) != 0)
            die("this kernel gives no huge pages");
    }
    std::memcpy(data_, bytes.data(), bytes.size());
}

RunMemory::~RunMemory() {
    munmap(data_, size_);
    if (file_ >= 0)
        close(file_);
}

ssize_t send_slice(SendWay way, int socket, const RunMemory& run, std::size_t from, std::size_t to,
                   const std::vector<std::size_t>& ends) {
    if (way == SendWay::writev)
        return send_pieces(socket, run.data(), from, to, ends);
    if (way == SendWay::sendfile) {
        auto offset = static_cast<off_t>(from);
        return sendfile(socket, run.file(), &offset, to - from);
    }
    return send(socket, run.data() + from, to - from, way == SendWay::zerocopy ? kFlags | MSG_ZEROCOPY : kFlags);
}

void allow_zerocopy(int socket) {
    const int one = 1;
    if (setsockopt(socket, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof one) != 0)
        die("this kernel sends nothing without copying");
}

void take_acknowledgements(int socket) {
    std::array<char, 128> control;
    msghdr message{};
    message.msg_control = control.data();
    do
        message.msg_controllen = control.size();
    while (recvmsg(socket, &message, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0);
}

}  // namespace bench
