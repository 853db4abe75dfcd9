#include "app/start/hash_command.hpp"

#include <fmt/format.h>

#include "engine/crypto/password_hash.hpp"

namespace live::app {

using engine::crypto::PasswordHash;

Result<std::string> hash_password(std::span<const std::string_view> arguments, std::istream& input) {
    auto scheme = PasswordHash::Scheme::argon2id;
    std::string_view user;
    for (; !arguments.empty(); arguments = arguments.subspan(1)) {
        if (arguments.front() == "--sha256") {
            scheme = PasswordHash::Scheme::sha256;
        } else if (arguments.front() == "--digest" && arguments.size() > 1) {
            scheme = PasswordHash::Scheme::ha1;
            arguments = arguments.subspan(1);
            user = arguments.front();
        } else {
            return Error(Errc::malformed,
                         fmt::format("found \"{}\", expected --sha256, --digest NAME or nothing", arguments.front()));
        }
    }
    std::string password;
    std::getline(input, password);
    if (password.ends_with('\r'))
        password.pop_back();
    if (password.empty())
        return Error(Errc::malformed, "found no password on the standard input");
    return PasswordHash::make(user, password, scheme);
}

std::string hash_help(std::string_view program) {
    return fmt::format(
        "Usage: {0} hash [--sha256 | --digest NAME] <FILE\n"
        "\n"
        "Reads a password from the standard input, and prints it for the conf: user NAME {{ password TEXT; }}.\n"
        "\n"
        "   --sha256           SHA-256 instead of Argon2id: for long random passwords only\n"
        "   --digest NAME      the hashes that RTSP needs for Digest, for the user of that name\n",
        program);
}

}  // namespace live::app
