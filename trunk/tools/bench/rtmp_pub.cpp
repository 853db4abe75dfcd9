// N publishers of one FLV: each sends its messages at their times, one message per system call as an encoder does, over and
// over until SIGTERM or for --seconds of media. Raw mode sends the same bytes without a handshake: the floor's publishers.
// A publisher starts its media when the server has said NetStream.Publish.Start, and ends with FCUnpublish, deleteStream and an
// orderly close, so that what was sent is also read. The words `mark` and `report` on standard input open and print a measuring
// window: what was sent in it, and how late the latest message was. Exit status: 0 when no publisher was refused or cut off,
// else 1.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "clip.hpp"
#include "common.hpp"
#include "rtmp_client.hpp"

namespace {

using namespace bench;

constexpr std::string_view kUsage =
    "rtmp_pub --port PORT --clip FILE.flv [--host 127.0.0.1] [--app live] [--stream NAME] [--clients N] [--ramp PER_SECOND] "
    "[--seconds S] [--raw]     (one publisher uses NAME itself, several use NAME0, NAME1, ...)";
constexpr std::string_view kStartCode = "NetStream.Publish.Start";
constexpr double kTickSeconds = 0.002;
constexpr double kStartLimitSeconds = 15;
constexpr std::uint32_t kStdinId = 0xFFFFFFFF;

enum class State { connecting, handshake, asking, publishing, done, failed };

struct Publisher {
    int fd = -1;
    State state = State::connecting;
    std::size_t handshake_left = kHandshakeInBytes;
    double since = 0;  // When it connected, later when its current round began.
    std::size_t next = 0;
    std::uint32_t round = 0;
    std::size_t sent_of_message = 0;
    std::string heard;
};

class Publishers {
public:
    explicit Publishers(Args& args);
    int run();

private:
    std::string name(std::size_t index) const;
    void start_due(double now);
    void on_connected(Publisher& publisher, std::uint32_t id, double now);
    void on_readable(Publisher& publisher, double now);
    void on_answer(Publisher& publisher, const char* bytes, std::size_t count, double now);
    void fail(Publisher& publisher, const char* why);
    void send_due_messages(Publisher& publisher, double now);
    bool send_message(Publisher& publisher, const ClipMessage& message);
    void finish(Publisher& publisher);
    void announce_ready();
    void on_stdin();
    void step(double now);

    std::string host_, app_, stream_;
    std::uint16_t port_ = 0;
    double ramp_ = 0, seconds_ = 0;
    bool raw_ = false;
    Clip clip_;
    std::vector<Publisher> publishers_;
    int epoll_ = -1;
    double started_at_ = 0;
    std::size_t started_ = 0, publishing_ = 0, failed_ = 0, done_ = 0;
    bool is_ready_ = false;
    std::uint64_t messages_ = 0, bytes_ = 0, media_bytes_ = 0, media_messages_ = 0, blocked_ = 0;
    std::uint64_t bytes_at_mark_ = 0, messages_at_mark_ = 0;
    double marked_at_ = 0, late_s_max_ = 0;
};

Publishers::Publishers(Args& args)
    : host_(args.text("host", "127.0.0.1")),
      app_(args.text("app", "live")),
      stream_(args.text("stream", "bench")),
      port_(static_cast<std::uint16_t>(args.count("port", 0))),
      ramp_(args.number("ramp", 200)),
      seconds_(args.number("seconds", 0)),
      raw_(args.flag("raw")),
      clip_(load_clip(args.required("clip"))),
      publishers_(args.count("clients", 1)) {
    args.check_all_used();
    if (port_ == 0 || publishers_.empty() || ramp_ <= 0)
        die("usage: " + std::string(kUsage));
    raise_file_limit(publishers_.size() + 64);
    catch_stop_signals();
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
}

std::string Publishers::name(std::size_t index) const {
    return publishers_.size() == 1 ? stream_ : stream_ + std::to_string(index);
}

void Publishers::start_due(double now) {
    const auto due = std::min(publishers_.size(), static_cast<std::size_t>((now - started_at_) * ramp_) + 1);
    for (; started_ < due; ++started_) {
        publishers_[started_].fd = start_connect(host_, port_, false);
        publishers_[started_].since = now;
        watch(epoll_, publishers_[started_].fd, EPOLLOUT, static_cast<std::uint32_t>(started_), true);
    }
}

void Publishers::fail(Publisher& publisher, const char* why) {
    if (failed_ < 3)
        std::fprintf(stderr, "publisher %s: %s (%s)\n", name(static_cast<std::size_t>(&publisher - publishers_.data())).c_str(),
                     why, std::strerror(errno));
    publishing_ -= publisher.state == State::publishing ? 1u : 0u;
    close(publisher.fd);
    publisher.state = State::failed;
    ++failed_;
}

void Publishers::on_connected(Publisher& publisher, std::uint32_t id, double now) {
    errno = connect_error(publisher.fd);
    if (errno != 0)
        return fail(publisher, "not connected");
    watch(epoll_, publisher.fd, EPOLLIN, id, false);
    publisher.since = now;
    if (raw_) {
        publisher.state = State::publishing;
        ++publishing_;
        return;
    }
    static const std::vector<std::uint8_t> hello = handshake_hello();
    if (send(publisher.fd, hello.data(), hello.size(), 0) != static_cast<ssize_t>(hello.size()))
        return fail(publisher, "cannot send");
    publisher.state = State::handshake;
}

void Publishers::on_answer(Publisher& publisher, const char* bytes, std::size_t count, double now) {
    if (publisher.state != State::asking)
        return;
    publisher.heard.append(bytes, count);
    if (publisher.heard.find(kStartCode) == std::string::npos)
        return;
    publisher.heard = std::string();
    publisher.state = State::publishing;
    publisher.since = now;
    ++publishing_;
}

void Publishers::on_readable(Publisher& publisher, double now) {
    static char scratch[65536];
    const bool in_handshake = publisher.state == State::handshake;
    const ssize_t n = recv(publisher.fd, scratch, in_handshake ? publisher.handshake_left : sizeof scratch, 0);
    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0)
        return fail(publisher, publisher.heard.find("error") == std::string::npos ? "closed by the server" : "refused");
    if (!in_handshake)
        return on_answer(publisher, scratch, static_cast<std::size_t>(n), now);
    publisher.handshake_left -= static_cast<std::size_t>(n);
    if (publisher.handshake_left > 0)
        return;
    const auto index = static_cast<std::size_t>(&publisher - publishers_.data());
    const auto request = publish_request("rtmp://" + host_ + ":" + std::to_string(port_) + "/" + app_, app_, name(index));
    if (send(publisher.fd, request.data(), request.size(), 0) != static_cast<ssize_t>(request.size()))
        return fail(publisher, "cannot send");
    publisher.state = State::asking;
}

// Returns false when the socket is full and the rest of the message has to wait.
bool Publishers::send_message(Publisher& publisher, const ClipMessage& message) {
    std::array<std::uint8_t, kType0Bytes> header{};
    write_type0_header(header.data(), message, publisher.round * clip_.duration_ms + message.timestamp_ms);
    const std::size_t total = kType0Bytes + message.chunks.size();
    iovec parts[2];
    const std::size_t done = publisher.sent_of_message;
    const std::size_t header_done = std::min(done, kType0Bytes);
    parts[0] = {header.data() + header_done, kType0Bytes - header_done};
    parts[1] = {const_cast<std::uint8_t*>(message.chunks.data()) + (done - header_done),
                message.chunks.size() - (done - header_done)};
    msghdr gathered{};
    gathered.msg_iov = parts;
    gathered.msg_iovlen = 2;
    const ssize_t n = sendmsg(publisher.fd, &gathered, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN) {
        fail(publisher, "cannot send");
        return false;
    }
    publisher.sent_of_message += n > 0 ? static_cast<std::size_t>(n) : 0;
    bytes_ += n > 0 ? static_cast<std::uint64_t>(n) : 0;
    if (publisher.sent_of_message < total) {
        ++blocked_;
        return false;
    }
    publisher.sent_of_message = 0;
    ++messages_;
    if (message.type != 18) {
        ++media_messages_;
        media_bytes_ += message.payload_bytes;
    }
    return true;
}

void Publishers::send_due_messages(Publisher& publisher, double now) {
    while (publisher.state == State::publishing) {
        const ClipMessage& message = clip_.messages[publisher.next];
        if (now - publisher.since < message.timestamp_ms / 1000.0)
            return;
        const double media_s = (publisher.round * static_cast<double>(clip_.duration_ms) + message.timestamp_ms) / 1000.0;
        const bool is_over = stop_requested() || (seconds_ > 0 && media_s > seconds_);
        if (is_over && publisher.sent_of_message == 0)
            return finish(publisher);
        if (publisher.sent_of_message == 0)
            late_s_max_ = std::max(late_s_max_, now - publisher.since - message.timestamp_ms / 1000.0);
        if (!(message.is_setup && publisher.round > 0) && !send_message(publisher, message))
            return;
        if (++publisher.next == clip_.messages.size()) {
            publisher.next = 0;
            ++publisher.round;
            publisher.since += clip_.duration_ms / 1000.0;
        }
    }
}

void Publishers::finish(Publisher& publisher) {
    if (!raw_) {
        const auto goodbye = unpublish_request(name(static_cast<std::size_t>(&publisher - publishers_.data())));
        (void)send(publisher.fd, goodbye.data(), goodbye.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    static char scratch[65536];
    while (recv(publisher.fd, scratch, sizeof scratch, MSG_DONTWAIT) > 0) {
        // An unread answer would turn the close into a reset, and a reset may cost the server the last messages.
    }
    shutdown(publisher.fd, SHUT_WR);
    publisher.state = State::done;
    --publishing_;
    ++done_;
}

void Publishers::announce_ready() {
    if (is_ready_ || started_ < publishers_.size() || publishing_ + failed_ + done_ < publishers_.size())
        return;
    is_ready_ = true;
    JsonLine("ready")
        .add("publishing", static_cast<std::uint64_t>(publishing_))
        .add("failed", static_cast<std::uint64_t>(failed_))
        .add("kbps", clip_.kbps())
        .add("gop_bytes_max", static_cast<std::uint64_t>(clip_.gop_bytes_max))
        .print();
}

void Publishers::on_stdin() {
    char block[256];
    const ssize_t n = read(STDIN_FILENO, block, sizeof block);
    const std::string_view words(block, n > 0 ? static_cast<std::size_t>(n) : 0);
    if (words.empty())
        epoll_ctl(epoll_, EPOLL_CTL_DEL, STDIN_FILENO, nullptr);
    if (words.find("report") != std::string_view::npos) {
        JsonLine("report")
            .add("seconds", now_seconds() - marked_at_)
            .add("bytes", bytes_ - bytes_at_mark_)
            .add("messages", messages_ - messages_at_mark_)
            .add("late_ms_max", late_s_max_ * 1000)
            .print();
    }
    if (words.find("mark") != std::string_view::npos) {
        marked_at_ = now_seconds();
        bytes_at_mark_ = bytes_;
        messages_at_mark_ = messages_;
        late_s_max_ = 0;
    }
}

void Publishers::step(double now) {
    if (!stop_requested())
        start_due(now);
    static epoll_event events[1024];
    const int n = epoll_wait(epoll_, events, 1024, 0);
    for (int i = 0; i < n; ++i) {
        const std::uint32_t id = events[i].data.u32;
        if (id == kStdinId) {
            on_stdin();
            continue;
        }
        Publisher& publisher = publishers_[id];
        if (publisher.state == State::connecting)
            on_connected(publisher, id, now);
        else if (publisher.state != State::failed && publisher.state != State::done)
            on_readable(publisher, now);
        else if (publisher.state == State::done)
            epoll_ctl(epoll_, EPOLL_CTL_DEL, publisher.fd, nullptr);
    }
    for (std::size_t i = 0; i < started_; ++i) {
        Publisher& publisher = publishers_[i];
        if (publisher.state == State::publishing)
            send_due_messages(publisher, now);
        else if ((publisher.state == State::asking || publisher.state == State::handshake) &&
                 now - publisher.since > kStartLimitSeconds)
            fail(publisher, "the server did not let it publish in time");
    }
    announce_ready();
}

int Publishers::run() {
    started_at_ = marked_at_ = now_seconds();
    if (epoll_event event{EPOLLIN, {.u32 = kStdinId}};
        epoll_ctl(epoll_, EPOLL_CTL_ADD, STDIN_FILENO, &event) != 0 && errno != EPERM)
        die(std::string("standard input: ") + std::strerror(errno));  // EPERM: a file or /dev/null, which says nothing.
    while (done_ + failed_ < publishers_.size()) {
        step(now_seconds());
        if (stop_requested() && publishing_ == 0)
            break;
        sleep_seconds(kTickSeconds);
    }
    sleep_seconds(0.3);  // Let the server read to the end before the sockets go.
    JsonLine("final")
        .add("publishers", static_cast<std::uint64_t>(publishers_.size()))
        .add("failed", static_cast<std::uint64_t>(failed_))
        .add("messages", messages_)
        .add("bytes", bytes_)
        .add("media_messages", media_messages_)
        .add("media_bytes", media_bytes_)
        .add("blocked", blocked_)
        .print();
    return failed_ == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    Args args(argc, argv, kUsage);
    return Publishers(args).run();
}
