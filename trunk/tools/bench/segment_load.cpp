// Players of segmented streams over plain HTTP/1.1 and kept connections, as cheap as can be: playlists are parsed, media is dropped by the kernel (MSG_TRUNC).
// `hls` polls the playlist every two seconds and fetches new segments; `ll` waits for each part by a blocking reload of the playlist (RFC 8216bis, 6.2.5.2)
// and fetches it; `dash` polls the MPD every two seconds and fetches the new segment of each representation. A new player begins with the newest media.
// Words on standard input as of the other loads: mark, report, quit.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>

#include "common.hpp"

namespace {

using namespace bench;

constexpr std::string_view kUsage = "segment_load --mode hls|ll|dash --port PORT --path /live/bench.m3u8 [--clients N] [--ramp PER_SECOND]";
constexpr double kTick = 0.002;
constexpr double kPoll = 2;
constexpr std::size_t kHeadBytesMax = 4096;

enum class Mode { hls, ll, dash };

struct Player {
    int fd = -1;
    std::string target;              // of the request on its way; empty: none
    bool is_list = false;            // its body is parsed
    std::string text;                // the header, then the body of a list
    std::size_t body_left = 0;
    std::uint64_t media_bytes = 0;
    std::uint64_t media_bytes_at_mark = 0;
    bool has_head = false;
    std::deque<std::string> wanted;  // media to fetch
    std::string newest;              // the last media listed
    std::map<std::string, long> numbers;  // DASH: the newest segment of each representation
    std::string next_list;           // LL-HLS: the playlist with the next part
    double poll_at = 0;
};

std::string_view after(std::string_view text, std::string_view name) {
    const std::size_t at = text.find(name);
    return at == text.npos ? std::string_view() : text.substr(at + name.size());
}

std::string quoted(std::string_view text) { return std::string(text.substr(0, text.find('"'))); }

long number_of(std::string_view text) { return std::atol(std::string(text.substr(0, 20)).c_str()); }

class Players {
public:
    Players(Mode mode, std::uint16_t port, std::string path, std::size_t count, double ramp)
        : mode_(mode), port_(port), path_(std::move(path)), folder_(path_.substr(0, path_.rfind('/') + 1)), ramp_(ramp), epoll_(epoll_create1(EPOLL_CLOEXEC)), players_(count) {
        fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
        started_at_ = marked_at_ = now_seconds();
    }

    int run() {
        while (!stop_requested() && take_words()) {
            const double now = now_seconds();
            open_due(now);
            for (std::size_t i = 0; i < opened_; ++i) {
                if (players_[i].target.empty() && players_[i].fd >= 0)
                    ask(players_[i], now);
            }
            std::array<epoll_event, 1024> events;
            const int n = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 0);
            for (int i = 0; i < n; ++i)
                receive(players_[events[static_cast<std::size_t>(i)].data.u32]);
            if (n < static_cast<int>(events.size()))
                sleep_seconds(kTick);
        }
        say("final");
        return 0;
    }

private:
    void open_due(double now) {
        if (opened_ == players_.size())
            return;
        const auto due = std::min(players_.size(), static_cast<std::size_t>((now - started_at_) * ramp_) + 1);
        for (; opened_ < due; ++opened_) {
            Player& player = players_[opened_];
            player.fd = start_connect("127.0.0.1", port_, true);
            watch(epoll_, player.fd, EPOLLIN | EPOLLET, static_cast<std::uint32_t>(opened_), true);
            player.poll_at = now;
        }
        if (opened_ == players_.size())
            say("ready");
    }

    // Sends the next request, if one is due.
    void ask(Player& player, double now) {
        std::string target;
        if (!player.wanted.empty()) {
            target = player.wanted.front();
            player.is_list = false;
        } else if (now >= player.poll_at) {
            target = player.next_list.empty() ? path_ : player.next_list;
            player.is_list = true;
        } else {
            return;
        }
        const std::string request = "GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: segment_load\r\n\r\n";
        if (::send(player.fd, request.data(), request.size(), MSG_DONTWAIT | MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) {
            if (errno != EAGAIN && errno != ENOTCONN)
                fail(player);
            return;
        }
        if (player.is_list)
            player.poll_at = now + (mode_ == Mode::ll ? 0 : kPoll);
        else
            player.wanted.pop_front();
        player.target = std::move(target);
        player.text.clear();
        player.has_head = false;
        player.body_left = 0;
    }

    void receive(Player& player) {
        static std::array<char, 1 << 20> scratch;
        while (player.fd >= 0 && !player.target.empty()) {
            const bool drops = player.has_head && !player.is_list;
            const ssize_t n = recv(player.fd, scratch.data(), drops ? player.body_left : player.has_head ? std::min(player.body_left, scratch.size()) : kHeadBytesMax,
                                   MSG_DONTWAIT | (drops ? MSG_TRUNC : 0));
            if (n < 0 && errno == EAGAIN)
                return;
            if (n <= 0)
                return fail(player);
            bytes_ += static_cast<std::uint64_t>(n);
            if (player.has_head)
                player.body_left -= static_cast<std::size_t>(n);
            player.media_bytes += drops ? static_cast<std::uint64_t>(n) : 0;
            if (!drops)
                player.text.append(scratch.data(), static_cast<std::size_t>(n));
            if (!player.has_head && !take_head(player))
                continue;
            if (player.body_left > 0)
                continue;
            ++requests_;
            player.target.clear();
            if (player.is_list)
                take_list(player);
            ask(player, now_seconds());
        }
    }

    // Returns true when the header is complete.
    bool take_head(Player& player) {
        const std::size_t end = player.text.find("\r\n\r\n");
        if (end == player.text.npos) {
            if (player.text.size() > kHeadBytesMax)
                fail(player);
            return false;
        }
        const std::string_view length = after(std::string_view(player.text).substr(0, end), "Content-Length: ");
        if (!player.text.starts_with("HTTP/1.1 200") || length.empty()) {
            fail(player);
            return false;
        }
        player.has_head = true;
        const auto bytes = static_cast<std::size_t>(number_of(length));
        player.text.erase(0, end + 4);
        player.media_bytes += player.is_list ? 0 : player.text.size();
        player.body_left = bytes - std::min(bytes, player.text.size());
        return true;
    }

    void take_list(Player& player) {
        if (mode_ == Mode::dash)
            return take_mpd(player);
        std::vector<std::string> media;
        long sequence = 0, segments = 0, parts = 0;
        for (std::string_view rest = player.text; !rest.empty();) {
            const std::string_view line = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(rest.size(), line.size() + 1));
            if (line.starts_with("#EXT-X-MEDIA-SEQUENCE:"))
                sequence = number_of(line.substr(22));
            if (line.starts_with("#EXT-X-PART:")) {
                ++parts;
                if (mode_ == Mode::ll)
                    media.push_back(quoted(after(line, "URI=\"")));
            }
            if (line.empty() || line[0] == '#')
                continue;
            ++segments;
            parts = 0;
            if (mode_ == Mode::hls)
                media.emplace_back(line);
        }
        want_new(player, media);
        if (mode_ == Mode::ll)
            player.next_list = path_ + "?_HLS_msn=" + std::to_string(sequence + segments) + "&_HLS_part=" + std::to_string(parts);
    }

    void want_new(Player& player, const std::vector<std::string>& media) {
        if (media.empty() || media.back() == player.newest)
            return;
        auto from = std::find(media.begin(), media.end(), player.newest);
        from = from == media.end() ? media.end() - 1 : from + 1;
        for (; from != media.end(); ++from)
            player.wanted.push_back(folder_ + *from);
        player.newest = media.back();
    }

    void take_mpd(Player& player) {
        std::string_view rest = player.text;
        const std::string base = quoted(after(rest, "<BaseURL>")).substr(0, quoted(after(rest, "<BaseURL>")).find('<'));
        while (!(rest = after(rest, "<Representation id=\"")).empty()) {
            const std::string id = quoted(rest);
            const std::string_view template_ = rest.substr(0, rest.find("</SegmentTemplate>"));
            long newest = number_of(after(template_, "startNumber=\"")) - 1;
            for (std::string_view entry = template_; !(entry = after(entry, "<S ")).empty();) {
                const std::string_view own = entry.substr(0, entry.find('>'));
                const std::string_view again = after(own, " r=\"");
                newest += 1 + (again.empty() ? 0 : number_of(again));
            }
            const auto [known, is_new] = player.numbers.try_emplace(id, newest - 1);
            for (; known->second < newest; ++known->second)
                player.wanted.push_back(folder_ + base + id + "-" + std::to_string(known->second + 1) + ".m4s");
        }
    }

    void fail(Player& player) {
        if (failed_++ == 0)
            std::fprintf(stderr, "%s: %s\n", player.target.c_str(), player.text.substr(0, 200).c_str());
        close(player.fd);
        player.fd = -1;
    }

    void say(std::string_view event) {
        std::uint64_t least = UINT64_MAX;
        for (const Player& player : players_)
            least = std::min(least, player.media_bytes - player.media_bytes_at_mark);
        JsonLine(event)
            .add("seconds", now_seconds() - marked_at_)
            .add("window_bytes", bytes_ - bytes_at_mark_)
            .add("window_requests", requests_ - requests_at_mark_)
            .add("media_bytes_min", least)
            .add("failed", failed_)
            .print();
    }

    // False when it says quit, or has gone.
    bool take_words() {
        std::array<char, 256> text;
        const ssize_t count = read(STDIN_FILENO, text.data(), text.size());
        const std::string_view said(text.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
        if (said.find("report") != said.npos)
            say("report");
        if (said.find("mark") != said.npos) {
            marked_at_ = now_seconds();
            bytes_at_mark_ = bytes_;
            requests_at_mark_ = requests_;
            for (Player& player : players_)
                player.media_bytes_at_mark = player.media_bytes;
        }
        return count != 0 && said.find("quit") == said.npos;
    }

    Mode mode_;
    std::uint16_t port_;
    std::string path_;
    std::string folder_;
    double ramp_;
    int epoll_;
    std::vector<Player> players_;
    std::size_t opened_ = 0;
    double started_at_ = 0, marked_at_ = 0;
    std::uint64_t bytes_ = 0, bytes_at_mark_ = 0, requests_ = 0, requests_at_mark_ = 0, failed_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    Args args(argc, argv, kUsage);
    const std::string mode = args.required("mode");
    const auto port = static_cast<std::uint16_t>(args.count("port", 0));
    const std::string path = args.required("path");
    const std::size_t clients = args.count("clients", 1);
    const double ramp = args.number("ramp", 500);
    args.check_all_used();
    if ((mode != "hls" && mode != "ll" && mode != "dash") || port == 0 || clients == 0 || ramp <= 0)
        die("usage: " + std::string(kUsage));
    raise_file_limit(clients + 64);
    catch_stop_signals();
    return Players(mode == "hls" ? Mode::hls : mode == "ll" ? Mode::ll : Mode::dash, port, path, clients, ramp).run();
}
