// How much later a frame reaches the players than it was published. One process publishes a clip and plays it N times, so both
// ends read the same clock. Every video frame that is not a key frame carries a mark in its last bytes (a magic number and a
// sequence number), which nobody decodes. For each frame two delays are kept: that of the player who joined last, and that of
// the player who got it last. `--raw` speaks to the floor instead of a server. The program reads the players one after the other,
// so the second figure includes its own work.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "clip.hpp"
#include "common.hpp"
#include "rtmp_client.hpp"

namespace {

using namespace bench;

constexpr std::string_view kUsage =
    "latency --port PORT --clip FILE.flv [--host 127.0.0.1] [--app live] [--stream NAME] [--players 100] [--seconds 30] "
    "[--warmup 4] [--raw]";
constexpr std::uint8_t kMagic[8] = {0x7e, 0x11, 0x5a, 0x33, 0x19, 0x77, 0x6b, 0x2d};
constexpr std::size_t kMarkBytes = 12;  // The magic number and 32 bits of sequence.
constexpr std::size_t kMarkedFrameMin = 64;

// A blocking RTMP conversation up to its request, then a non-blocking socket. Without a request it is not RTMP: the floor's end.
int open_session(const std::string& host, std::uint16_t port, const std::vector<std::uint8_t>& request) {
    const int fd = start_connect(host, port, true);
    if (request.empty())
        return fd;
    const std::vector<std::uint8_t> hello = handshake_hello();
    std::size_t left = kHandshakeInBytes;
    std::size_t sent = 0;
    static std::uint8_t scratch[kHandshakeInBytes];
    const double limit = now_seconds() + 10;
    while (left > 0) {
        if (now_seconds() > limit)
            die("the server does not answer the handshake");
        if (sent == 0 && send(fd, hello.data(), hello.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(hello.size()))
            sent = hello.size();
        const ssize_t n = recv(fd, scratch, left, 0);
        if (n > 0)
            left -= static_cast<std::size_t>(n);
        else
            sleep_seconds(0.001);
    }
    if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
        die("cannot send the request");
    return fd;
}

struct Player {
    int fd = -1;
    std::vector<std::uint8_t> tail;  // What may be the first part of a mark.
    std::uint64_t received = 0;
    std::uint64_t acknowledged = 0;
};

struct Frame {
    double sent_at = 0;
    std::size_t arrivals = 0;
    double last_arrival = 0;
    double newest_player_arrival = 0;
};

class Meter {
public:
    explicit Meter(Args& args);
    int run();

private:
    void publish_due(double now);
    void read_player(std::size_t index);
    void find_marks(std::size_t index, double now);
    void wait(double until);
    int report() const;

    std::string host_, app_, stream_, url_;
    std::uint16_t port_ = 0;
    std::size_t player_count_ = 0;
    double seconds_ = 0, warmup_ = 0;
    bool raw_ = false;
    Clip clip_;
    int publisher_ = -1, epoll_ = -1;
    std::vector<Player> players_;
    std::vector<Frame> frames_;
    std::size_t next_ = 0;
    std::uint32_t round_ = 0;
    double round_start_ = 0;
};

Meter::Meter(Args& args)
    : host_(args.text("host", "127.0.0.1")),
      app_(args.text("app", "live")),
      stream_(args.text("stream", "latency")),
      port_(static_cast<std::uint16_t>(args.count("port", 0))),
      player_count_(args.count("players", 100)),
      seconds_(args.number("seconds", 30)),
      warmup_(args.number("warmup", 4)),
      raw_(args.flag("raw")),
      clip_(load_clip(args.required("clip"))) {
    args.check_all_used();
    if (port_ == 0 || player_count_ == 0)
        die("usage: " + std::string(kUsage));
    url_ = "rtmp://" + host_ + ":" + std::to_string(port_) + "/" + app_;
    catch_stop_signals();
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
}

void Meter::publish_due(double now) {
    while (now - round_start_ >= clip_.messages[next_].timestamp_ms / 1000.0) {
        ClipMessage& message = clip_.messages[next_];
        if (!(message.is_setup && round_ > 0)) {
            std::uint8_t header[kType0Bytes];
            write_type0_header(header, message, round_ * clip_.duration_ms + message.timestamp_ms);
            const bool is_marked =
                message.type == 9 && !message.is_setup && !message.is_key && message.chunks.size() >= kMarkedFrameMin;
            if (is_marked) {
                const auto number = static_cast<std::uint32_t>(frames_.size());
                std::uint8_t* mark = message.chunks.data() + message.chunks.size() - kMarkBytes;
                std::copy(kMagic, kMagic + sizeof kMagic, mark);
                std::memcpy(mark + sizeof kMagic, &number, sizeof number);
            }
            iovec parts[2] = {{header, kType0Bytes}, {message.chunks.data(), message.chunks.size()}};
            msghdr gathered{};
            gathered.msg_iov = parts;
            gathered.msg_iovlen = 2;
            const double sent_at = now_seconds();
            if (sendmsg(publisher_, &gathered, MSG_NOSIGNAL) != static_cast<ssize_t>(kType0Bytes + message.chunks.size()))
                die("the server stopped reading the publisher");
            if (is_marked)
                frames_.push_back(Frame{sent_at, 0, 0, 0});
        }
        if (++next_ == clip_.messages.size()) {
            next_ = 0;
            ++round_;
            round_start_ += clip_.duration_ms / 1000.0;
        }
    }
}

void Meter::find_marks(std::size_t index, double now) {
    std::vector<std::uint8_t>& bytes = players_[index].tail;
    auto from = bytes.begin();
    for (;;) {
        const auto found = std::search(from, bytes.end(), kMagic, kMagic + sizeof kMagic);
        if (bytes.end() - found < static_cast<std::ptrdiff_t>(kMarkBytes)) {
            from = std::min(found, bytes.end() - std::min<std::ptrdiff_t>(bytes.end() - from, kMarkBytes - 1));
            break;
        }
        std::uint32_t number = 0;
        std::memcpy(&number, &*found + sizeof kMagic, sizeof number);
        if (number < frames_.size()) {
            Frame& frame = frames_[number];
            ++frame.arrivals;
            frame.last_arrival = std::max(frame.last_arrival, now);
            if (index + 1 == players_.size())
                frame.newest_player_arrival = now;
        }
        from = found + static_cast<std::ptrdiff_t>(kMarkBytes);
    }
    bytes.erase(bytes.begin(), from);
}

void Meter::read_player(std::size_t index) {
    Player& player = players_[index];
    static std::uint8_t scratch[262144];
    const ssize_t n = recv(player.fd, scratch, sizeof scratch, 0);
    const double now = now_seconds();
    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0)
        die("the server closed a player");
    player.tail.insert(player.tail.end(), scratch, scratch + n);
    player.received += static_cast<std::uint64_t>(n);
    if (player.received - player.acknowledged > 1'000'000) {
        const auto bytes = acknowledgement(player.received + kHandshakeInBytes);
        (void)send(player.fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        player.acknowledged = player.received;
    }
    find_marks(index, now);
}

void Meter::wait(double until) {
    const double left = std::max(0.0, until - now_seconds());
    const timespec limit{static_cast<time_t>(left),
                         static_cast<long>((left - static_cast<double>(static_cast<time_t>(left))) * 1e9)};
    epoll_event events[256];
    const int n = epoll_pwait2(epoll_, events, 256, &limit, nullptr);
    for (int i = 0; i < n; ++i) {
        if (events[i].data.u32 < players_.size()) {
            read_player(events[i].data.u32);
            continue;
        }
        static char scratch[4096];
        if (recv(publisher_, scratch, sizeof scratch, MSG_DONTWAIT) == 0)
            die("the server closed the publisher");
    }
}

int Meter::report() const {
    std::vector<double> newest;
    std::vector<double> slowest;
    std::size_t incomplete = 0;
    for (const Frame& frame : frames_) {
        if (frame.sent_at == 0)
            continue;
        if (frame.arrivals < players_.size()) {
            ++incomplete;
            continue;
        }
        newest.push_back((frame.newest_player_arrival - frame.sent_at) * 1000);
        slowest.push_back((frame.last_arrival - frame.sent_at) * 1000);
    }
    JsonLine("final")
        .add("players", static_cast<std::uint64_t>(players_.size()))
        .add("frames", static_cast<std::uint64_t>(newest.size()))
        .add("frames_incomplete", static_cast<std::uint64_t>(incomplete))
        .add("newest_ms_p50", quantile(newest, 0.5))
        .add("newest_ms_p99", quantile(newest, 0.99))
        .add("slowest_ms_p50", quantile(slowest, 0.5))
        .add("slowest_ms_p99", quantile(slowest, 0.99))
        .add("slowest_ms_max", quantile(slowest, 1))
        .print();
    return newest.empty() || incomplete > 0 ? 1 : 0;
}

int Meter::run() {
    publisher_ = open_session(host_, port_, raw_ ? std::vector<std::uint8_t>() : publish_request(url_, app_, stream_));
    watch(epoll_, publisher_, EPOLLIN, 0xFFFFFFFF, true);
    sleep_seconds(0.3);
    const double start = round_start_ = now_seconds();
    bool has_players = false;
    std::size_t first_counted = 0;
    while (!stop_requested() && now_seconds() - start < warmup_ + seconds_) {
        publish_due(now_seconds());
        if (!has_players && now_seconds() - start > warmup_ / 2) {
            has_players = true;
            const std::vector<std::uint8_t> request = raw_ ? std::vector<std::uint8_t>() : play_request(url_, app_, stream_);
            for (std::size_t i = 0; i < player_count_; ++i) {
                players_.push_back({open_session(host_, port_, request), {}, 0, 0});
                watch(epoll_, players_.back().fd, EPOLLIN, static_cast<std::uint32_t>(i), true);
                publish_due(now_seconds());
            }
        }
        if (has_players && first_counted == 0 && now_seconds() - start > warmup_)
            first_counted = frames_.size();
        wait(round_start_ + clip_.messages[next_].timestamp_ms / 1000.0);
    }
    const double drained = now_seconds() + 1;
    while (now_seconds() < drained)
        wait(drained);
    // Frames from before everybody had joined and caught up do not count.
    for (std::size_t i = 0; i < std::min(first_counted, frames_.size()); ++i)
        frames_[i].sent_at = 0;
    return report();
}

}  // namespace

int main(int argc, char** argv) {
    Args args(argc, argv, kUsage);
    return Meter(args).run();
}
