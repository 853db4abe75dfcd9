// Between processes of this server: a socket pair that keeps messages apart and can pass a descriptor along with one, and stream
// pairs to pass. The sockets have no names in the file system, so no other process can connect.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "io/net/socket.hpp"
#include "io/net/tcp_stream.hpp"

namespace live::io {

class MessageSocket {
public:
    struct Received {
        std::size_t size = 0;
        Socket passed{};  // closed if the message carried none
    };

    // Two connected ends. Errc::system.
    static Result<std::pair<Socket, Socket>> pair();
    // An inherited descriptor, which from now on is not inherited any further. Errc::system when it is no such socket.
    static Result<Socket> adopt(int fd);
    // A message by a descriptor that was inherited, when there is no loop yet; it may be lost.
    static void send_once(int fd, Bytes message);
    explicit MessageSocket(Socket socket) : socket_(std::move(socket)) {}

    // The next message; a longer one than `into` is cut. Errc::need_more, Errc::closed when the other end is gone.
    Result<Received> try_receive(MutBytes into);
    // False when it does not fit now. `passed` stays the caller's; negative: none. Errc::closed.
    Result<bool> try_send(Bytes message, int passed = -1);
    Result<Ready> wait(Interest interest, Signal* signal, Deadline deadline) { return socket_.wait(interest, signal, deadline); }
    void close() { socket_.close(); }
    int native_handle() const { return socket_.fd(); }

private:
    Socket socket_;
};

// Two connected ends of a byte stream. Errc::system.
Result<std::pair<Socket, Socket>> stream_pair();
// Wraps one of them as a stream. Its peer address is 127.0.0.1.
std::unique_ptr<TcpStream> stream_of(Socket socket);

}  // namespace live::io
