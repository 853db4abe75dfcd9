#include "session/http/acceptor.hpp"

#include <chrono>
#include <iterator>
#include <list>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "engine/http1/writer.hpp"
#include "io/fibers/loop.hpp"
#include "io/net/read_watch.hpp"
#include "io/net/tcp_stream.hpp"
#include "io/tls/tls_stream.hpp"
#include "session/common/accept_loop.hpp"
#include "session/http/connection.hpp"
#include "wire/http/status.hpp"

namespace live::session::http {

namespace {

// The stack of a parked fiber below serve() should fit into one page, so rarely used code has its own frames.
[[gnu::noinline]] void turn_away(io::TcpStream& stream, Context& context) {
    const std::string text = engine::http1::ResponseBuilder(wire::http::Status::service_unavailable)
                                 .header("Date", context.date.text(std::chrono::system_clock::now()))
                                 .with_body("text/plain", "too many connections\n");
    const std::array parts{io::as_part(as_bytes(text))};
    static_cast<void>(stream.try_write(parts));
}

[[gnu::noinline]] void log_tls(const Log& log, const Error& error) {
    LOG_WARN(log, "HTTPS client finished. reason=\"TLS: {}\"", error.text());
}

}  // namespace

struct Acceptor::Client {
    Client(std::unique_ptr<io::TcpStream> stream, ConnectionLimits::Place its_place, const Log& its_log, Context& context,
           ConnectionLimits& places)
        : place(std::move(its_place)),
          log(its_log),
          tcp(*stream),
          connection(std::move(stream), &tcp, tcp.peer_ip(), context, places, log) {}

    ConnectionLimits::Place place;
    const Log log;
    io::TcpStream& tcp;
    Connection connection;
};

// Clients that are silent between two requests. A fiber is started for one that sends something, and one fiber for all closes
// those that do not.
class Acceptor::Parking {
public:
    Parking(io::Scope& fibers, IdleStreams& idle) : fibers_(fibers), idle_(idle) {}

    void serve(std::unique_ptr<Client> client, io::Deadline deadline) {
        while (client->connection.run_until_silent(deadline) == Connection::Ended::silent)
            if (park(client))
                return;
    }

private:
    struct Spot final : io::ReadWatch::Listener {
        Spot(Parking& all, std::unique_ptr<Client> its_client)
            : parking(all), client(std::move(its_client)), idle(all.idle_, client->tcp) {}
        void on_readable() override { parking.resume(*this); }

        Parking& parking;
        std::unique_ptr<Client> client;
        const IdleStreams::Entry idle;
        TimePoint until = io::now() + (Connection::kIdleLimit - Connection::kBusyLimit);
        bool is_resumed = false;
        std::list<Spot>::iterator self;
        io::ReadWatch watch{*this};
    };

    // False, and the client is still the caller's, if it has to be served at once.
    bool park(std::unique_ptr<Client>& client) {
        if (!is_swept_ && !fibers_.start("http-idle", [this](io::Deadline forever) { sweep(forever); }).ok())
            return false;
        is_swept_ = true;
        spots_.emplace_back(*this, std::move(client));
        Spot& spot = spots_.back();
        spot.self = std::prev(spots_.end());
        if (spot.watch.begin(spot.client->tcp))
            return true;
        client = std::move(spot.client);
        spots_.pop_back();
        return false;
    }

    // Called by the loop. Without a fiber for it, the client is closed by the next sweep.
    void resume(Spot& spot) {
        spot.is_resumed = fibers_.start("http", [this, &spot](io::Deadline forever) { take_out(spot, forever); }).ok();
        if (!spot.is_resumed)
            spot.until = {};
    }

    void take_out(Spot& spot, io::Deadline deadline) {
        auto client = std::move(spot.client);
        spots_.erase(spot.self);
        serve(std::move(client), deadline);
    }

    void sweep(io::Deadline deadline) {
        constexpr std::chrono::seconds kSweep{1};
        while (!spots_.empty() && io::sleep(deadline.sooner(io::Deadline::after(kSweep))).ok())
            std::erase_if(spots_, [now = io::now()](const Spot& spot) { return !spot.is_resumed && spot.until <= now; });
        is_swept_ = false;
    }

    io::Scope& fibers_;
    IdleStreams& idle_;
    std::list<Spot> spots_;
    bool is_swept_ = false;
};

Acceptor::Acceptor(std::unique_ptr<io::TcpListener> listener, io::TlsContext* tls, Context& context, ConnectionLimits& places,
                   ConnectionLimits::Kind kind, io::Scope& connections, const Log& log)
    : listener_(std::move(listener)),
      tls_(tls),
      context_(context),
      places_(places),
      kind_(kind),
      connections_(connections),
      log_(log),
      parking_(std::make_unique<Parking>(connections, context.idle)) {}

Acceptor::~Acceptor() = default;

void Acceptor::run(io::Deadline deadline) {
    accept_each(*listener_, connections_, "http", log_, places_, deadline,
                [this](std::unique_ptr<io::TcpStream> stream, io::Deadline forever) { serve(std::move(stream), forever); });
}

void Acceptor::serve(std::unique_ptr<io::TcpStream> stream, io::Deadline deadline) {
    auto place = places_.take(kind_, stream->peer_ip(), sizeof(Connection), io::now());
    if (!place.ok())
        return turn_away(*stream, context_);
    const Log log = log_.with_id(random_id());
    if (other_ != nullptr) {
        const auto first = stream->peek(deadline.sooner(io::Deadline::after(kFirstByteLimit)));
        if (!first.ok())
            return;
        if (other_->begins_with(*first)) {
            other_->serve(std::move(stream), *std::move(place), deadline);
            return;
        }
    }
    // Clients wait for complete responses, so Nagle's algorithm only delays them.
    static_cast<void>(stream->set_no_delay(true));
    if (tls_ == nullptr)
        serve_plain(std::move(stream), *std::move(place), log, deadline);
    else
        serve_secure(std::move(stream), log, deadline);
}

// On the heap, because the stack of a parked fiber should fit into one page.
void Acceptor::serve_plain(std::unique_ptr<io::TcpStream> stream, ConnectionLimits::Place place, const Log& log,
                           io::Deadline deadline) {
    parking_->serve(std::make_unique<Client>(std::move(stream), std::move(place), log, context_, places_), deadline);
}

void Acceptor::serve_secure(std::unique_ptr<io::TcpStream> stream, const Log& log, io::Deadline deadline) {
    const std::string peer_ip = stream->peer_ip();
    auto secured = io::TlsStream::accept(std::move(stream), *tls_, deadline.sooner(io::Deadline::after(kTlsLimit)));
    if (!secured.ok())
        log_tls(log, secured.error());
    else if (http2_ != nullptr && secured.value()->application_protocol() == "h2")
        http2_->serve(*std::move(secured), {peer_ip, context_, *tls_, places_, kind_, log}, deadline);
    else
        std::make_unique<Connection>(*std::move(secured), nullptr, peer_ip, context_, places_, log)->run(deadline);
}

}  // namespace live::session::http
