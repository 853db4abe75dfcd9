// The floor of WebRTC play: what encrypting and sending alone cost. In `send` mode it learns N players by the datagram that each
// sends first, then gives everybody a clip's pictures, cut as a WebRTC sender cuts them, and a audio packet every 20 ms: header,
// AES-128-GCM under the player's own key (RFC 7714), and sendmmsg of up to 64 messages, each a train that the kernel cuts
// (UDP_SEGMENT). In `sink` mode it is the N players: one socket each, looked at every 5 ms, as sb_rtc_load --skip-decryption
// does. With `plain` it is the floor of RTSP over UDP: packets of up to 1,412 bytes without encryption. There is no session, no
// RTCP and nobody who could lose a packet, so no server can do better by the same system calls.
#include <netinet/in.h>
#include <openssl/evp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "clip.hpp"
#include "common.hpp"
#include "udp.hpp"

namespace {

using namespace bench;

constexpr std::string_view kUsage =
    "srtp_floor --mode send|sink --port PORT --clients N [--clip FILE.flv] [--audio-bytes 120] [--plain 1]";
constexpr std::size_t kPayloadMax = 1200;
constexpr std::size_t kPlainPayloadMax = 1400;
constexpr std::size_t kHeader = 20;  // With the transport-wide number that players agree on.
constexpr std::size_t kPlainHeader = 12;
constexpr std::size_t kClearHeader = 20;
constexpr std::size_t kTag = 16;
constexpr std::size_t kParameterSets = 48;  // In front of a key frame: a packet of their own or a part of the first.
constexpr double kAudioStep = 0.02;
constexpr std::size_t kFlvHeader = 5;

struct Player {
    sockaddr_in to{};
    EVP_CIPHER_CTX* cipher = nullptr;
    std::uint16_t sequence[2] = {0, 0};
};

// Sends what is put into it in batches; one buffer for all.
class Outbox {
public:
    Outbox(int fd, Counters& counters, bool is_plain)
        : fd_(fd), counters_(counters), is_plain_(is_plain), memory_(kBatch * 64 * (kPlainHeader + kPlainPayloadMax)) {}

    // A train of one picture or audio for one player. `sizes` are payloads; all but the last are alike.
    void add(Player& player, int kind, std::uint32_t time, const std::vector<std::size_t>& sizes) {
        for (std::size_t first = 0; first < sizes.size();) {
            std::size_t count = 1;
            while (first + count < sizes.size() && count < kBatch && sizes[first + count - 1] == sizes[first] &&
                   sizes[first + count] <= sizes[first])
                ++count;
            if (batch_.is_full())
                flush();
            std::uint8_t* const begin = memory_.data() + used_;
            for (std::size_t i = first; i < first + count; ++i)
                protect(player, kind, time, sizes[i], i + 1 == sizes.size());
            const std::size_t around = is_plain_ ? kPlainHeader : kHeader + kTag;
            const auto size = static_cast<std::size_t>(memory_.data() + used_ - begin);
            batch_.add(player.to, begin, size, count > 1 ? sizes[first] + around : 0);
            counters_.bytes += size;
            first += count;
        }
    }

    void flush() {
        batch_.send(fd_, counters_);
        used_ = 0;
    }

private:
    void protect(Player& player, int kind, std::uint32_t time, std::size_t size, bool marker) {
        static const std::vector<std::uint8_t> payload(kPlainPayloadMax, 0x5A);
        std::uint8_t* const out = memory_.data() + used_;
        const std::uint16_t sequence = player.sequence[kind]++;
        const std::uint8_t header[kHeader] = {0x90,
                                              static_cast<std::uint8_t>((marker ? 0x80 : 0) | (96 + kind)),
                                              static_cast<std::uint8_t>(sequence >> 8),
                                              static_cast<std::uint8_t>(sequence),
                                              static_cast<std::uint8_t>(time >> 24),
                                              static_cast<std::uint8_t>(time >> 16),
                                              static_cast<std::uint8_t>(time >> 8),
                                              static_cast<std::uint8_t>(time),
                                              0,
                                              0,
                                              0,
                                              static_cast<std::uint8_t>(1 + kind),
                                              0xBE,
                                              0xDE,
                                              0,
                                              1,
                                              0x31,
                                              0,
                                              0,
                                              0};
        if (is_plain_) {
            memcpy(out, header, kPlainHeader);
            memcpy(out + kPlainHeader, payload.data(), size);
            used_ += kPlainHeader + size;
            ++counters_.packets;
            return;
        }
        memcpy(out, header, kHeader);
        const std::uint8_t iv[12] = {0, 0, 0, 0, 0, header[11], 0, 0, 0, 0, header[2], header[3]};
        EVP_EncryptInit_ex2(player.cipher, nullptr, nullptr, iv, nullptr);
        EVP_Cipher(player.cipher, nullptr, out, kClearHeader);
        EVP_Cipher(player.cipher, out + kHeader, payload.data(), static_cast<unsigned>(size));
        EVP_Cipher(player.cipher, nullptr, nullptr, 0);
        EVP_CIPHER_CTX_ctrl(player.cipher, EVP_CTRL_AEAD_GET_TAG, static_cast<int>(kTag), out + kHeader + size);
        used_ += kHeader + size + kTag;
        ++counters_.packets;
    }

    int fd_;
    Counters& counters_;
    const bool is_plain_;
    std::vector<std::uint8_t> memory_;
    std::size_t used_ = 0;
    MessageBatch batch_;
};

std::vector<Player> learn_players(int fd, std::size_t clients) {
    std::vector<Player> players;
    EVP_CIPHER* const gcm = EVP_CIPHER_fetch(nullptr, "AES-128-GCM", nullptr);
    for (const sockaddr_in& peer : learn_peers(fd, clients)) {
        Player player{peer};
        std::uint8_t key[16] = {static_cast<std::uint8_t>(players.size()), static_cast<std::uint8_t>(players.size() >> 8), 7};
        const std::uint8_t iv[12] = {};
        player.cipher = EVP_CIPHER_CTX_new();
        if (gcm == nullptr || EVP_EncryptInit_ex2(player.cipher, gcm, key, iv, nullptr) != 1)
            die("no AES-128-GCM");
        players.push_back(player);
    }
    return players;
}

std::vector<std::size_t> cut(std::size_t bytes, std::size_t most) {
    std::vector<std::size_t> sizes;
    for (; bytes > most; bytes -= most)
        sizes.push_back(most);
    sizes.push_back(bytes);
    return sizes;
}

Counters run_sender(std::uint16_t port, std::size_t clients, const Clip& clip, std::size_t sound_bytes, bool is_plain) {
    Counters counters;
    const int fd = bound_socket(port, 4 << 20);
    JsonLine("listening").print();
    std::vector<Player> players = learn_players(fd, clients);
    Outbox outbox(fd, counters, is_plain);
    const auto send_all = [&](int kind, std::uint32_t time, const std::vector<std::size_t>& sizes) {
        for (Player& player : players)
            outbox.add(player, kind, time, sizes);
        outbox.flush();
    };
    std::vector<const ClipMessage*> pictures;
    for (const ClipMessage& message : clip.messages)
        if (message.type == 9 && !message.is_setup)
            pictures.push_back(&message);
    const double start = now_seconds();
    std::uint64_t audio_frames = 0, shown = 0;
    while (!stop_requested()) {
        const double elapsed = now_seconds() - start;
        const double sound_at = static_cast<double>(audio_frames) * kAudioStep;
        const ClipMessage& next = *pictures[shown % pictures.size()];
        const double picture_at = (static_cast<double>(shown / pictures.size()) * clip.duration_ms + next.timestamp_ms) / 1000;
        if (picture_at <= elapsed && picture_at <= sound_at) {
            send_all(0, static_cast<std::uint32_t>(picture_at * 90'000),
                     cut(next.payload_bytes - kFlvHeader + (next.is_key ? kParameterSets : 0),
                         is_plain ? kPlainPayloadMax : kPayloadMax));
            ++shown;
        } else if (sound_at <= elapsed) {
            send_all(1, static_cast<std::uint32_t>(audio_frames * 960), {sound_bytes});
            ++audio_frames;
        } else {
            sleep_seconds(std::min(picture_at, sound_at) - elapsed);
        }
    }
    return counters;
}

class Sink {
public:
    Sink(std::uint16_t port, std::size_t clients)
        : epoll_(epoll_create1(EPOLL_CLOEXEC)), sockets_(join_floor(port, clients, 1 << 20)) {
        for (std::size_t i = 0; i < clients; ++i)
            watch(epoll_, sockets_[i], EPOLLIN | EPOLLET, static_cast<std::uint32_t>(i), true);
    }

    Counters run() {
        while (!stop_requested() && words_.take(all_)) {
            const double began = now_seconds();
            receive();
            sleep_seconds(0.005 - (now_seconds() - began));
        }
        return all_;
    }

private:
    void receive() {
        epoll_event events[256];
        for (int count = 256; count == 256;) {
            count = epoll_wait(epoll_, events, 256, 0);
            for (int i = 0; i < count; ++i)
                drain(sockets_[events[i].data.u32]);
        }
    }
    void drain(int fd) {
        inbox_.drain(fd, [this](int i) {
            all_.bytes += inbox_.messages[i].msg_len;
            ++all_.packets;
        });
    }

    int epoll_;
    std::vector<int> sockets_;
    Counters all_;
    Words words_;
    Inbox inbox_;
};

}  // namespace

int main(int argc, char** argv) {
    Args args(argc, argv, kUsage);
    const std::string mode = args.required("mode");
    const auto port = static_cast<std::uint16_t>(args.count("port", 0));
    const std::size_t clients = args.count("clients", 1);
    const std::string clip_path = args.text("clip", "");
    const std::size_t sound_bytes = args.count("audio-bytes", 120);
    const bool is_plain = args.count("plain", 0) != 0;
    args.check_all_used();
    if ((mode != "send" && mode != "sink") || port == 0 || clients == 0 || (mode == "send" && clip_path.empty()) ||
        sound_bytes > kPayloadMax)
        die("usage: " + std::string(kUsage));
    raise_file_limit(clients + 64);
    catch_stop_signals();
    Counters counters;
    if (mode == "sink") {
        static Sink sink(port, clients);
        counters = sink.run();
    } else {
        counters = run_sender(port, clients, load_clip(clip_path), sound_bytes, is_plain);
    }
    JsonLine("final")
        .add("bytes", counters.bytes)
        .add("packets", counters.packets)
        .add("messages", counters.messages)
        .add("refused", counters.refused)
        .print();
    return 0;
}
