// N players of one stream that throw the media away as cheaply as the kernel allows (MSG_TRUNC: nothing is copied), so that
// one core can watch ten thousand of them. By RTMP, by HTTP-FLV, or raw (connect and read: the floor's clients). The first
// few RTMP players are witnesses: they take the chunk stream apart and count messages, payload and times that went back.
//
// Driven over standard input, one word a line: `mark` opens a measuring window, `report` prints it, `quit` prints the final
// counts and ends. With --seconds it does this by itself. Players that start before the publisher all see the same bytes, so
// with --aligned their positions are compared: how long ago the leading player was where the last one is now.
// Exit status: 0 when every player is still connected at the end, or was until its HTTP stream ended, else 1.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <memory>

#include "common.hpp"
#include "rtmp_client.hpp"

namespace {

using namespace bench;

constexpr std::string_view kUsage =
    "rtmp_load --mode rtmp|flv|raw --port PORT --clients N [--host 127.0.0.1] [--app live] [--stream NAME] [--ramp PER_SECOND] "
    "[--witnesses 1] [--aligned] [--seconds S]";
constexpr std::uint64_t kAcknowledgeEvery = 1'000'000;
constexpr std::uint32_t kStdinId = 0xFFFFFFFF;
constexpr double kTickSeconds = 0.005;

enum class State { connecting, handshake, open, ended, failed };

struct Player {
    int fd = -1;
    State state = State::connecting;
    std::size_t handshake_left = 0;
    std::uint64_t bytes = 0;  // After the handshake.
    std::uint64_t at_mark = 0;
    std::uint64_t acknowledged = 0;
    std::unique_ptr<MediaCounter> witness;
};

class Load {
public:
    explicit Load(Args& args);
    int run();

private:
    void start_due_players(double now);
    void on_connected(Player& player, std::uint32_t id);
    void on_readable(Player& player);
    ssize_t read_media(Player& player);
    void on_handshake_bytes(Player& player);
    void acknowledge(Player& player);
    void fail(Player& player, const char* why);
    void end(Player& player);
    void on_stdin();
    void report(std::string_view event);
    void track_lag(double now);
    void step(double now);

    std::string mode_, host_, app_, stream_;
    std::uint16_t port_ = 0;
    double ramp_ = 0;
    double seconds_ = 0;
    bool aligned_ = false;
    std::vector<Player> players_;
    std::vector<std::uint8_t> hello_, request_;
    int epoll_ = -1;
    double started_at_ = 0;
    double marked_at_ = 0;
    std::size_t started_ = 0, open_ = 0, ended_ = 0, failed_ = 0;
    bool is_ready_ = false, quit_ = false;
    std::uint64_t leader_ = 0;
    std::deque<std::pair<double, std::uint64_t>> leader_history_;
    double next_lag_check_ = 0;
    std::vector<double> lags_ms_;
    double lag_ms_max_ = 0;
};

Load::Load(Args& args)
    : mode_(args.required("mode")),
      host_(args.text("host", "127.0.0.1")),
      app_(args.text("app", "live")),
      stream_(args.text("stream", "bench")),
      port_(static_cast<std::uint16_t>(args.count("port", 0))),
      ramp_(args.number("ramp", 2000)),
      seconds_(args.number("seconds", 0)),
      aligned_(args.flag("aligned")),
      players_(args.count("clients", 1)) {
    const std::size_t witnesses = args.count("witnesses", 1);
    args.check_all_used();
    if ((mode_ != "rtmp" && mode_ != "flv" && mode_ != "raw") || port_ == 0 || players_.empty() || ramp_ <= 0)
        die("usage: " + std::string(kUsage));
    const std::string authority = host_ + ":" + std::to_string(port_);
    if (mode_ == "rtmp") {
        hello_ = handshake_hello();
        request_ = play_request("rtmp://" + authority + "/" + app_, app_, stream_);
        for (std::size_t i = 0; i < std::min(witnesses, players_.size()); ++i)
            players_[i].witness = std::make_unique<MediaCounter>();
    } else if (mode_ == "flv") {
        const std::string get = "GET /" + app_ + "/" + stream_ + ".flv HTTP/1.1\r\nHost: " + authority + "\r\n\r\n";
        request_.assign(get.begin(), get.end());
    }
    raise_file_limit(players_.size() + 64);
    catch_stop_signals();
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
}

void Load::start_due_players(double now) {
    const auto due = std::min(players_.size(), static_cast<std::size_t>((now - started_at_) * ramp_) + 1);
    for (; started_ < due; ++started_) {
        players_[started_].fd = start_connect(host_, port_, true);
        watch(epoll_, players_[started_].fd, EPOLLOUT, static_cast<std::uint32_t>(started_), true);
    }
}

void Load::fail(Player& player, const char* why) {
    if (failed_ < 3)
        std::fprintf(stderr, "player %zu: %s (%s)\n", static_cast<std::size_t>(&player - players_.data()), why,
                     std::strerror(errno));
    open_ -= player.state == State::open ? 1u : 0u;
    close(player.fd);
    player.state = State::failed;
    ++failed_;
}

// An HTTP stream ends with its publisher, and the connection with it.
void Load::end(Player& player) {
    close(player.fd);
    player.state = State::ended;
    --open_;
    ++ended_;
}

void Load::on_connected(Player& player, std::uint32_t id) {
    errno = connect_error(player.fd);
    if (errno != 0)
        return fail(player, "not connected");
    const std::vector<std::uint8_t>& first = mode_ == "rtmp" ? hello_ : request_;
    if (!first.empty() && send(player.fd, first.data(), first.size(), 0) != static_cast<ssize_t>(first.size()))
        return fail(player, "cannot send");
    player.state = mode_ == "rtmp" ? State::handshake : State::open;
    player.handshake_left = kHandshakeInBytes;
    open_ += player.state == State::open ? 1u : 0u;
    watch(epoll_, player.fd, EPOLLIN, id, false);
}

void Load::on_handshake_bytes(Player& player) {
    static std::uint8_t scratch[kHandshakeInBytes];
    const ssize_t n = recv(player.fd, scratch, player.handshake_left, 0);
    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0)
        return fail(player, "closed during the handshake");
    player.handshake_left -= static_cast<std::size_t>(n);
    if (player.handshake_left > 0)
        return;
    if (send(player.fd, request_.data(), request_.size(), 0) != static_cast<ssize_t>(request_.size()))
        return fail(player, "cannot send");
    player.state = State::open;
    ++open_;
}

ssize_t Load::read_media(Player& player) {
    if (!player.witness)
        return recv(player.fd, nullptr, 1 << 20, MSG_TRUNC);
    static std::uint8_t scratch[262144];
    const ssize_t n = recv(player.fd, scratch, sizeof scratch, 0);
    if (n > 0 && !player.witness->feed(scratch, static_cast<std::size_t>(n))) {
        fail(player, "not a chunk stream");
        errno = EAGAIN;
        return -1;
    }
    return n;
}

void Load::acknowledge(Player& player) {
    if (mode_ != "rtmp" || player.bytes - player.acknowledged < kAcknowledgeEvery)
        return;
    const auto bytes = acknowledgement(player.bytes + kHandshakeInBytes);
    (void)send(player.fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
    player.acknowledged = player.bytes;
}

void Load::on_readable(Player& player) {
    if (player.state == State::handshake)
        return on_handshake_bytes(player);
    const ssize_t n = read_media(player);
    if (n > 0) {
        player.bytes += static_cast<std::uint64_t>(n);
        leader_ = std::max(leader_, player.bytes);
        acknowledge(player);
    } else if (n == 0 && mode_ == "flv" && is_ready_) {
        end(player);
    } else if (n == 0 || errno != EAGAIN) {
        fail(player, "closed by the server");
    }
}

// How long ago the leading player was where each player is now. It compares positions, so it needs players that all began
// with the same byte; the resolution is one tick.
void Load::track_lag(double now) {
    if (!aligned_ || !is_ready_ || leader_ == 0)
        return;
    if (leader_history_.empty() || leader_history_.back().second != leader_)
        leader_history_.emplace_back(now, leader_);
    while (leader_history_.size() > 2 && leader_history_.front().first < now - 10)
        leader_history_.pop_front();
    if (now < next_lag_check_)
        return;
    next_lag_check_ = now + 0.25;
    for (const Player& player : players_) {
        if (player.state != State::open)
            continue;
        // A player behind the whole history counts as ten seconds late.
        const auto later = std::upper_bound(leader_history_.begin(), leader_history_.end(), player.bytes,
                                            [](std::uint64_t bytes, const auto& entry) { return bytes < entry.second; });
        const double lag_ms = later == leader_history_.end() ? 0 : (now - later->first) * 1000;
        lag_ms_max_ = std::max(lag_ms_max_, lag_ms);
        if ((&player - players_.data()) % 16 == 0)
            lags_ms_.push_back(lag_ms);
    }
}

void Load::report(std::string_view event) {
    const double seconds = now_seconds() - marked_at_;
    std::vector<double> kbps;
    std::vector<double> totals;
    std::uint64_t window = 0;
    std::uint64_t total = 0;
    for (const Player& player : players_) {
        const std::uint64_t bytes = player.bytes - player.at_mark;
        window += bytes;
        total += player.bytes;
        kbps.push_back(static_cast<double>(bytes) * 8e-3 / seconds);
        totals.push_back(static_cast<double>(player.bytes));
    }
    JsonLine line(event);
    line.add("seconds", seconds).add("clients", static_cast<std::uint64_t>(players_.size()));
    line.add("open", static_cast<std::uint64_t>(open_)).add("failed", static_cast<std::uint64_t>(failed_));
    line.add("window_bytes", window).add("total_bytes", total);
    line.add("kbps_min", quantile(kbps, 0)).add("kbps_p1", quantile(kbps, 0.01)).add("kbps_p50", quantile(kbps, 0.5));
    line.add("kbps_p99", quantile(kbps, 0.99)).add("kbps_max", quantile(kbps, 1));
    line.add("bytes_min", static_cast<std::uint64_t>(quantile(totals, 0)));
    line.add("bytes_max", static_cast<std::uint64_t>(quantile(totals, 1)));
    if (aligned_) {
        line.add("lag_ms_p50", quantile(lags_ms_, 0.5))
            .add("lag_ms_p99", quantile(lags_ms_, 0.99))
            .add("lag_ms_max", lag_ms_max_);
    }
    if (const MediaCounter* witness = players_[0].witness.get()) {
        line.add("witness_bytes", players_[0].bytes).add("witness_audio", witness->audio_messages());
        line.add("witness_video", witness->video_messages()).add("witness_media_bytes", witness->media_bytes());
        line.add("witness_times_went_back", witness->times_went_back());
    }
    line.print();
}

void Load::on_stdin() {
    static std::string pending;
    char block[256];
    const ssize_t n = read(STDIN_FILENO, block, sizeof block);
    if (n <= 0) {
        epoll_ctl(epoll_, EPOLL_CTL_DEL, STDIN_FILENO, nullptr);
        return;
    }
    pending.append(block, static_cast<std::size_t>(n));
    for (std::size_t end = 0; (end = pending.find('\n')) != std::string::npos; pending.erase(0, end + 1)) {
        const std::string word = pending.substr(0, end);
        if (word == "mark") {
            marked_at_ = now_seconds();
            lags_ms_.clear();
            lag_ms_max_ = 0;
            for (Player& player : players_)
                player.at_mark = player.bytes;
        } else if (word == "report") {
            report("report");
        } else if (word == "quit") {
            quit_ = true;
        }
    }
}

void Load::step(double now) {
    start_due_players(now);
    static epoll_event events[1024];
    const int n = epoll_wait(epoll_, events, 1024, 0);
    for (int i = 0; i < n; ++i) {
        const std::uint32_t id = events[i].data.u32;
        if (id == kStdinId) {
            on_stdin();
        } else if (players_[id].state == State::connecting) {
            on_connected(players_[id], id);
        } else if (players_[id].state == State::handshake || players_[id].state == State::open) {
            on_readable(players_[id]);
        }
    }
    if (!is_ready_ && started_ == players_.size() && open_ + failed_ == players_.size()) {
        is_ready_ = true;
        marked_at_ = now;
        JsonLine("ready")
            .add("open", static_cast<std::uint64_t>(open_))
            .add("failed", static_cast<std::uint64_t>(failed_))
            .print();
    }
    track_lag(now);
    if (n < 1024)
        sleep_seconds(kTickSeconds);
}

int Load::run() {
    if (seconds_ <= 0)
        watch(epoll_, STDIN_FILENO, EPOLLIN, kStdinId, true);
    started_at_ = marked_at_ = now_seconds();
    while (!quit_ && !stop_requested()) {
        const double now = now_seconds();
        step(now);
        quit_ = quit_ || (seconds_ > 0 && is_ready_ && now - marked_at_ >= seconds_);
    }
    report("final");
    return failed_ == 0 && open_ + ended_ == players_.size() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    Args args(argc, argv, kUsage);
    return Load(args).run();
}
