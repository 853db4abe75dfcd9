// The floor's other end, as bare as the floor: N sockets that throw away what it sends (MSG_TRUNC: nothing is copied), or N that
// send it a clip, one message a system call at its time. No protocol; players and publishers of a server are the programs of
// src/bench. With --stamp the publisher writes the time into the last bytes of every frame, and the players look for it: the
// floor of the added delay. Words on standard input as of those programs (--driven): mark, report, quit.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "clip.hpp"
#include "common.hpp"

namespace {

using namespace bench;

constexpr std::string_view kUsage =
    "floor_load --mode play|publish --port PORT [--clients N] [--ramp PER_SECOND] [--clip FILE.flv] [--stamp]";
constexpr std::uint8_t kMagic[8] = {0x7e, 0x11, 0x5a, 0x33, 0x19, 0x77, 0x6b, 0x2d};
constexpr std::size_t kStampBytes = sizeof kMagic + sizeof(std::uint64_t);  // And nanoseconds of the clock that all read.
constexpr double kPlayTick = 0.005;
constexpr double kPublishTick = 0.001;

// What both kinds of clients share: sockets that are opened at a ramp, and the words.
class Clients {
public:
    Clients(std::uint16_t port, std::size_t count, double ramp, bool is_publisher)
        : port_(port), count_(count), ramp_(ramp), is_publisher_(is_publisher), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
        fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
        started_at_ = marked_at_ = now_seconds();
    }
    virtual ~Clients() = default;

    int run() {
        while (!stop_requested() && take_words()) {
            open_due(now_seconds());
            turn();
        }
        say("final");
        return 0;
    }

protected:
    virtual void turn() = 0;
    virtual void on_open(std::size_t) {}
    virtual void on_mark() {}
    virtual void add_figures(JsonLine&) {}

    std::uint16_t port_;
    std::size_t count_;
    double ramp_;
    bool is_publisher_;
    int epoll_;
    std::vector<int> sockets_;
    double started_at_ = 0, marked_at_ = 0;
    std::uint64_t bytes_ = 0, bytes_at_mark_ = 0, failed_ = 0;

private:
    void open_due(double now) {
        if (sockets_.size() == count_)
            return;
        const auto due = std::min(count_, static_cast<std::size_t>((now - started_at_) * ramp_) + 1);
        while (sockets_.size() < due) {
            sockets_.push_back(start_connect("127.0.0.1", port_, !is_publisher_));
            if (!is_publisher_)
                watch(epoll_, sockets_.back(), EPOLLIN | EPOLLET, static_cast<std::uint32_t>(sockets_.size() - 1), true);
            on_open(sockets_.size() - 1);
        }
        if (sockets_.size() == count_)
            say("ready");
    }

    void say(std::string_view event) {
        JsonLine line(event);
        line.add("seconds", now_seconds() - marked_at_).add("window_bytes", bytes_ - bytes_at_mark_).add("failed", failed_);
        add_figures(line);
        line.print();
    }

    // False when it says quit, or has gone.
    bool take_words() {
        char text[256];
        const ssize_t count = read(STDIN_FILENO, text, sizeof text);
        const std::string_view said(text, count > 0 ? static_cast<std::size_t>(count) : 0);
        if (said.find("report") != said.npos)
            say("report");
        if (said.find("mark") != said.npos) {
            marked_at_ = now_seconds();
            bytes_at_mark_ = bytes_;
            on_mark();
        }
        return count != 0 && said.find("quit") == said.npos;
    }
};

class Players : public Clients {
public:
    Players(std::uint16_t port, std::size_t count, double ramp, bool stamp)
        : Clients(port, count, ramp, false), looks_(stamp), tails_(count) {}

private:
    // What one frame's stamp has told.
    struct Frame {
        std::size_t arrivals = 0;
        double newest_ms = 0;
        double slowest_ms = 0;
    };

    void turn() override {
        epoll_event events[1024];
        // Who looks for stamps wakes at once, but for words.
        const int count = epoll_wait(epoll_, events, 1024, looks_ ? 5 : 0);
        for (int i = 0; i < count; ++i)
            receive(events[i].data.u32);
        if (!looks_ && count < 1024)
            sleep_seconds(kPlayTick);
    }

    void receive(std::uint32_t index) {
        static std::uint8_t scratch[262144];
        const std::size_t room = looks_ ? sizeof scratch : std::size_t{16} << 20;
        for (ssize_t n = static_cast<ssize_t>(room); n == static_cast<ssize_t>(room);) {
            n = recv(sockets_[index], looks_ ? scratch : nullptr, room, looks_ ? 0 : MSG_TRUNC);
            if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINPROGRESS && errno != ENOTCONN)) {
                epoll_ctl(epoll_, EPOLL_CTL_DEL, sockets_[index], nullptr);
                ++failed_;
            }
            bytes_ += n > 0 ? static_cast<std::uint64_t>(n) : 0;
            if (n > 0 && looks_)
                find_stamps(index, scratch, static_cast<std::size_t>(n));
        }
    }

    void find_stamps(std::uint32_t index, const std::uint8_t* data, std::size_t size) {
        const double now = now_seconds();
        std::vector<std::uint8_t>& bytes = tails_[index];
        bytes.insert(bytes.end(), data, data + size);
        auto from = bytes.begin();
        for (;;) {
            const auto found = std::search(from, bytes.end(), kMagic, kMagic + sizeof kMagic);
            if (bytes.end() - found < static_cast<std::ptrdiff_t>(kStampBytes)) {
                from = std::min(found, bytes.end() - std::min<std::ptrdiff_t>(bytes.end() - from, kStampBytes - 1));
                break;
            }
            std::uint64_t sent_ns = 0;
            std::memcpy(&sent_ns, &*found + sizeof kMagic, sizeof sent_ns);
            const double sent = static_cast<double>(sent_ns) * 1e-9;
            if (sent >= marked_at_) {
                Frame& frame = frames_[sent_ns];
                ++frame.arrivals;
                frame.slowest_ms = std::max(frame.slowest_ms, (now - sent) * 1000);
                if (index + 1 == count_)
                    frame.newest_ms = (now - sent) * 1000;
            }
            from = found + static_cast<std::ptrdiff_t>(kStampBytes);
        }
        bytes.erase(bytes.begin(), from);
    }

    void on_mark() override { frames_.clear(); }

    void add_figures(JsonLine& line) override {
        if (!looks_)
            return;
        std::vector<double> newest, slowest;
        for (const auto& [sent, frame] : frames_) {
            if (frame.arrivals < count_)
                continue;
            newest.push_back(frame.newest_ms);
            slowest.push_back(frame.slowest_ms);
        }
        line.add("frames", static_cast<std::uint64_t>(newest.size()));
        line.add("frames_incomplete", static_cast<std::uint64_t>(frames_.size() - newest.size()));
        line.add("newest_ms_p50", quantile(newest, 0.5)).add("newest_ms_p99", quantile(newest, 0.99));
        line.add("slowest_ms_p50", quantile(slowest, 0.5)).add("slowest_ms_p99", quantile(slowest, 0.99));
        line.add("slowest_ms_max", quantile(slowest, 1));
    }

    bool looks_;
    std::vector<std::vector<std::uint8_t>> tails_;  // What may be the first part of a stamp.
    std::map<std::uint64_t, Frame> frames_;
};

class Publishers : public Clients {
public:
    Publishers(std::uint16_t port, std::size_t count, double ramp, Clip clip, bool stamp)
        : Clients(port, count, ramp, true), clip_(std::move(clip)), stamps_it_(stamp), states_(count) {}

private:
    struct State {
        double since = 0;  // When its current round began.
        std::size_t next = 0;
        std::uint32_t round = 0;
        std::size_t sent_of_message = 0;
        bool has_failed = false;
    };

    void on_open(std::size_t index) override { states_[index].since = now_seconds(); }
    void on_mark() override {
        late_s_max_ = 0;
        stamps_ = 0;
    }

    void turn() override {
        const double now = now_seconds();
        for (std::size_t i = 0; i < sockets_.size(); ++i)
            send_due(i, now);
        sleep_seconds(kPublishTick);
    }

    void send_due(std::size_t index, double now) {
        State& state = states_[index];
        while (!state.has_failed && now - state.since >= clip_.messages[state.next].timestamp_ms / 1000.0) {
            ClipMessage& message = clip_.messages[state.next];
            if (state.sent_of_message == 0)
                late_s_max_ = std::max(late_s_max_, now - state.since - message.timestamp_ms / 1000.0);
            if (!(message.is_setup && state.round > 0) && !send_message(index, message))
                return;
            if (++state.next == clip_.messages.size()) {
                state.next = 0;
                ++state.round;
                state.since += clip_.duration_ms / 1000.0;
            }
        }
    }

    // False when the rest has to wait.
    bool send_message(std::size_t index, ClipMessage& message) {
        State& state = states_[index];
        if (stamps_it_ && state.sent_of_message == 0 && message.type == 9 && !message.is_setup &&
            message.chunks.size() >= kStampBytes) {
            const auto sent_ns = static_cast<std::uint64_t>(now_seconds() * 1e9);
            std::uint8_t* const stamp = message.chunks.data() + message.chunks.size() - kStampBytes;
            std::copy(kMagic, kMagic + sizeof kMagic, stamp);
            std::memcpy(stamp + sizeof kMagic, &sent_ns, sizeof sent_ns);
            ++stamps_;
        }
        std::uint8_t header[kType0Bytes];
        write_type0_header(header, message, state.round * clip_.duration_ms + message.timestamp_ms);
        const std::size_t header_done = std::min(state.sent_of_message, kType0Bytes);
        const std::size_t body_done = state.sent_of_message - header_done;
        iovec parts[2] = {{header + header_done, kType0Bytes - header_done},
                          {message.chunks.data() + body_done, message.chunks.size() - body_done}};
        msghdr gathered{};
        gathered.msg_iov = parts;
        gathered.msg_iovlen = 2;
        const ssize_t n = sendmsg(sockets_[index], &gathered, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN && errno != ENOTCONN) {
            state.has_failed = true;
            ++failed_;
        }
        state.sent_of_message += n > 0 ? static_cast<std::size_t>(n) : 0;
        bytes_ += n > 0 ? static_cast<std::uint64_t>(n) : 0;
        if (state.sent_of_message < kType0Bytes + message.chunks.size())
            return false;
        state.sent_of_message = 0;
        return true;
    }

    void add_figures(JsonLine& line) override { line.add("late_ms_max", late_s_max_ * 1000).add("stamps", stamps_); }

    Clip clip_;
    bool stamps_it_;
    std::vector<State> states_;
    double late_s_max_ = 0;
    std::uint64_t stamps_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    Args args(argc, argv, kUsage);
    const std::string mode = args.required("mode");
    const auto port = static_cast<std::uint16_t>(args.count("port", 0));
    const std::size_t clients = args.count("clients", 1);
    const double ramp = args.number("ramp", 2000);
    const std::string clip_path = args.text("clip", "");
    const bool stamp = args.flag("stamp");
    args.check_all_used();
    const bool is_publisher = mode == "publish";
    if ((!is_publisher && mode != "play") || port == 0 || clients == 0 || ramp <= 0 || is_publisher == clip_path.empty())
        die("usage: " + std::string(kUsage));
    raise_file_limit(clients + 64);
    catch_stop_signals();
    if (is_publisher)
        return Publishers(port, clients, ramp, load_clip(clip_path), stamp).run();
    return Players(port, clients, ramp, stamp).run();
}
