#include "service/tokens/key_file.hpp"

#include <array>
#include <cerrno>
#include <fstream>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "base/bytes/base64.hpp"
#include "base/bytes/random.hpp"

namespace live::service::tokens {

namespace {

using engine::crypto::SigningKey;

// Returns an errno; 0 if the whole text is in the new file.
int write_new_file(const std::string& path, std::string_view text) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0)
        return errno;
    const ::ssize_t written = ::write(fd, text.data(), text.size());
    const int error = written < 0 ? errno : written == static_cast<::ssize_t>(text.size()) ? 0 : ENOSPC;
    ::close(fd);
    return error;
}

// The file appears with its content, so that other workers never read an incomplete one. False if one of them was faster.
Result<bool> make_secret(const std::string& path) {
    std::array<std::uint8_t, SigningKey::kSecretBytesMin> secret{};
    fill_random(secret);
    const std::string draft = path + "." + random_id();
    int error = write_new_file(draft, base64url(secret) + "\n");
    if (error == 0 && ::link(draft.c_str(), path.c_str()) < 0)
        error = errno;
    ::unlink(draft.c_str());
    if (error != 0 && error != EEXIST)
        return system_error("making the key file " + path, error);
    return error == 0;
}

}  // namespace

Result<SigningKey> read_key(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file && errno == ENOENT)
        return Error(Errc::not_found, "the key file " + path + " does not exist");
    if (!file)
        return system_error("opening the key file " + path, errno);
    std::string content(SigningKey::kFileBytesMax + 1, '\0');
    file.read(content.data(), static_cast<std::streamsize>(content.size()));
    content.resize(static_cast<std::size_t>(file.gcount()));
    auto key = SigningKey::parse(content);
    if (!key.ok())
        return std::move(key).error().during("reading the key file " + path);
    return key;
}

Result<KeyFile> read_or_make_key(const std::string& path) {
    auto key = read_key(path);
    if (key.ok())
        return KeyFile{*std::move(key), false};
    if (key.code() != Errc::not_found)
        return key.error();
    const bool is_new = TRY(make_secret(path));
    return KeyFile{TRY(read_key(path)), is_new};
}

}  // namespace live::service::tokens
