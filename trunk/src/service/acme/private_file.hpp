// Small files that only the user of the server may read: keys. All functions block: call them in a worker thread, or at the
// start.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live::service::acme {

inline constexpr std::size_t kPrivateFileBytesMax = 256 * 1024;

// Errc::not_found, Errc::limit, Errc::system.
Result<std::string> read_private_file(const std::string& path);
// The file appears with its whole content, in place of an earlier one. Errc::system.
Result<void> write_private_file(const std::string& path, std::string_view content);
// The same, unless the file exists. False if it does.
Result<bool> make_private_file(const std::string& path, std::string_view content);

}  // namespace live::service::acme
