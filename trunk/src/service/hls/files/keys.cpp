#include "service/hls/files/keys.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/bytes/random.hpp"
#include "engine/crypto/aes_cbc.hpp"
#include "engine/crypto/hkdf.hpp"
#include "io/fibers/off_loop.hpp"

namespace live::service::hls {

namespace {

std::vector<Bytes> bytes_of(const std::vector<Block>& blocks) {
    std::vector<Bytes> bytes;
    for (const Block& block : blocks)
        bytes.emplace_back(*block);
    return bytes;
}

}  // namespace

// The key, then the initialization vector.
Result<std::vector<std::uint8_t>> Keys::make_key(std::uint64_t first) const {
    constexpr std::size_t kBytes = 2 * engine::crypto::kAesBlockBytes;
    if (!setup_.options.key_secret.empty()) {
        const std::string what = "millrace hls " + setup_.stream_url + " " + std::to_string(first);
        return engine::crypto::hkdf_sha256(as_bytes(setup_.options.key_secret), {}, as_bytes(what), kBytes);
    }
    std::vector<std::uint8_t> bytes(kBytes);
    fill_random(bytes);
    return bytes;
}

Result<void> Keys::begin_segment(std::uint64_t number) {
    const std::uint64_t first = number - number % setup_.options.fragments_per_key;
    if (key_ && first == first_)
        return {};
    const auto made = TRY(make_key(first));
    const auto half = made.begin() + engine::crypto::kAesBlockBytes;
    FileName name = setup_.names.key(setup_.options.key_secret.empty() ? number : first, std::chrono::system_clock::now());
    first_ = first;
    std::copy(made.begin(), half, bytes_.begin());
    key_ = wire::hls::Key{name.uri, {}};
    std::copy(half, made.end(), key_->iv.begin());
    const Block bytes = std::make_shared<const std::vector<std::uint8_t>>(bytes_.begin(), bytes_.end());
    setup_.disk.write(name.file, {bytes});
    file_ = std::make_shared<const KeyFile>(setup_.store, std::move(name.file), setup_.stream, bytes);
    return {};
}

Result<std::vector<Block>> Keys::encrypt(std::vector<Block> blocks, io::Deadline deadline) const {
    const auto work = [blocks, key = bytes_, iv = key_->iv] {
        const std::vector<Bytes> parts = bytes_of(blocks);
        return engine::crypto::encrypt_aes128_cbc(key, iv, parts);
    };
    auto done = io::off_loop(work, deadline, io::Work::compute);
    if (!done.ok() && done.code() == Errc::cancelled)
        done = work();
    auto sealed = TRY(std::move(done));
    io::free_off_loop(std::move(blocks));
    return std::vector<Block>{std::make_shared<const std::vector<std::uint8_t>>(std::move(sealed))};
}

}  // namespace live::service::hls
