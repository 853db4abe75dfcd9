// Whether a client that wants to connect knows the passphrase.
#pragma once

#include <optional>
#include <string>

#include "engine/srt/listener.hpp"
#include "io/deadline.hpp"

namespace live::session::srt {

// The key of the passphrase that the client must know, if there is one, derived in a worker thread. Errc::denied when its
// passphrase is another one, Errc::unsupported when only one side has one.
Result<std::optional<engine::srt::KeyEncryptingKey>> check_passphrase(const engine::srt::Request& request,
                                                                      const std::string& passphrase, io::Deadline deadline);
// What the client is told of these.
engine::srt::RejectReason key_reject_reason_of(const Error& error);

}  // namespace live::session::srt
