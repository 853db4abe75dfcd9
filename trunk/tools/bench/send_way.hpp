// The ways of giving a slice of a stream to a socket that the floor compares. A server keeps a stream's bytes either as one run (send,
// sendfile, zero copy) or as messages apart, each with a header of its own (writev).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace bench {

enum class SendWay { send, writev, sendfile, zerocopy };

// Dies for a name that is none: send, writev, sendfile, zerocopy.
SendWay send_way(std::string_view name);

// The bytes of a run where each way can take them from: in the memory of a file without a name, or in huge pages.
class RunMemory {
public:
    RunMemory(const std::vector<std::uint8_t>& bytes, bool huge_pages);
    ~RunMemory();
    RunMemory(const RunMemory&) = delete;
    RunMemory& operator=(const RunMemory&) = delete;

    const std::uint8_t* data() const { return data_; }
    int file() const { return file_; }

private:
    std::uint8_t* data_ = nullptr;
    std::size_t size_ = 0;
    int file_ = -1;
};

// Sends bytes [from, to) of the run; as send(), with errno. For writev `ends` are the places where pieces end, in order; at most
// kPiecesMax of them go with one call.
inline constexpr std::size_t kPiecesMax = 1024;
ssize_t send_slice(SendWay way, int socket, const RunMemory& run, std::size_t from, std::size_t to,
                   const std::vector<std::size_t>& ends);

// Zero copy: a socket must ask for it once, and its acknowledgements must be taken.
void allow_zerocopy(int socket);
void take_acknowledgements(int socket);

}  // namespace bench
