// Checks the passphrase of a client that requests a connection.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "engine/srt/listener.hpp"
#include "io/fibers/deadline.hpp"
#include "session/limits/connection_limits.hpp"

namespace live::session::srt {

// The key of a passphrase, which takes some milliseconds, for calls of this server: in a worker thread.
Result<engine::srt::KeyEncryptingKey> derive_key(std::string passphrase, const engine::srt::Salt& salt, std::size_t key_bytes,
                                                 io::Deadline deadline);
// The same for a client, in the thread for handshakes. Errc::limit when too many wait for it.
Result<engine::srt::KeyEncryptingKey> derive_client_key(ConnectionLimits& places, std::string_view ip, std::string passphrase,
                                                        const engine::srt::Salt& salt, std::size_t key_bytes,
                                                        io::Deadline deadline);
// Returns the key of the passphrase that the client must have, if there is one. Errc::denied if the client's passphrase
// differs, Errc::unsupported if only one side has one, Errc::limit as above.
Result<std::optional<engine::srt::KeyEncryptingKey>> check_passphrase(ConnectionLimits& places,
                                                                      const engine::srt::Request& request,
                                                                      const std::string& passphrase, io::Deadline deadline);
// The reject reason for the client.
engine::srt::RejectReason key_reject_reason_of(const Error& error);

}  // namespace live::session::srt
