// Self-signed certificates, for a start without any. A browser accepts them after an explicit confirmation.
#pragma once

#include <chrono>
#include <string>

#include "base/result.hpp"

namespace live::io {

// Writes a new P-256 key (readable by its owner only) and a certificate for this machine's name, localhost and the loopback
// addresses, valid for ten years, as PEM files. Blocks. Errc::system.
Result<void> make_self_signed(const std::string& certificate_path, const std::string& key_path);

// SHA-256 fingerprint, "AB:CD:...", of the first certificate in a PEM file. Blocks. Errc::not_found, Errc::malformed.
Result<std::string> certificate_fingerprint(const std::string& certificate_path);
// The end of its validity. Blocks. Errors as certificate_fingerprint().
Result<std::chrono::sys_seconds> certificate_expiry(const std::string& certificate_path);

}  // namespace live::io
