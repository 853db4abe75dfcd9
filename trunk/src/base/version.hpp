// Who we are, in one place. The 7 says which family of servers the outside follows; the rest counts our own releases.
#pragma once

#include <cstdint>
#include <string_view>

namespace live {

inline constexpr std::uint32_t kVersionMajor = 7;
inline constexpr std::uint32_t kVersionMinor = 1;
inline constexpr std::uint32_t kVersionRevision = 0;
inline constexpr std::string_view kVersion = "7.1.0";
// product/version(code name), as scripts and peers of the family expect it.
inline constexpr std::string_view kSignature = "SRS/7.1.0(Meadow)";
inline constexpr std::string_view kProduct = "SRS";
inline constexpr std::string_view kLicense = "MIT";
// For logs and pages: what this is, in words that promise nothing about anybody else.
inline constexpr std::string_view kDescription =
    "an independent live-streaming server, compatible with SRS 7 and not affiliated with it";

}  // namespace live
