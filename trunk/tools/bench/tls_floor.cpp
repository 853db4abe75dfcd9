// The floor of TLS: what OpenSSL and the kernel alone cost. It accepts N TLS connections, answers the GET of each with the header of an endless
// response, and sends each the bytes of a clip as a server with merged writing would: everything new since this client's last turn, once per window,
// in full records of 16 KB and one shorter one, encrypted into one shared buffer and sent with one call. With a window of 0 every message goes to
// everybody at once, in a record for each tick. There is no state of a client but its position and its SSL, and what a full socket does not take is
// lost together with the connection. The load is sb_flv_load, as of a server. Options: the certificate and the key are PEM files.
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <memory>

#include "clip.hpp"
#include "common.hpp"
#include "run.hpp"

namespace {

using namespace bench;

constexpr std::string_view kUsage = "tls_floor --port PORT --clients N --clip FILE.flv --cert FILE --key FILE [--window-ms 350] [--tick-ms 5]";
constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Type: video/x-flv\r\n\r\n";
constexpr std::size_t kRequestBytesMax = 4096;

struct FreeSsl {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};

struct Player {
    int fd = -1;
    std::unique_ptr<SSL, FreeSsl> ssl;
    std::string request;
    std::uint64_t position = 0;
    bool is_ready = false;
};

struct Counters {
    std::uint64_t bytes = 0;
    std::uint64_t calls = 0;
    std::uint64_t gone = 0;  // Connections that ended, or whose socket was full.
};

[[noreturn]] void die_of_tls(const std::string& what) {
    std::array<char, 256> text{};
    ERR_error_string_n(ERR_get_error(), text.data(), text.size());
    die(what + ": " + text.data());
}

std::unique_ptr<SSL_CTX, FreeSsl> make_context(const std::string& cert, const std::string& key) {
    std::unique_ptr<SSL_CTX, FreeSsl> context(SSL_CTX_new(TLS_server_method()));
    if (SSL_CTX_use_certificate_chain_file(context.get(), cert.c_str()) != 1 ||
        SSL_CTX_use_PrivateKey_file(context.get(), key.c_str(), SSL_FILETYPE_PEM) != 1)
        die_of_tls("the certificate");
    SSL_CTX_set_num_tickets(context.get(), 0);
    // The server's choice (io/tls/tls_context.cpp).
    SSL_CTX_set_options(context.get(), SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_ciphersuites(context.get(), "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384");
    SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
    return context;
}

class Floor {
public:
    Floor(std::uint16_t port, std::size_t clients, SSL_CTX* context)
        : context_(context), listener_(listen_on(port)), epoll_(epoll_create1(EPOLL_CLOEXEC)), players_(clients), out_(BIO_new(BIO_s_mem())) {}

    // Until every client has its answer.
    void accept_all() {
        watch(epoll_, listener_, EPOLLIN, UINT32_MAX, true);
        JsonLine("listening").print();
        while (ready_ < players_.size() && !stop_requested()) {
            std::array<epoll_event, 256> events;
            const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 100);
            for (int i = 0; i < count; ++i) {
                if (events[static_cast<std::size_t>(i)].data.u32 == UINT32_MAX)
                    accept_one();
                else
                    open(players_[events[static_cast<std::size_t>(i)].data.u32]);
            }
        }
        // A socket that nobody polls costs its sender nothing; the players send nothing more.
        close(epoll_);
        close(listener_);
        for (Player& player : players_)
            player.request = std::string();
        for (Player& player : players_) {
            BIO_up_ref(out_.get());
            SSL_set0_wbio(player.ssl.get(), out_.get());
        }
        JsonLine("ready").add("clients", static_cast<std::uint64_t>(ready_)).print();
    }

    void send(Run& run, double window_s, double tick_s) {
        const double start = now_seconds();
        Turns turns(players_.size(), window_s, tick_s);
        std::uint64_t last_head = 0;
        while (!stop_requested()) {
            const double elapsed = now_seconds() - start;
            const std::uint64_t head = run.head(elapsed);
            if (window_s > 0)
                turns.take(elapsed, [&](std::size_t i) { send_to(players_[i], run, head); });
            for (std::size_t i = 0; window_s <= 0 && head > last_head && i < players_.size(); ++i)
                send_to(players_[i], run, head);
            last_head = head;
            turns.sleep();
        }
    }

    const Counters& counters() const { return counters_; }

private:
    struct FreeBio {
        void operator()(BIO* bio) const { BIO_free(bio); }
    };

    void accept_one() {
        const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 || accepted_ == players_.size())
            return;
        Player& player = players_[accepted_];
        player.fd = fd;
        player.ssl.reset(SSL_new(context_));
        SSL_set_fd(player.ssl.get(), fd);
        SSL_set_accept_state(player.ssl.get());
        watch(epoll_, fd, EPOLLIN, static_cast<std::uint32_t>(accepted_++), true);
    }

    // Reads up to the end of the request; the handshake happens on the way.
    void open(Player& player) {
        std::array<char, kRequestBytesMax> piece;
        for (int n = 0; !player.is_ready && (n = SSL_read(player.ssl.get(), piece.data(), piece.size())) > 0;) {
            player.request.append(piece.data(), static_cast<std::size_t>(n));
            if (!player.request.ends_with("\r\n\r\n"))
                continue;
            if (SSL_write(player.ssl.get(), kAnswer.data(), static_cast<int>(kAnswer.size())) != static_cast<int>(kAnswer.size()))
                die_of_tls("the answer");
            player.is_ready = true;
            ++ready_;
        }
        if (!player.is_ready && SSL_get_error(player.ssl.get(), -1) == SSL_ERROR_SSL)
            die_of_tls("a handshake");
    }

    void send_to(Player& player, const Run& run, std::uint64_t head) {
        if (player.fd < 0 || player.position >= head)
            return;
        if (head - player.position > run.period())
            player.position = head - run.period();  // A reader this late has lost; the floor does not care.
        const auto bytes = static_cast<int>(head - player.position);
        if (SSL_write(player.ssl.get(), run.at(player.position), bytes) != bytes)
            die_of_tls("encrypting");
        char* data = nullptr;
        const long length = BIO_get_mem_data(out_.get(), &data);
        const ssize_t sent = ::send(player.fd, data, static_cast<std::size_t>(length), MSG_DONTWAIT | MSG_NOSIGNAL);
        (void)BIO_reset(out_.get());
        ++counters_.calls;
        player.position = head;
        if (sent == length) {
            counters_.bytes += static_cast<std::uint64_t>(length);
            return;
        }
        close(player.fd);
        player.fd = -1;
        ++counters_.gone;
    }

    SSL_CTX* context_;
    int listener_;
    int epoll_;
    std::vector<Player> players_;
    std::unique_ptr<BIO, FreeBio> out_;
    std::size_t accepted_ = 0;
    std::size_t ready_ = 0;
    Counters counters_;
};

}  // namespace

int main(int argc, char** argv) {
    Args args(argc, argv, kUsage);
    const auto port = static_cast<std::uint16_t>(args.count("port", 0));
    const std::size_t clients = args.count("clients", 1);
    const double window_s = args.number("window-ms", 350) / 1000;
    const double tick_s = args.number("tick-ms", window_s > 0 ? 5 : 1) / 1000;
    const std::string clip = args.required("clip"), cert = args.required("cert"), key = args.required("key");
    args.check_all_used();
    if (port == 0 || clients == 0)
        die("usage: " + std::string(kUsage));
    raise_file_limit(clients + 64);
    catch_stop_signals();
    const auto context = make_context(cert, key);
    Run run(load_clip(clip));
    Floor floor(port, clients, context.get());
    floor.accept_all();
    floor.send(run, window_s, tick_s);
    JsonLine("final").add("bytes", floor.counters().bytes).add("calls", floor.counters().calls).add("gone", floor.counters().gone).print();
    return 0;
}
