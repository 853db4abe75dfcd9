// N cameras on one port, for native pulls of a server: each connection that plays by RTSP gets the video of a clip in interleaved
// frames, one image a system call at its time; the images of different cameras are spread over the interval between two. In mode
// `senders`, N sockets send the same bytes without a protocol to a floor that reads. Words on standard input as of floor_load:
// mark, report, quit.
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>

#include "clip.hpp"
#include "common.hpp"

namespace {

using namespace bench;

constexpr std::string_view kUsage = "rtsp_cameras --mode cameras|senders --port PORT --clients N --clip FILE.flv";
constexpr std::size_t kPayloadBytes = 1'400;
constexpr std::size_t kHeadBytes = 4 + 12;  // of a frame and of RTP
constexpr double kTick = 0.001;
constexpr std::size_t kImagesKept = 64;

std::string base64_of(const std::uint8_t* data, std::size_t size) {
    constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < size; i += 3) {
        std::uint32_t bits = static_cast<std::uint32_t>(data[i]) << 16;
        bits |= i + 1 < size ? static_cast<std::uint32_t>(data[i + 1]) << 8 : 0;
        bits |= i + 2 < size ? data[i + 2] : 0;
        for (std::size_t k = 0; k < 4; ++k)
            text += i + k > size ? '=' : kLetters[bits >> (18 - 6 * k) & 63];
    }
    return text;
}

// The images of a clip without end, as interleaved frames of RTP (RFC 6184).
class Video {
public:
    explicit Video(const Clip& clip) : duration_s_(clip.duration_ms / 1000.0) {
        for (const ClipMessage& message : clip.messages) {
            if (message.type != 9)
                continue;
            std::vector<std::uint8_t> body;  // without the headers of chunks
            for (std::size_t at = 0; at < message.chunks.size(); at += kChunkBytes + 1)
                body.insert(
                    body.end(), message.chunks.begin() + static_cast<std::ptrdiff_t>(at),
                    message.chunks.begin() + static_cast<std::ptrdiff_t>(std::min(at + kChunkBytes, message.chunks.size())));
            if (message.is_setup)
                read_sets(body);
            else
                sources_.push_back({message.timestamp_ms / 1000.0, std::move(body)});
        }
        if (sources_.empty() || sets_.empty())
            die("the clip has no H.264");
    }

    // When the image with this number is due.
    double time_of(std::uint64_t number) const {
        return static_cast<double>(number / sources_.size()) * duration_s_ + sources_[number % sources_.size()].time_s;
    }
    double interval() const { return duration_s_ / static_cast<double>(sources_.size()); }
    // One of the newest images.
    const std::vector<std::uint8_t>& image(std::uint64_t number) {
        for (; made_ <= number; ++made_) {
            images_.push_back(make(made_));
            if (images_.size() > kImagesKept)
                images_.pop_front();
        }
        return images_[images_.size() - static_cast<std::size_t>(made_ - number)];
    }
    std::uint64_t oldest() const { return made_ - images_.size(); }
    std::string description() const {
        return "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=camera\r\nt=0 0\r\na=control:*\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 "
               "H264/90000\r\n"
               "a=fmtp:96 packetization-mode=1;sprop-parameter-sets=" +
               sets_ + "\r\na=control:trackID=0\r\n";
    }

private:
    struct Source {
        double time_s;
        std::vector<std::uint8_t> body;  // of the FLV tag
    };

    // One set of each kind, after the five bytes of the tag and the six of avcC.
    void read_sets(const std::vector<std::uint8_t>& body) {
        std::size_t at = 11;
        sets_.clear();
        for (int i = 0; i < 2 && at + 2 <= body.size(); ++i) {
            const std::size_t size = static_cast<std::size_t>(body[at]) << 8 | body[at + 1];
            if (at + 2 + size > body.size())
                return;
            sets_ += (i == 0 ? "" : ",") + base64_of(body.data() + at + 2, size);
            at += 2 + size + 1;  // and the number of the next kind
        }
    }

    std::vector<std::uint8_t> make(std::uint64_t number) {
        const std::vector<std::uint8_t>& body = sources_[number % sources_.size()].body;
        const std::int32_t cts_ms =
            static_cast<std::int32_t>(static_cast<std::uint32_t>(body[2]) << 24 | static_cast<std::uint32_t>(body[3]) << 16 |
                                      static_cast<std::uint32_t>(body[4]) << 8) >>
            8;
        const auto timestamp =
            static_cast<std::uint32_t>(static_cast<std::int64_t>((time_of(number) + cts_ms / 1000.0) * 90'000));
        std::vector<std::uint8_t> out;
        std::size_t last = 0;
        for (std::size_t at = 5; at + 4 < body.size();) {
            std::size_t size = 0;
            for (int i = 0; i < 4; ++i)
                size = size << 8 | body[at++];
            size = std::min(size, body.size() - at);
            const std::uint8_t* const unit = body.data() + at;
            at += size;
            if (size <= kPayloadBytes) {
                last = out.size();
                add(out, timestamp, nullptr, 0, unit, size);
                continue;
            }
            for (std::size_t done = 1; done < size; done += kPayloadBytes) {
                const std::size_t part = std::min(kPayloadBytes, size - done);
                const std::uint8_t edge = done == 1 ? 0x80 : done + part == size ? 0x40 : 0;
                const std::uint8_t head[2] = {static_cast<std::uint8_t>((unit[0] & 0x60) | 28),
                                              static_cast<std::uint8_t>(edge | (unit[0] & 31))};
                last = out.size();
                add(out, timestamp, head, 2, unit + done, part);
            }
        }
        if (!out.empty())
            out[last + 5] |= 0x80;
        return out;
    }

    void add(std::vector<std::uint8_t>& out, std::uint32_t timestamp, const std::uint8_t* head, std::size_t head_bytes,
             const std::uint8_t* data, std::size_t size) {
        const std::size_t length = 12 + head_bytes + size;
        ++sequence_;
        const std::uint8_t start[kHeadBytes] = {'$',
                                                0,
                                                static_cast<std::uint8_t>(length >> 8),
                                                static_cast<std::uint8_t>(length),
                                                0x80,
                                                96,
                                                static_cast<std::uint8_t>(sequence_ >> 8),
                                                static_cast<std::uint8_t>(sequence_),
                                                static_cast<std::uint8_t>(timestamp >> 24),
                                                static_cast<std::uint8_t>(timestamp >> 16),
                                                static_cast<std::uint8_t>(timestamp >> 8),
                                                static_cast<std::uint8_t>(timestamp),
                                                1,
                                                2,
                                                3,
                                                4};
        out.insert(out.end(), start, start + kHeadBytes);
        out.insert(out.end(), head, head + head_bytes);
        out.insert(out.end(), data, data + size);
    }

    double duration_s_;
    std::string sets_;  // base64
    std::vector<Source> sources_;
    std::deque<std::vector<std::uint8_t>> images_;
    std::uint64_t made_ = 0;
    std::uint16_t sequence_ = 0;
};

struct Peer {
    int socket = -1;
    std::string input;
    bool plays = false;
    std::uint64_t next = 0;      // image
    std::size_t sent_of_it = 0;  // bytes
    double phase = 0;
};

class Cameras {
public:
    Cameras(Video video, std::uint16_t port, std::size_t count, bool are_senders)
        : video_(std::move(video)),
          count_(count),
          are_senders_(are_senders),
          epoll_(epoll_create1(EPOLL_CLOEXEC)),
          started_at_(now_seconds()) {
        fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
        marked_at_ = started_at_;
        if (are_senders) {
            for (std::size_t i = 0; i < count; ++i)
                add_peer(start_connect("127.0.0.1", port, false), true);
            return;
        }
        listener_ = listen_on(port);
        JsonLine("listening").print();
    }

    int run() {
        while (!stop_requested() && take_words()) {
            accept_all();
            read_all();
            const double now = now_seconds() - started_at_;
            for (Peer& peer : peers_)
                send_due(peer, now);
            if (!said_ready_ && playing() == count_) {
                said_ready_ = true;
                say("ready");
            }
            sleep_seconds(kTick);
        }
        say("final");
        return 0;
    }

private:
    std::size_t playing() const {
        return static_cast<std::size_t>(
            std::count_if(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.socket >= 0 && peer.plays; }));
    }

    void add_peer(int socket, bool plays) {
        Peer peer;
        peer.socket = socket;
        peer.plays = plays;
        peer.phase = video_.interval() * static_cast<double>(peers_.size() % count_) / static_cast<double>(count_);
        peers_.push_back(std::move(peer));
        watch(epoll_, socket, EPOLLIN, static_cast<std::uint32_t>(peers_.size() - 1), true);
    }

    void accept_all() {
        for (int fd = -1; listener_ >= 0 && (fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;)
            add_peer(fd, false);
    }

    void end(Peer& peer) {
        close(peer.socket);
        peer.socket = -1;
        ++failed_;
    }

    void read_all() {
        epoll_event events[256];
        const int count = epoll_wait(epoll_, events, 256, 0);
        for (int i = 0; i < count; ++i) {
            Peer& peer = peers_[events[i].data.u32];
            char text[4096];
            const ssize_t n = recv(peer.socket, text, sizeof text, MSG_DONTWAIT);
            if (n == 0 || (n < 0 && errno != EAGAIN)) {
                end(peer);
                continue;
            }
            if (n > 0 && !are_senders_)
                answer(peer, std::string_view(text, static_cast<std::size_t>(n)));
        }
    }

    // Reports of the player are skipped.
    void answer(Peer& peer, std::string_view text) {
        peer.input.append(text);
        for (;;) {
            std::string& input = peer.input;
            if (input.size() >= 4 && input[0] == '$') {
                const std::size_t length = 4 + (static_cast<std::size_t>(static_cast<std::uint8_t>(input[2])) << 8 |
                                                static_cast<std::uint8_t>(input[3]));
                if (input.size() < length)
                    return;
                input.erase(0, length);
                continue;
            }
            const std::size_t end_of_head = input.find("\r\n\r\n");
            if (end_of_head == std::string::npos)
                return;
            const std::string request = input.substr(0, end_of_head);
            input.erase(0, end_of_head + 4);
            if (!respond(peer, request))
                return end(peer);
        }
    }

    bool respond(Peer& peer, const std::string& request) {
        const std::size_t at = request.find("CSeq: ");
        const std::string sequence = at == std::string::npos ? "0" : request.substr(at + 6, request.find('\r', at) - at - 6);
        std::string text = "RTSP/1.0 200 OK\r\nCSeq: " + sequence + "\r\nSession: 1;timeout=60\r\n";
        std::string body;
        if (request.starts_with("DESCRIBE")) {
            body = video_.description();
            text += "Content-Type: application/sdp\r\n";
        } else if (request.starts_with("SETUP")) {
            text += "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n";
        }
        if (!body.empty())
            text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
        text += "\r\n" + body;
        if (send(peer.socket, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size()))
            return false;
        if (request.starts_with("PLAY")) {
            peer.plays = true;
            peer.next = next_image();
        }
        return true;
    }

    // The first image that is not due yet.
    std::uint64_t next_image() const {
        const double now = now_seconds() - started_at_;
        auto number = static_cast<std::uint64_t>(now / video_.interval());
        number -= std::min<std::uint64_t>(number, 2);
        while (video_.time_of(number) <= now)
            ++number;
        return number;
    }

    void send_due(Peer& peer, double now) {
        while (peer.socket >= 0 && peer.plays && video_.time_of(peer.next) + peer.phase <= now) {
            // A peer this late has lost images.
            if (video_.oldest() > peer.next && peer.sent_of_it == 0) {
                missing_ += video_.oldest() - peer.next;
                peer.next = video_.oldest();
            }
            const std::vector<std::uint8_t>& image = video_.image(peer.next);
            const ssize_t n =
                send(peer.socket, image.data() + peer.sent_of_it, image.size() - peer.sent_of_it, MSG_DONTWAIT | MSG_NOSIGNAL);
            if (n < 0 && errno != EAGAIN && errno != ENOTCONN)
                return end(peer);
            bytes_ += n > 0 ? static_cast<std::uint64_t>(n) : 0;
            peer.sent_of_it += n > 0 ? static_cast<std::size_t>(n) : 0;
            if (peer.sent_of_it < image.size())
                return;
            peer.sent_of_it = 0;
            ++peer.next;
        }
    }

    void say(std::string_view event) {
        JsonLine(event)
            .add("seconds", now_seconds() - marked_at_)
            .add("window_bytes", bytes_ - bytes_at_mark_)
            .add("missing", missing_)
            .add("failed", failed_)
            .print();
    }

    bool take_words() {
        char text[256];
        const ssize_t count = read(STDIN_FILENO, text, sizeof text);
        const std::string_view said(text, count > 0 ? static_cast<std::size_t>(count) : 0);
        if (said.find("report") != said.npos)
            say("report");
        if (said.find("mark") != said.npos) {
            marked_at_ = now_seconds();
            bytes_at_mark_ = bytes_;
            missing_ = 0;
        }
        return count != 0 && said.find("quit") == said.npos;
    }

    Video video_;
    std::size_t count_;
    bool are_senders_;
    int epoll_;
    int listener_ = -1;
    std::vector<Peer> peers_;
    double started_at_, marked_at_ = 0;
    bool said_ready_ = false;
    std::uint64_t bytes_ = 0, bytes_at_mark_ = 0, failed_ = 0, missing_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    Args args(argc, argv, kUsage);
    const std::string mode = args.required("mode");
    const auto port = static_cast<std::uint16_t>(args.count("port", 0));
    const std::size_t clients = args.count("clients", 1);
    const std::string clip = args.required("clip");
    args.check_all_used();
    if ((mode != "cameras" && mode != "senders") || port == 0 || clients == 0)
        die("usage: " + std::string(kUsage));
    raise_file_limit(clients + 64);
    catch_stop_signals();
    return Cameras(Video(load_clip(clip)), port, clients, mode == "senders").run();
}
