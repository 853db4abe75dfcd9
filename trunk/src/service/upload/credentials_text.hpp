// Credentials in the forms in which AWS tools and machines have them. Dry.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "base/text/wall_time_text.hpp"
#include "engine/s3/signature.hpp"

namespace live::service::upload {

inline constexpr std::size_t kCredentialsBytesMax = 64 << 10;

// A section of a credentials file: aws_access_key_id, aws_secret_access_key, aws_session_token. Errc::not_found without the
// section or the keys.
Result<engine::s3::Credentials> parse_credentials_file(std::string_view text, std::string_view profile);

struct TemporaryCredentials {
    engine::s3::Credentials credentials;
    std::optional<WallTime> expiration;
};
// The metadata service's answer. Errc::malformed.
Result<TemporaryCredentials> parse_instance_credentials(std::string_view json);

}  // namespace live::service::upload
