// The server's identity. The major version 7 names the server family we are compatible with; the rest is our own release number.
#pragma once

#include <cstdint>
#include <string_view>

namespace live {

inline constexpr std::uint32_t kVersionMajor = 7;
inline constexpr std::uint32_t kVersionMinor = 1;
inline constexpr std::uint32_t kVersionRevision = 0;
inline constexpr std::string_view kVersion = "7.1.0";
// product/version(code name), the form that scripts and peers of the family expect.
inline constexpr std::string_view kSignature = "SRS/7.1.0(Meadow)";
inline constexpr std::string_view kProduct = "SRS";
inline constexpr std::string_view kLicense = "MIT";
// Description for logs and pages; it must claim nothing about other projects.
inline constexpr std::string_view kDescription =
    "an independent live-streaming server, compatible with SRS 7 and not affiliated with it";

}  // namespace live
