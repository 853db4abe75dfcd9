// The header by which a proxy in front of the server passes on the address of its client: PROXY protocol, version 1 (text) and 2
// (binary), as HAProxy defines it. It precedes the client's bytes, and no length in it may be trusted before it is compared.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/bytes/bytes.hpp"
#include "base/net/transport_address.hpp"
#include "base/result.hpp"

namespace live::wire::proxy {

// Section 2.1: with its line end.
inline constexpr std::size_t kTextBytesMax = 107;
// Version 2: the 16 bytes of the head, addresses, and other data of the proxy.
inline constexpr std::size_t kBinaryHeadBytes = 16;
inline constexpr std::size_t kBytesMax = 4096;
// Both versions have at least as many.
inline constexpr std::size_t kBytesMin = 15;

// The number of bytes that are certainly missing behind `begun`, the beginning of a connection; 0 when the header is complete.
// A reader that never reads more takes none of the client's bytes. Errc::malformed when it is no header, Errc::limit when it is
// too long.
Result<std::size_t> bytes_missing(Bytes begun);

// A whole header. nullopt when the proxy names no client, as in its own health checks, or one of another kind of network.
Result<std::optional<TransportAddress>> parse_proxy_header(Bytes header);

// Version 1 and 2, for tests and for this server's own calls.
std::string write_text_header(const TransportAddress& source, const TransportAddress& destination);
std::string write_binary_header(const TransportAddress& source, const TransportAddress& destination);

}  // namespace live::wire::proxy
