// The floor of SRT, and its load. `send` is the floor of play: header, AES-128-CTR under the player's own key if wanted, and
// sendmmsg of GSO batches that the kernel cuts (UDP_SEGMENT), the packets of a frame at once; `sink` is its N players. With
// `--acks` these acknowledge as those of a server do, and the floor reads that and answers. `read` is the floor of publish: only
// recvmmsg, at each arrival or on ticks. `play` and `publish` are N SRT callers for a server, which answer and count, and do not decrypt; with `--each-port`
// for N servers on ports that follow each other. `udp` sends the same transport stream to N ports without SRT, or, with
// `--one-port`, datagrams as long as those of SRT from N sockets to one. `flood` asks a server for N handshakes a millisecond, of
// which it counts the answers and makes nothing; `echo` is its floor, which sends back what comes.
// Players look at all their sockets every 10 ms: with epoll, a sender on the same machine pays for waking them, packet by packet.
#include <netinet/in.h>
#include <openssl/evp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "common.hpp"
#include "udp.hpp"

namespace {

using namespace bench;
using Buffer = std::vector<std::uint8_t>;

constexpr std::string_view kUsage =
    "srt_floor --mode send|sink|read|play|publish|udp|flood|echo --port PORT --clients N [--kbps 2000] [--encrypted] [--acks] "
    "[--one-port] "
    "[--each-port] [--tick-ms 0] [--ts FILE.ts] [--stream live/bench]";
constexpr std::size_t kUnit = 1316;
constexpr std::size_t kHeader = 16;
constexpr std::size_t kCutMax = 65'000 / (kHeader + kUnit);  // The kernel cuts no longer ones.
constexpr double kFrame = 0.04;
constexpr int kServerBuffer = 16 << 20;
constexpr int kClientBuffer = 1 << 20;
constexpr std::string_view kPassphrase = "the passphrase of the bench";

struct Options {
    std::string mode;
    std::uint16_t port = 0;
    std::size_t clients = 1;
    double kbps = 2000;
    bool encrypted = false;
    bool one_port = false;
    bool each_port = false;
    bool acks = false;
    double tick = 0;  // seconds
    std::string ts;
    std::string stream;
};

void put32(std::uint8_t* to, std::uint32_t value) {
    for (int i = 0; i < 4; ++i)
        to[i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
}
std::uint32_t get32(const std::uint8_t* from) {
    return static_cast<std::uint32_t>(from[0]) << 24 | static_cast<std::uint32_t>(from[1]) << 16 |
           static_cast<std::uint32_t>(from[2]) << 8 | from[3];
}
std::uint32_t microseconds() { return static_cast<std::uint32_t>(static_cast<std::uint64_t>(now_seconds() * 1e6)); }

// As libsrt says what it has, and for which ACK it is thanked.
constexpr std::size_t kAckBytes = kHeader + 28;
constexpr std::size_t kAckAckBytes = kHeader + 4;
void write_control(std::uint8_t* out, std::uint8_t type, std::uint32_t information, std::uint32_t to) {
    memset(out, 0, kHeader);
    out[0] = 0x80;
    out[1] = type;
    put32(out + 4, information);
    put32(out + 8, microseconds());
    put32(out + 12, to);
}
void write_ack(std::uint8_t* out, std::uint32_t number, std::uint32_t next, std::uint32_t to) {
    write_control(out, 2, number, to);
    memset(out + kHeader, 0, kAckBytes - kHeader);
    put32(out + kHeader, next);
    put32(out + kHeader + 4, 1000);
    put32(out + kHeader + 8, 200);
    put32(out + kHeader + 12, 8000);
}

// Encoders are not in phase: each one's stream begins elsewhere in two seconds, a usual GOP.
std::size_t phase_of(std::size_t at, std::size_t clients, double kbps, std::size_t units) {
    const auto in_phase = static_cast<std::size_t>(2 * kbps * 125 / kUnit);
    return std::min(in_phase, units / 2) * at / clients;
}

// How many units are due, of a stream that began at a time.
struct Pace {
    double per_second;
    double began = now_seconds();
    std::uint64_t sent = 0;

    explicit Pace(double kbps) : per_second(kbps * 125 / kUnit) {}
    std::size_t due() { return static_cast<std::size_t>((now_seconds() - began) * per_second) - sent; }
};

// ---- the floor of play

struct Player {
    sockaddr_in to{};
    EVP_CIPHER_CTX* cipher = nullptr;
    std::uint32_t sequence = 0;
};

std::vector<Player> learn_players(int fd, std::size_t clients) {
    std::vector<Player> players;
    for (const sockaddr_in& peer : learn_peers(fd, clients)) {
        Player player{peer};
        std::uint8_t key[16] = {static_cast<std::uint8_t>(players.size()), static_cast<std::uint8_t>(players.size() >> 8), 7};
        player.cipher = EVP_CIPHER_CTX_new();
        EVP_EncryptInit_ex(player.cipher, EVP_aes_128_ctr(), nullptr, key, nullptr);
        players.push_back(player);
    }
    return players;
}

class Batches {
public:
    Batches(int fd, bool encrypted, Counters& counters)
        : fd_(fd), encrypted_(encrypted), counters_(counters), memory_(kBatch * kBatch * (kHeader + kUnit)) {}

    void add(Player& player, std::size_t packets) {
        if (batch_.is_full())
            flush();
        std::uint8_t* const begin = memory_.data() + used_;
        for (std::size_t i = 0; i < packets; ++i)
            write(player);
        batch_.add(player.to, begin, packets * (kHeader + kUnit), packets > 1 ? kHeader + kUnit : 0);
    }
    void flush() {
        batch_.send(fd_, counters_);
        used_ = 0;
    }

private:
    void write(Player& player) {
        static const Buffer payload(kUnit, 0x47);
        std::uint8_t* const out = memory_.data() + used_;
        put32(out, player.sequence);
        put32(out + 4, 0xC0000000 | (encrypted_ ? 0x08000000 : 0) | (player.sequence & 0x3FFFFFF));
        put32(out + 8, microseconds());
        put32(out + 12, 7);
        if (encrypted_) {
            std::uint8_t iv[16] = {};
            put32(iv + 10, player.sequence);
            EVP_EncryptInit_ex(player.cipher, nullptr, nullptr, nullptr, iv);
            EVP_Cipher(player.cipher, out + kHeader, payload.data(), kUnit);
        } else {
            memcpy(out + kHeader, payload.data(), kUnit);
        }
        ++player.sequence;
        used_ += kHeader + kUnit;
        counters_.bytes += kHeader + kUnit;
        ++counters_.packets;
    }

    int fd_;
    bool encrypted_;
    Counters& counters_;
    Buffer memory_;
    std::size_t used_ = 0;
    MessageBatch batch_;
};

// Reads ACKs, and answers each; or sends back what comes.
class Answers {
public:
    enum class Kind { ack_acks, echoes };

    Answers(int fd, Kind kind) : fd_(fd), kind_(kind) {
        for (std::size_t i = 0; i < kBatch; ++i)
            inbox_.messages[i].msg_hdr.msg_name = &from_[i];
    }
    void serve() {
        for (int count = static_cast<int>(kBatch); count == static_cast<int>(kBatch);) {
            for (mmsghdr& message : inbox_.messages)
                message.msg_hdr.msg_namelen = sizeof from_[0];
            count = inbox_.receive(fd_);
            for (int i = 0; i < count; ++i) {
                std::uint8_t* const ack = inbox_.bytes[i];
                if (kind_ == Kind::echoes) {
                    batch_.add(from_[i], ack, inbox_.messages[i].msg_len, 0);
                    continue;
                }
                if (inbox_.messages[i].msg_len < kAckBytes || ack[0] != 0x80 || ack[1] != 2)
                    continue;
                write_control(answers_[i], 6, get32(ack + 4), 7);
                memset(answers_[i] + kHeader, 0, kAckAckBytes - kHeader);
                batch_.add(from_[i], answers_[i], kAckAckBytes, 0);
            }
            batch_.send(fd_, counters_);
        }
    }
    // What comes within a millisecond is read at once.
    void serve_until(double time) {
        for (double left = time - now_seconds(); left > 0; left = time - now_seconds()) {
            sleep_seconds(std::min(left, 0.001));
            serve();
        }
    }

private:
    int fd_;
    Kind kind_;
    Inbox inbox_;
    sockaddr_in from_[kBatch];
    std::uint8_t answers_[kBatch][kAckAckBytes];
    MessageBatch batch_;
    Counters counters_;
};

Counters run_send(const Options& options) {
    Counters counters;
    const int fd = bound_socket(options.port, kServerBuffer);
    JsonLine("listening").print();
    std::vector<Player> players = learn_players(fd, options.clients);
    Batches batches(fd, options.encrypted, counters);
    const auto answers = std::make_unique<Answers>(fd, Answers::Kind::ack_acks);
    Pace pace(options.kbps);
    while (!stop_requested()) {
        const std::size_t due = std::min<std::size_t>(pace.due(), kCutMax);
        pace.sent += due;
        if (due > 0)
            for (Player& player : players)
                batches.add(player, due);
        batches.flush();
        const double next = static_cast<double>(static_cast<std::uint64_t>((now_seconds() - pace.began) / kFrame) + 1) * kFrame;
        if (options.acks)
            answers->serve_until(pace.began + next);
        else
            sleep_seconds(pace.began + next - now_seconds());
    }
    return counters;
}

// ---- callers

// The same key for everybody: what a client derives is not measured.
struct Secret {
    Buffer message;

    Secret() {
        std::uint8_t salt[16], kek[16], key[16];
        memset(salt, 0x51, sizeof salt);
        memset(key, 0x52, sizeof key);
        derive(salt, kek);
        message = {0x12, 0x20, 0x29, 0x01, 0, 0, 0, 0, 2, 0, 2, 0, 0, 0, 4, 4};
        message.insert(message.end(), salt, salt + sizeof salt);
        EVP_CIPHER_CTX* const wrap = EVP_CIPHER_CTX_new();
        EVP_CIPHER_CTX_set_flags(wrap, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
        std::uint8_t wrapped[40];
        int size = 0;
        if (EVP_EncryptInit_ex(wrap, EVP_aes_128_wrap(), nullptr, kek, nullptr) != 1 ||
            EVP_EncryptUpdate(wrap, wrapped, &size, key, sizeof key) != 1)
            die("no AES key wrap");
        EVP_CIPHER_CTX_free(wrap);
        message.insert(message.end(), wrapped, wrapped + size);
    }

private:
    static void derive(const std::uint8_t* salt, std::uint8_t* kek) {
        PKCS5_PBKDF2_HMAC(kPassphrase.data(), static_cast<int>(kPassphrase.size()), salt + 8, 8, 2048, EVP_sha1(), 16, kek);
    }
};

struct Caller {
    int fd = -1;
    std::uint32_t id = 0;
    std::uint32_t peer = 0;
    std::uint32_t cookie = 0;
    std::uint32_t sequence = 1000;  // The next, of either direction.
    std::uint32_t acknowledged = 0;
    std::uint32_t acks = 0;
    bool connected = false;
    double asked_at = 0;
};

Buffer handshake(const Caller& caller, const Options& options, const Buffer& key) {
    const bool concludes = caller.cookie != 0;
    Buffer out(kHeader + 48, 0);
    out[0] = 0x80;
    put32(&out[8], microseconds());
    std::uint8_t* const body = &out[kHeader];
    put32(body, concludes ? 5 : 4);
    put32(body + 4, concludes ? (options.encrypted ? 0x00020007U : 0x00000005U) : 2);
    put32(body + 8, caller.sequence);
    put32(body + 12, 1500);
    put32(body + 16, 8192);
    put32(body + 20, concludes ? 0xFFFFFFFF : 1);
    put32(body + 24, caller.id);
    put32(body + 28, caller.cookie);
    if (!concludes)
        return out;
    const auto extension = [&out](std::uint16_t type, const Buffer& contents) {
        out.insert(out.end(), {static_cast<std::uint8_t>(type >> 8), static_cast<std::uint8_t>(type), 0,
                               static_cast<std::uint8_t>(contents.size() / 4)});
        out.insert(out.end(), contents.begin(), contents.end());
    };
    extension(1, {0, 1, 5, 1, 0, 0, 0, 0xBF, 0, 120, 0, 120});
    if (options.encrypted)
        extension(3, key);
    const std::string mode = options.mode == "play" ? "request" : "publish";
    std::string name = "#!::r=" + options.stream + (options.mode == "play" ? "" : std::to_string(caller.id)) + ",m=" + mode;
    name.resize((name.size() + 3) / 4 * 4, '\0');
    for (std::size_t at = 0; at < name.size(); at += 4)
        std::reverse(name.begin() + static_cast<std::ptrdiff_t>(at), name.begin() + static_cast<std::ptrdiff_t>(at) + 4);
    extension(5, Buffer(name.begin(), name.end()));
    return out;
}

class Callers {
public:
    explicit Callers(const Options& options) : options_(options) {
        if (options_.encrypted)
            key_ = Secret().message;
        for (std::size_t i = 0; i < options_.clients; ++i) {
            Caller caller;
            caller.fd = connected_socket(static_cast<std::uint16_t>(options_.port + (options_.each_port ? i : 0)), kClientBuffer);
            caller.id = static_cast<std::uint32_t>(i + 1);
            callers_.push_back(caller);
        }
        if (options_.mode == "publish") {
            std::ifstream file(options_.ts, std::ios::binary);
            units_.assign(std::istreambuf_iterator<char>(file), {});
            units_.resize(units_.size() / kUnit * kUnit);
            if (units_.empty())
                die("no transport stream in " + options_.ts);
        }
    }

    Counters run() {
        connect_all();
        JsonLine("ready").add("clients", static_cast<std::uint64_t>(callers_.size())).print();
        Words words;
        Pace pace(options_.kbps);
        while (!stop_requested() && words.take(all_)) {
            const double began = now_seconds();
            receive();
            if (options_.mode == "publish")
                publish(pace);
            else
                acknowledge();
            sleep_seconds(0.01 - (now_seconds() - began));
        }
        for (const Caller& caller : callers_)
            send_control(caller, 5, 0);
        return all_;
    }

private:
    void connect_all() {
        const double limit = now_seconds() + 60;
        for (std::size_t connected = 0; connected < callers_.size() && !stop_requested();) {
            if (now_seconds() > limit)
                die(std::to_string(callers_.size() - connected) + " of the callers are not connected after a minute");
            std::size_t asking = 0;
            for (Caller& caller : callers_)
                if (!caller.connected && asking++ < 100 && now_seconds() - caller.asked_at > 0.25)
                    ask(caller);
            receive();
            connected = static_cast<std::size_t>(
                std::count_if(callers_.begin(), callers_.end(), [](const Caller& caller) { return caller.connected; }));
            acknowledge();
            sleep_seconds(0.005);
        }
    }
    void ask(Caller& caller) {
        caller.asked_at = now_seconds();
        const Buffer datagram = handshake(caller, options_, key_);
        static_cast<void>(send(caller.fd, datagram.data(), datagram.size(), MSG_DONTWAIT));
    }
    void receive() {
        for (Caller& caller : callers_)
            inbox_.drain(caller.fd, [&](int i) { take(caller, inbox_.bytes[i], inbox_.messages[i].msg_len); });
    }
    void take(Caller& caller, const std::uint8_t* bytes, std::size_t size) {
        if (size < kHeader)
            return;
        if ((bytes[0] & 0x80) == 0) {
            all_.bytes += size;
            ++all_.packets;
            const std::uint32_t sequence = get32(bytes);
            if (sequence != caller.sequence)
                all_.missing += sequence > caller.sequence ? sequence - caller.sequence : 0;
            caller.sequence = std::max(caller.sequence, sequence + 1);
            return;
        }
        // Publishers answer every ACK that has a number with an ACKACK.
        if (bytes[1] == 2 && get32(bytes + 4) != 0)
            return send_control(caller, 6, get32(bytes + 4));
        if (bytes[1] != 0 || size < kHeader + 48 || caller.connected)
            return;
        const std::uint32_t type = get32(bytes + kHeader + 20);
        if (type == 1 && caller.cookie == 0) {
            caller.cookie = get32(bytes + kHeader + 28);
            ask(caller);
        } else if (type == 0xFFFFFFFF) {
            caller.connected = true;
            caller.peer = get32(bytes + kHeader + 24);
            caller.acknowledged = caller.sequence;
        } else if (type >= 1000) {
            die("a caller is refused with " + std::to_string(type));
        }
    }
    // As libsrt: each 10 ms, if something has come.
    void acknowledge() {
        if (options_.mode != "play")
            return;
        for (Caller& caller : callers_) {
            if (!caller.connected || caller.acknowledged == caller.sequence)
                continue;
            caller.acknowledged = caller.sequence;
            std::uint8_t out[kAckBytes];
            write_ack(out, ++caller.acks, caller.sequence, caller.peer);
            static_cast<void>(send(caller.fd, out, sizeof out, MSG_DONTWAIT));
        }
    }
    // Those whose contents are four bytes of padding.
    static void send_control(const Caller& caller, std::uint8_t type, std::uint32_t information) {
        std::uint8_t out[kHeader + 4] = {};
        write_control(out, type, information, caller.peer);
        static_cast<void>(send(caller.fd, out, sizeof out, MSG_DONTWAIT));
    }
    void publish(Pace& pace) {
        const std::size_t due = std::min<std::size_t>(pace.due(), kBatch);
        for (Caller& caller : callers_) {
            const std::size_t begin =
                phase_of(static_cast<std::size_t>(&caller - callers_.data()), callers_.size(), options_.kbps, units_.size() / kUnit) + pace.sent;
            for (std::size_t i = 0; i < due; ++i) {
                std::uint8_t out[kHeader + kUnit];
                put32(out, caller.sequence & 0x7FFFFFFF);
                put32(out + 4, 0xC0000000 | (caller.sequence & 0x3FFFFFF));
                put32(out + 8, microseconds());
                put32(out + 12, caller.peer);
                memcpy(out + kHeader, &units_[(begin + i) * kUnit % units_.size()], kUnit);
                ++caller.sequence;
                all_.refused += send(caller.fd, out, sizeof out, MSG_DONTWAIT) < 0 ? 1 : 0;
                all_.bytes += sizeof out;
                ++all_.packets;
            }
        }
        pace.sent += due;
    }

    const Options& options_;
    Buffer key_;
    Buffer units_;
    std::vector<Caller> callers_;
    Counters all_;
    Inbox inbox_;
};

// The first questions of callers that there are not.
Counters run_flood(const Options& options) {
    Counters all;
    static Inbox inbox;
    const int fd = udp_socket(kServerBuffer);
    sockaddr_in server = loopback(options.port);
    Caller caller;
    std::vector<Buffer> questions(options.clients);
    MessageBatch batch;
    JsonLine("ready").print();
    Words words;
    while (!stop_requested() && words.take(all)) {
        const double began = now_seconds();
        for (Buffer& question : questions) {
            ++caller.id;
            question = handshake(caller, options, {});
            if (batch.is_full())
                batch.send(fd, all);
            batch.add(server, question.data(), question.size(), 0);
        }
        batch.send(fd, all);
        inbox.drain(fd, [&](int i) {
            all.bytes += inbox.messages[i].msg_len;
            ++all.packets;
        });
        sleep_seconds(0.001 - (now_seconds() - began));
    }
    return all;
}

// ---- bare sockets

Counters run_sink(const Options& options) {
    Counters all;
    static Inbox inbox;
    std::vector<std::uint32_t> next(options.clients);
    std::uint32_t acks = 0;
    const std::vector<int> sockets = join_floor(options.port, options.clients, kClientBuffer);
    Words words;
    while (!stop_requested() && words.take(all)) {
        const double began = now_seconds();
        for (std::size_t at = 0; at < sockets.size(); ++at) {
            const std::uint32_t before = next[at];
            inbox.drain(sockets[at], [&](int i) {
                const std::uint32_t sequence = get32(inbox.bytes[i]);
                if ((sequence & 0x80000000) != 0)
                    return;  // an ACKACK
                all.missing += sequence - next[at];
                next[at] = sequence + 1;
                all.bytes += inbox.messages[i].msg_len;
                ++all.packets;
            });
            if (!options.acks || next[at] == before)
                continue;
            std::uint8_t ack[kAckBytes];
            write_ack(ack, ++acks, next[at], 7);
            static_cast<void>(send(sockets[at], ack, sizeof ack, MSG_DONTWAIT));
        }
        sleep_seconds(0.01 - (now_seconds() - began));
    }
    return all;
}

// Only reads, as soon as something is there, or, with --tick-ms, what has come since the tick before; --clients sockets on following ports.
Counters run_read(const Options& options) {
    Counters all;
    static Inbox inbox;
    const auto count_batch = [&all](int taken) {
        for (int k = 0; k < taken; ++k) {
            all.bytes += inbox.messages[k].msg_len;
            ++all.packets;
        }
    };
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    std::vector<int> sockets;
    for (std::size_t i = 0; i < options.clients; ++i) {
        sockets.push_back(bound_socket(static_cast<std::uint16_t>(options.port + i), kServerBuffer));
        watch(epoll, sockets.back(), EPOLLIN, static_cast<std::uint32_t>(i), true);
    }
    JsonLine("listening").print();
    Words words;
    while (!stop_requested() && words.take(all)) {
        if (options.tick > 0) {
            const double now = now_seconds();
            sleep_seconds((std::floor(now / options.tick) + 1) * options.tick - now);
            for (const int fd : sockets)
                for (int taken = static_cast<int>(kBatch); taken == static_cast<int>(kBatch);)
                    count_batch(taken = inbox.receive(fd));
            continue;
        }
        epoll_event events[256];
        const int count = epoll_wait(epoll, events, 256, 50);
        for (int i = 0; i < count; ++i)
            count_batch(inbox.receive(sockets[events[i].data.u32]));
    }
    return all;
}

Counters run_echo(const Options& options) {
    const int fd = bound_socket(options.port, kServerBuffer);
    const auto answers = std::make_unique<Answers>(fd, Answers::Kind::echoes);
    JsonLine("listening").print();
    while (!stop_requested())
        answers->serve_until(now_seconds() + 0.05);
    return {};
}

// A transport stream to each of --clients ports; with --one-port that of all to one, each unit with bytes for a header in front.
Counters run_udp(const Options& options) {
    Counters all;
    std::ifstream file(options.ts, std::ios::binary);
    Buffer units(std::istreambuf_iterator<char>(file), {});
    units.resize(units.size() / kUnit * kUnit);
    if (units.empty())
        die("no transport stream in " + options.ts);
    std::vector<int> sockets;
    for (std::size_t i = 0; i < options.clients; ++i)
        sockets.push_back(connected_socket(static_cast<std::uint16_t>(options.port + (options.one_port ? 0 : i)), kClientBuffer));
    JsonLine("ready").add("clients", static_cast<std::uint64_t>(options.clients)).print();
    Words words;
    Pace pace(options.kbps);
    const std::size_t header = options.one_port ? kHeader : 0;
    std::uint8_t out[kHeader + kUnit] = {};
    while (!stop_requested() && words.take(all)) {
        const double began = now_seconds();
        const std::size_t due = std::min<std::size_t>(pace.due(), kBatch);
        for (std::size_t at = 0; at < sockets.size(); ++at) {
            const std::size_t begin = phase_of(at, sockets.size(), options.kbps, units.size() / kUnit) + pace.sent;
            for (std::size_t i = 0; i < due; ++i) {
                memcpy(out + header, &units[(begin + i) * kUnit % units.size()], kUnit);
                all.refused += send(sockets[at], out, header + kUnit, MSG_DONTWAIT) < 0 ? 1 : 0;
                all.bytes += header + kUnit;
                ++all.packets;
            }
        }
        pace.sent += due;
        sleep_seconds(0.01 - (now_seconds() - began));
    }
    return all;
}

Counters run(const Options& options) {
    if (options.mode == "send")
        return run_send(options);
    if (options.mode == "sink")
        return run_sink(options);
    if (options.mode == "read")
        return run_read(options);
    if (options.mode == "udp")
        return run_udp(options);
    if (options.mode == "flood")
        return run_flood(options);
    if (options.mode == "echo")
        return run_echo(options);
    if (options.mode == "play" || options.mode == "publish")
        return std::make_unique<Callers>(options)->run();
    die("usage: " + std::string(kUsage));
}

}  // namespace

int main(int argc, char** argv) {
    Args args(argc, argv, kUsage);
    Options options;
    options.mode = args.required("mode");
    options.port = static_cast<std::uint16_t>(args.count("port", 0));
    options.clients = args.count("clients", 1);
    options.kbps = args.number("kbps", 2000);
    options.encrypted = args.flag("encrypted");
    options.one_port = args.flag("one-port");
    options.each_port = args.flag("each-port");
    options.acks = args.flag("acks");
    options.tick = args.number("tick-ms", 0) / 1000;
    options.ts = args.text("ts", "");
    options.stream = args.text("stream", "live/bench");
    args.check_all_used();
    if (options.port == 0 || options.clients == 0)
        die("usage: " + std::string(kUsage));
    raise_file_limit(options.clients + 64);
    catch_stop_signals();
    const Counters counters = run(options);
    JsonLine("final").add("bytes", counters.bytes).add("packets", counters.packets).add("refused", counters.refused).print();
    return 0;
}
