// The stream keys of a connection: even and odd, for each direction. SendKeys replaces its key after a number of packets and
// announces the next one before (draft-sharabayko-srt-01, 6.1.6); ReceiveKeys follows the peer's.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "engine/srt/connection_types.hpp"
#include "engine/srt/handshake/crypto.hpp"
#include "engine/srt/handshake/key_message.hpp"
#include "engine/srt/transfer/round_trip.hpp"

namespace live::engine::srt {

// The key both directions begin with, and the key of the passphrase that wraps later ones.
struct StreamKey {
    KeyFlag flag = KeyFlag::even;
    Salt salt{};
    KeyEncryptingKey kek{};
    std::vector<std::uint8_t> key{};
};

// The keys in a message: the even one, then the odd one, as far as present.
struct OpenedKeys {
    std::vector<std::uint8_t> even;
    std::vector<std::uint8_t> odd;
};
// Errc::denied for another passphrase.
Result<OpenedKeys> open_key_message(const KeyMessage& message, const KeyEncryptingKey& kek);

class SendKeys {
public:
    // With one key, numbers repeat after 2^31 packets, which would give the plaintext away.
    static constexpr std::uint64_t kPacketsMax = std::uint64_t{1} << 30;

    // Announcements of the first key, before the peer counts as one that cannot open it: some 13 s, as no round trip is known
    // yet.
    static constexpr unsigned kFirstAnnouncementsMax = 8;

    static Result<SendKeys> create(const StreamKey& key, std::uint64_t refresh_packets, std::uint64_t announce_packets);

    // For a peer that has not got the first key with the handshake (version 4): announces it, until it is confirmed.
    Result<void> announce_first();
    bool awaits_first() const { return next_key_.empty() && !announced_.empty(); }
    // No answer was received: libsrt sends none if it has another passphrase.
    bool is_ignored(Micros now) const;
    std::size_t key_bytes() const { return key_.size(); }
    // For the next new packet. None if the key is used up, because the peer never confirmed another.
    KeyFlag next_flag();
    bool encrypt(KeyFlag flag, std::uint32_t sequence, Bytes input, MutBytes output);

    // A key message to send, again and again until it is confirmed.
    std::optional<std::vector<std::uint8_t>> announcement(Micros now, const RoundTrip& round_trip);
    Micros next_announcement() const { return is_announcing() ? announce_at_ : Micros::max(); }
    // Returns false if the peer cannot unwrap the first key: it has no passphrase, or a different one.
    bool handle_response(Bytes contents);
    std::uint64_t refreshes() const { return refreshes_; }

private:
    SendKeys() = default;
    bool is_announcing() const { return !announced_.empty() && !is_confirmed_; }
    void make_next_key();
    void announce(KeyFlag keys, std::vector<std::uint8_t> wrapped);

    std::array<std::optional<PayloadCipher>, 2> ciphers_;  // even, odd
    KeyFlag flag_ = KeyFlag::even;
    std::vector<std::uint8_t> key_;
    std::vector<std::uint8_t> next_key_;
    Salt salt_{};
    KeyEncryptingKey kek_;
    std::uint64_t refresh_packets_ = 0;
    std::uint64_t announce_packets_ = 0;
    std::uint64_t used_ = 0;  // packets with the current key
    std::uint64_t refreshes_ = 0;
    std::vector<std::uint8_t> announced_;
    bool is_confirmed_ = false;
    Micros announce_at_{};
    unsigned announcements_ = 0;
};

class ReceiveKeys {
public:
    // Salts other than the first cost a derivation each, and a peer has no reason to change them.
    static constexpr unsigned kQuestionsMax = 8;

    bool has_keys() const { return ciphers_[0].has_value() || ciphers_[1].has_value(); }
    std::size_t key_bytes() const { return key_bytes_; }
    Result<void> install(const StreamKey& key);
    // The response to send, if there is one now; a question may be pending instead.
    std::optional<std::vector<std::uint8_t>> handle_request(Bytes contents);
    std::optional<KeyQuestion> question() const;
    // The response; `is_denied` if the key was wrong.
    std::vector<std::uint8_t> answer(const std::optional<KeyEncryptingKey>& kek, bool& is_denied);

    bool has_key(KeyFlag flag) const { return flag == KeyFlag::even ? ciphers_[0].has_value() : ciphers_[1].has_value(); }
    bool decrypt(KeyFlag flag, std::uint32_t sequence, Bytes input, MutBytes output);

private:
    Result<void> take(const KeyMessage& message, const KeyEncryptingKey& kek);

    std::array<std::optional<PayloadCipher>, 2> ciphers_;
    std::array<std::vector<std::uint8_t>, 2> keys_;  // to recognise a key that is announced again
    std::optional<Salt> salt_;
    KeyEncryptingKey kek_;
    std::size_t key_bytes_ = 0;
    std::optional<KeyMessage> asked_;
    std::vector<std::uint8_t> asked_bytes_;
    unsigned questions_ = 0;
};

}  // namespace live::engine::srt
