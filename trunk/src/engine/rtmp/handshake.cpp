#include "engine/rtmp/handshake.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace live::engine::rtmp {
namespace {

constexpr std::uint8_t kVersion = 3;
constexpr std::uint8_t kVersionEncrypted = 6;

using Block = std::array<std::uint8_t, kHandshakeBlockBytes>;

// The four version bytes of a signed block; zero means "simple". Players check for version 3 or higher before they verify it.
constexpr std::array<std::uint8_t, 4> kServerVersion = {3, 5, 1, 1};
constexpr std::array<std::uint8_t, 4> kClientVersion = {128, 0, 7, 2};
constexpr std::array<std::uint8_t, 4> kNoVersion = {};

// SplitMix64: enough for bytes that only have to differ between connections.
std::uint64_t next_random(std::uint64_t& seed) {
    seed += 0x9E37'79B9'7F4A'7C15;
    std::uint64_t mixed = seed;
    mixed = (mixed ^ mixed >> 30) * 0xBF58'476D'1CE4'E5B9;
    mixed = (mixed ^ mixed >> 27) * 0x94D0'49BB'1331'11EB;
    return mixed ^ mixed >> 31;
}

void put_time(MutBytes at, TimePoint now) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
    for (std::size_t i = 0; i < 4; ++i)
        at[i] = static_cast<std::uint8_t>(ms >> (8 * (3 - i)));
}

// Time, version, random bytes.
Block fresh_block(TimePoint now, const std::array<std::uint8_t, 4>& version, std::uint64_t& seed) {
    Block block;
    for (std::size_t at = 0; at < block.size(); at += 8) {
        const std::uint64_t random = next_random(seed);
        for (std::size_t i = 0; i < 8; ++i)
            block[at + i] = static_cast<std::uint8_t>(random >> (8 * i));
    }
    put_time(MutBytes(block), now);
    std::copy(version.begin(), version.end(), block.begin() + 4);
    return block;
}

Result<void> check_version(std::uint8_t version) {
    if (version == kVersion)
        return {};
    if (version == kVersionEncrypted)
        return Error(Errc::unsupported, "encrypted RTMP (RTMPE) is not spoken");
    return Error(Errc::malformed, "the first byte is " + std::to_string(version) + ", RTMP begins with 3");
}

// Collects the block; true when it is complete.
bool collect(std::vector<std::uint8_t>& block, Bytes& input) {
    block.reserve(kHandshakeBlockBytes);
    const std::size_t count = std::min(input.size(), kHandshakeBlockBytes - block.size());
    block.insert(block.end(), input.begin(), input.begin() + static_cast<std::ptrdiff_t>(count));
    input = input.subspan(count);
    return block.size() == kHandshakeBlockBytes;
}

bool skip(std::size_t& left, Bytes& input) {
    const std::size_t count = std::min(input.size(), left);
    left -= count;
    input = input.subspan(count);
    return left == 0;
}

bool says_simple(Bytes block) { return std::equal(kNoVersion.begin(), kNoVersion.end(), block.begin() + 4); }

}  // namespace

Result<bool> ServerHandshake::handle_bytes(TimePoint now, Bytes& input, ByteWriter& out) {
    if (step_ == Step::c0 && !input.empty()) {
        TRY(check_version(input[0]));
        input = input.subspan(1);
        step_ = Step::c1;
    }
    if (step_ == Step::c1 && !input.empty() && collect(block_, input)) {
        TRY(answer(now, out));
        block_ = std::vector<std::uint8_t>();
        step_ = Step::c2;
    }
    // The content of C2 is ignored: it proves nothing, and some clients send arbitrary bytes.
    if (step_ == Step::c2 && skip(c2_left_, input))
        step_ = Step::done;
    return step_ == Step::done;
}

Result<void> ServerHandshake::answer(TimePoint now, ByteWriter& out) {
    std::optional<FoundDigest> found;
    if (!says_simple(block_))
        found = TRY(find_digest(block_, Signer::client));
    out.u8(kVersion);
    if (!found) {
        // RTMP 1.0, section 5.2.4, puts our own time into the second field of the echo. librtmp 2.4 warns of a wrong signature
        // unless all 1,536 bytes are echoed, so they are.
        out.bytes(fresh_block(now, kNoVersion, seed_)).bytes(block_);
        return {};
    }
    form_ = HandshakeForm::complex;
    Block s1 = fresh_block(now, kServerVersion, seed_);
    TRY(embed_digest(s1, found->schema, Signer::server));
    Block s2 = fresh_block(now, kServerVersion, seed_);
    TRY(embed_answer(s2, found->digest, Signer::server));
    out.bytes(s1).bytes(s2);
    return {};
}

Result<void> ClientHandshake::start(TimePoint now, ByteWriter& out) {
    const bool is_signed = wanted_ == HandshakeForm::complex;
    Block c1 = fresh_block(now, is_signed ? kClientVersion : kNoVersion, seed_);
    if (is_signed)
        TRY(embed_digest(c1, Schema::key_first, Signer::client));
    out.u8(kVersion).bytes(c1);
    return {};
}

Result<bool> ClientHandshake::handle_bytes(TimePoint now, Bytes& input, ByteWriter& out) {
    if (step_ == Step::s0 && !input.empty()) {
        TRY(check_version(input[0]));
        input = input.subspan(1);
        step_ = Step::s1;
    }
    if (step_ == Step::s1 && !input.empty() && collect(block_, input)) {
        TRY(answer(now, out));
        block_ = std::vector<std::uint8_t>();
        step_ = Step::s2;
    }
    if (step_ == Step::s2 && skip(s2_left_, input))
        step_ = Step::done;
    return step_ == Step::done;
}

Result<void> ClientHandshake::answer(TimePoint now, ByteWriter& out) {
    std::optional<FoundDigest> found;
    if (wanted_ == HandshakeForm::complex && !says_simple(block_))
        found = TRY(find_digest(block_, Signer::server));
    if (!found) {
        out.bytes(block_);
        return {};
    }
    form_ = HandshakeForm::complex;
    Block c2 = fresh_block(now, kClientVersion, seed_);
    TRY(embed_answer(c2, found->digest, Signer::client));
    out.bytes(c2);
    return {};
}

}  // namespace live::engine::rtmp
