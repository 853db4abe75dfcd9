// A build without libnghttp2: HTTP/2 is not offered, and no Server is created.
#include "base/check.hpp"
#include "engine/http2/server.hpp"

namespace live::engine::http2 {

class Server::Core {};

bool is_available() { return false; }

Server::Server(const http1::Limits&) { CHECK(is_available()); }
Server::~Server() = default;
Result<void> Server::handle_bytes(TimePoint, Bytes) { return {}; }
std::optional<Event> Server::poll_event() { return std::nullopt; }
Result<Bytes> Server::next_output() { return Bytes(); }
std::optional<Flood> Server::flood() const { return std::nullopt; }
std::size_t Server::streams() const { return 0; }
std::size_t Server::held_bytes() const { return 0; }
bool Server::is_over() const { return true; }
std::optional<StreamRequest> Server::take_request(StreamId) { return std::nullopt; }
std::string Server::take_body(StreamId) { return {}; }
bool Server::is_body_complete(StreamId) const { return false; }
bool Server::is_open(StreamId) const { return false; }
void Server::send_interim(StreamId, int) {}
void Server::respond(StreamId, int, const Fields&, bool) {}
void Server::offer(StreamId, std::span<const ::iovec>, bool) {}
std::size_t Server::withdraw(StreamId) { return 0; }
void Server::want_room(StreamId) {}
void Server::end(StreamId) {}
void Server::reset(StreamId, Code) {}
void Server::finish() {}
void Server::abort(Code) {}

}  // namespace live::engine::http2
