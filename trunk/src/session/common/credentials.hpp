// Credentials: the name, password or bearer token that a client has sent outside of its query: in the Authorization field of HTTP
// and RTSP (RFC 7617, RFC 6750), or as user info of its URL (RFC 3986, 3.2.1). Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live::session {

struct Credentials {
    std::string user;
    std::string password;
    std::string bearer;
    // Digest never sends the password: the protocol has compared what was sent with it.
    enum class Proof : std::uint8_t { none, right, wrong };
    Proof proof = Proof::none;
    // HTTP, for a signed URL that contains it: the Host field.
    std::string authority{};
};

// Longer names are not kept. A password may have the length of a token: clients with one field send a token in it.
inline constexpr std::size_t kCredentialBytesMax = 1024;
inline constexpr std::size_t kBearerBytesMax = 8 * 1024;

// "Basic ..." or "Bearer ..."; nullptr for another scheme, and for what is not valid. Owners: all copies of the client's request.
std::shared_ptr<const Credentials> parse_authorization(std::string_view field);
// "rtmp://USER:PASSWORD@HOST/..."; nullptr for a URL without a name.
std::shared_ptr<const Credentials> user_info_of(std::string_view url);
// The URL without its user info.
std::string without_user_info(std::string_view url);

// The conf's form of a password: itself, or the hashes that Digest needs (H(user:realm:password), in hexadecimal).
struct StoredPassword {
    std::string_view password{};
    std::string_view ha1_md5{};
    std::string_view ha1_sha256{};
};

// The passwords that a protocol needs itself, for Digest. Implemented by a higher room.
class PasswordSource {
public:
    // Whether there are users at all: then clients without credentials are asked for them.
    virtual bool has_users() const = 0;
    // The form of passwords that a protocol can use: plain text, or also the hashes for Digest.
    enum class Form : std::uint8_t { plain, plain_or_ha1 };
    // Whether the conf has the passwords of all users that publish or play in such a form.
    virtual bool has_all_as(Form form) const = 0;
    // `is_right` compares what the user has sent with its password. Errc::unauthenticated for an unknown user, one whose password
    // has another form, and a wrong password; Errc::limit for an address that must wait after wrong ones. Must not suspend.
    virtual Result<void> prove(std::string_view user, std::string_view ip, Form form,
                               const std::function<bool(const StoredPassword& password)>& is_right) = 0;

protected:
    ~PasswordSource() = default;
};

}  // namespace live::session
