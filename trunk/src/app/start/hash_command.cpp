#include "app/start/hash_command.hpp"

#include <fmt/format.h>

#include "engine/crypto/password_hash.hpp"

namespace live::app {

using engine::crypto::PasswordHash;

Result<std::string> hash_password(std::span<const std::string_view> arguments, std::istream& input) {
    auto scheme = PasswordHash::Scheme::argon2id;
    for (const std::string_view argument : arguments) {
        if (argument != "--sha256")
            return Error(Errc::malformed, fmt::format("found \"{}\", expected --sha256 or nothing", argument));
        scheme = PasswordHash::Scheme::sha256;
    }
    std::string password;
    std::getline(input, password);
    if (password.ends_with('\r'))
        password.pop_back();
    if (password.empty())
        return Error(Errc::malformed, "found no password on the standard input");
    return PasswordHash::make(password, scheme);
}

std::string hash_help(std::string_view program) {
    return fmt::format(
        "Usage: {0} hash [--sha256] <FILE\n"
        "\n"
        "Reads a password from the standard input, and prints it for the conf: user NAME {{ password TEXT; }}.\n"
        "\n"
        "   --sha256           SHA-256 instead of Argon2id: for long random passwords only\n",
        program);
}

}  // namespace live::app
