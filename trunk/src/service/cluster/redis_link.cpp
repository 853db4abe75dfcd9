#include "service/cluster/redis_link.hpp"

#include <array>
#include <utility>
#include <vector>

#include "io/net/resolve.hpp"
#include "io/net/tcp_stream.hpp"
#include "io/tls/tls_stream.hpp"

namespace live::service::cluster {

using engine::redis::Reply;

namespace {

Result<std::unique_ptr<io::Stream>> dial_registry(const RegistryPlace& place, bool is_secure, io::TlsContext* tls,
                                                  io::Deadline deadline) {
    const auto addresses = TRY(io::resolve(place.host, place.port, deadline));
    Result<std::unique_ptr<io::TcpStream>> tcp = Error(Errc::not_found, "no address");
    for (const Endpoint& address : addresses) {
        tcp = io::TcpStream::connect(address, deadline);
        if (tcp.ok() || tcp.code() == Errc::cancelled)
            break;
    }
    if (!tcp.ok())
        return tcp.error();
    TRY((*tcp)->set_no_delay(true));
    if (!is_secure)
        return std::unique_ptr<io::Stream>(*std::move(tcp));
    if (tls == nullptr)
        return Error(Errc::unsupported, "TLS is not available");
    return std::unique_ptr<io::Stream>(TRY(io::TlsStream::connect(*std::move(tcp), *tls, place.host, deadline)));
}

Result<void> expect_good(const Result<Reply>& reply, std::string_view what) {
    if (!reply.ok())
        return reply.error();
    if (reply->is_error())
        return Error(Errc::denied, std::string(what) + ": " + reply->text.substr(0, 256));
    return {};
}

Result<RegistryPlace> ask_sentinel(const RegistryPlace& sentinel, const std::string& master, MutBytes scratch,
                                   io::Deadline deadline) {
    RedisLink link(TRY(dial_registry(sentinel, false, nullptr, deadline)), scratch);
    const std::array<std::string, 3> words = {"SENTINEL", "get-master-addr-by-name", master};
    const Reply reply = TRY(link.call(words, deadline));
    if (!reply.is_list(2) || !reply.items[0].is_text() || !reply.items[1].is_text())
        return Error(Errc::not_found, "a sentinel does not know the master " + master);
    return parse_master(reply.items[0].text, reply.items[1].text);
}

Result<RegistryPlace> find_master(const RegistryUrl& url, MutBytes scratch, io::Deadline deadline) {
    Result<RegistryPlace> found = Error(Errc::not_found, "no sentinel");
    for (const RegistryPlace& sentinel : url.places) {
        found = ask_sentinel(sentinel, url.master, scratch, deadline.sooner(io::Deadline::after(RedisLink::kOpenLimit)));
        if (found.ok() || found.code() == Errc::cancelled)
            break;
    }
    return found;
}

}  // namespace

Result<std::unique_ptr<RedisLink>> RedisLink::open(const RegistryUrl& url, io::TlsContext* tls, MutBytes scratch,
                                                   io::Deadline deadline) {
    const RegistryPlace place = url.master.empty() ? url.places.front() : TRY(find_master(url, scratch, deadline));
    const auto limit = deadline.sooner(io::Deadline::after(kOpenLimit));
    auto link = std::make_unique<RedisLink>(TRY(dial_registry(place, url.is_secure, tls, limit)), scratch);
    TRY(link->introduce(url, limit));
    return link;
}

Result<void> RedisLink::introduce(const RegistryUrl& url, io::Deadline deadline) {
    if (!url.password.empty()) {
        std::vector<std::string> words = {"AUTH"};
        if (!url.user.empty())
            words.push_back(url.user);
        words.push_back(url.password);
        TRY(expect_good(call(words, deadline), "the registry refuses the password"));
    }
    const std::array<std::string, 2> select = {"SELECT", std::to_string(url.database)};
    TRY(expect_good(call(select, deadline), "the registry refuses the database"));
    if (url.master.empty())
        return {};
    // A sentinel may list a failed master that has restarted as a replica.
    const std::array<std::string, 1> role = {"ROLE"};
    const Reply reply = TRY(call(role, deadline));
    if (reply.is_list(1) && reply.items[0].text != "master")
        return Error(Errc::not_found, "the sentinels list a server that is not a master");
    return {};
}

void RedisLink::queue(std::span<const std::string> words) { output_ += engine::redis::command_of(words); }

Result<void> RedisLink::flush(io::Deadline deadline) {
    if (output_.empty())
        return {};
    const std::string sent = std::exchange(output_, {});
    const std::array parts{io::as_part(as_bytes(sent))};
    return stream_->write_all(parts, deadline);
}

Result<void> RedisLink::read() {
    for (;;) {
        const auto count = stream_->try_read(scratch_);
        if (!count.ok() && count.code() == Errc::need_more)
            return {};
        if (!count.ok())
            return count.error();
        TRY(replies_.feed(scratch_.first(*count)));
        if (*count < scratch_.size())
            return {};
    }
}

Result<Reply> RedisLink::call(std::span<const std::string> words, io::Deadline deadline) {
    queue(words);
    TRY(flush(deadline));
    for (;;) {
        if (auto reply = TRY(next()))
            return *std::move(reply);
        TRY(stream_->wait_readable(deadline));
        TRY(read());
    }
}

}  // namespace live::service::cluster
