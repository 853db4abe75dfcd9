#include "service/hls/keys.hpp"

#include <memory>
#include <utility>

#include "base/random.hpp"
#include "engine/crypto/aes_cbc.hpp"
#include "io/off_loop.hpp"
#include "service/files/release.hpp"

namespace live::service::hls {

namespace {

std::array<std::uint8_t, engine::crypto::kAesBlockBytes> random_block() {
    std::array<std::uint8_t, engine::crypto::kAesBlockBytes> bytes{};
    fill_random(bytes);
    return bytes;
}

std::vector<Bytes> bytes_of(const std::vector<Block>& blocks) {
    std::vector<Bytes> bytes;
    for (const Block& block : blocks)
        bytes.emplace_back(*block);
    return bytes;
}

}  // namespace

void Keys::begin_segment(std::uint64_t number) {
    if (key_ && number % options_.fragments_per_key != 0)
        return;
    const FileName name = names_.key(number, std::chrono::system_clock::now());
    bytes_ = random_block();
    key_ = wire::hls::Key{name.uri, random_block()};
    file_ = name.file;
    disk_.write(file_, {std::make_shared<const std::vector<std::uint8_t>>(bytes_.begin(), bytes_.end())});
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
    files::release(std::move(blocks));
    return std::vector<Block>{std::make_shared<const std::vector<std::uint8_t>>(std::move(sealed))};
}

}  // namespace live::service::hls
