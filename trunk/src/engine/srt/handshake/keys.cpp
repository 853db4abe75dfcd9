#include "engine/srt/handshake/keys.hpp"

#include <algorithm>

#include "base/bytes/random.hpp"

namespace live::engine::srt {

namespace {

constexpr unsigned kDoublingsMax = 4;

std::size_t index_of(KeyFlag flag) { return flag == KeyFlag::odd ? 1 : 0; }
KeyFlag other(KeyFlag flag) { return flag == KeyFlag::even ? KeyFlag::odd : KeyFlag::even; }

std::vector<std::uint8_t> state_bytes(KeyState state) { return {0, 0, 0, static_cast<std::uint8_t>(state)}; }

}  // namespace

Result<OpenedKeys> open_key_message(const KeyMessage& message, const KeyEncryptingKey& kek) {
    if (kek.size != message.key_bytes)
        return Error(Errc::denied, "the key of the passphrase has another length");
    const auto keys = TRY(unwrap_keys(kek, message.wrapped));
    const auto first = std::vector<std::uint8_t>(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(message.key_bytes));
    const auto rest = std::vector<std::uint8_t>(keys.begin() + static_cast<std::ptrdiff_t>(message.key_bytes), keys.end());
    if (message.keys == KeyFlag::odd)
        return OpenedKeys{{}, first};
    return OpenedKeys{first, rest};
}

Result<SendKeys> SendKeys::create(const StreamKey& key, std::uint64_t refresh_packets, std::uint64_t announce_packets) {
    SendKeys made;
    made.flag_ = key.flag;
    made.key_ = key.key;
    made.salt_ = key.salt;
    made.kek_ = key.kek;
    made.refresh_packets_ = std::clamp<std::uint64_t>(refresh_packets, 2, kPacketsMax / 2);
    made.announce_packets_ = std::clamp<std::uint64_t>(announce_packets, 1, made.refresh_packets_ - 1);
    made.ciphers_[index_of(key.flag)] = TRY(PayloadCipher::create(key.key, key.salt));
    return made;
}

KeyFlag SendKeys::next_flag() {
    if (used_ >= refresh_packets_ && is_confirmed_) {
        flag_ = other(flag_);
        key_ = std::exchange(next_key_, {});
        announced_.clear();
        is_confirmed_ = false;
        used_ = 0;
        ++refreshes_;
    }
    if (used_ >= refresh_packets_ - announce_packets_ && announced_.empty())
        make_next_key();
    if (used_ >= kPacketsMax)
        return KeyFlag::none;
    ++used_;
    return flag_;
}

void SendKeys::make_next_key() {
    std::vector<std::uint8_t> key(key_.size());
    fill_random(key);
    auto cipher = PayloadCipher::create(key, salt_);
    // Both, as other senders do.
    std::vector<std::uint8_t> both = flag_ == KeyFlag::even ? key_ : key;
    const std::vector<std::uint8_t>& second = flag_ == KeyFlag::even ? key : key_;
    both.insert(both.end(), second.begin(), second.end());
    auto wrapped = wrap_keys(kek_, both);
    if (!cipher.ok() || !wrapped.ok())
        return;
    // The other key was used announce_packets after its end for retransmissions, and may be replaced.
    ciphers_[index_of(other(flag_))] = std::move(*cipher);
    next_key_ = std::move(key);
    announce(KeyFlag::both, std::move(*wrapped));
}

void SendKeys::announce(KeyFlag keys, std::vector<std::uint8_t> wrapped) {
    announced_ = write_key_message({.keys = keys, .key_bytes = key_.size(), .salt = salt_, .wrapped = std::move(wrapped)});
    is_confirmed_ = false;
    announce_at_ = {};
    announcements_ = 0;
}

Result<void> SendKeys::announce_first() {
    announce(flag_, TRY(wrap_keys(kek_, key_)));
    return {};
}

bool SendKeys::encrypt(KeyFlag flag, std::uint32_t sequence, Bytes input, MutBytes output) {
    auto& cipher = ciphers_[index_of(flag)];
    return cipher && cipher->apply(sequence, input, output);
}

std::optional<std::vector<std::uint8_t>> SendKeys::announcement(Micros now, const RoundTrip& round_trip) {
    if (!is_announcing() || now < announce_at_)
        return std::nullopt;
    announce_at_ = now + (round_trip.estimate() + round_trip.estimate() / 2 + Micros(10'000)) *
                             (1 << std::min(announcements_, kDoublingsMax));
    ++announcements_;
    return announced_;
}

bool SendKeys::is_ignored(Micros now) const {
    return awaits_first() && announcements_ >= kFirstAnnouncementsMax && now >= announce_at_;
}

bool SendKeys::handle_response(Bytes contents) {
    if (!is_announcing())
        return true;
    if (!std::equal(contents.begin(), contents.end(), announced_.begin(), announced_.end()))
        return !awaits_first() || !parse_key_state(contents);
    if (awaits_first())
        announced_.clear();
    else
        is_confirmed_ = true;
    return true;
}

Result<void> ReceiveKeys::install(const StreamKey& key) {
    const std::size_t index = index_of(key.flag);
    ciphers_[index] = TRY(PayloadCipher::create(key.key, key.salt));
    keys_[index] = key.key;
    salt_ = key.salt;
    kek_ = key.kek;
    key_bytes_ = key.key.size();
    return {};
}

std::optional<std::vector<std::uint8_t>> ReceiveKeys::handle_request(Bytes contents) {
    const auto message = parse_key_message(contents);
    if (!message.ok())
        return state_bytes(message.code() == Errc::unsupported ? KeyState::bad_mode : KeyState::bad_secret);
    if (salt_ == message->salt && kek_.size == message->key_bytes) {
        if (!take(*message, kek_).ok())
            return state_bytes(KeyState::bad_secret);
        return std::vector<std::uint8_t>(contents.begin(), contents.end());
    }
    if (asked_ || questions_ >= kQuestionsMax)
        return std::nullopt;
    ++questions_;
    asked_ = *message;
    asked_bytes_.assign(contents.begin(), contents.end());
    return std::nullopt;
}

std::optional<KeyQuestion> ReceiveKeys::question() const {
    if (!asked_)
        return std::nullopt;
    return KeyQuestion{asked_->salt, asked_->key_bytes};
}

std::vector<std::uint8_t> ReceiveKeys::answer(const std::optional<KeyEncryptingKey>& kek, bool& is_denied) {
    const KeyMessage message = std::move(*std::exchange(asked_, std::nullopt));
    std::vector<std::uint8_t> bytes = std::move(asked_bytes_);
    is_denied = false;
    if (!kek)
        return state_bytes(KeyState::no_secret);
    // Keys of another salt do not go with the old ones.
    auto before = std::exchange(keys_, {});
    if (!take(message, *kek).ok()) {
        keys_ = std::move(before);
        is_denied = true;
        return state_bytes(KeyState::bad_secret);
    }
    return bytes;
}

Result<void> ReceiveKeys::take(const KeyMessage& message, const KeyEncryptingKey& kek) {
    const OpenedKeys opened = TRY(open_key_message(message, kek));
    for (std::size_t index = 0; index < 2; ++index) {
        const auto& key = index == 0 ? opened.even : opened.odd;
        if (key.empty() || key == keys_[index])
            continue;
        ciphers_[index] = TRY(PayloadCipher::create(key, message.salt));
        keys_[index] = key;
    }
    salt_ = message.salt;
    kek_ = kek;
    key_bytes_ = message.key_bytes;
    return {};
}

bool ReceiveKeys::decrypt(KeyFlag flag, std::uint32_t sequence, Bytes input, MutBytes output) {
    auto& cipher = ciphers_[index_of(flag)];
    return cipher && cipher->apply(sequence, input, output);
}

}  // namespace live::engine::srt
