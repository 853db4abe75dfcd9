// Credentials: the name, password or bearer token that a client has sent outside of its query: in the Authorization field of HTTP
// and RTSP (RFC 7617, RFC 6750), or as user info of its URL (RFC 3986, 3.2.1). Pure.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace live::session {

struct Credentials {
    std::string user;
    std::string password;
    std::string bearer;
    // The protocol has verified the user: Digest, whose password is never sent.
    bool is_proven = false;
    // HTTP, for a signed URL that contains it: the Host field.
    std::string authority{};
};

// Longer names and passwords are not kept; a bearer token has its own limit.
inline constexpr std::size_t kCredentialBytesMax = 1024;
inline constexpr std::size_t kBearerBytesMax = 8 * 1024;

// "Basic ..." or "Bearer ..."; nullptr for another scheme, and for what is not valid. Owners: all copies of the client's request.
std::shared_ptr<const Credentials> parse_authorization(std::string_view field);
// "rtmp://USER:PASSWORD@HOST/..."; nullptr for a URL without a name.
std::shared_ptr<const Credentials> user_info_of(std::string_view url);
// The URL without its user info.
std::string without_user_info(std::string_view url);

// The passwords that a protocol needs itself, for Digest. Implemented by a higher room.
class PasswordSource {
public:
    // Whether there are users at all: then clients without credentials are asked for them.
    virtual bool has_users() const = 0;
    // The password of a user whose password is in the conf as plain text; nullopt for others. Must not suspend.
    virtual std::optional<std::string> plain_password(std::string_view user) const = 0;

protected:
    ~PasswordSource() = default;
};

}  // namespace live::session
