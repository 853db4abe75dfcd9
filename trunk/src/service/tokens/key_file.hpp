// Reads the keys of key files. These functions block: call them at the start, at a reload, or off the loop. Errors have a
// sentence that names the file.
#pragma once

#include <string>

#include "base/result.hpp"
#include "engine/crypto/signing_key.hpp"

namespace live::service::tokens {

// Errc::not_found if the file does not exist.
Result<engine::crypto::SigningKey> read_key(const std::string& path);

struct KeyFile {
    engine::crypto::SigningKey key;
    bool is_new = false;
};
// Makes a file that does not exist, with a new secret, readable by its owner only.
Result<KeyFile> read_or_make_key(const std::string& path);

}  // namespace live::service::tokens
