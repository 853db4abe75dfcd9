// RedisLink: one connection to a Redis or Valkey server, ready for commands: addressed directly or through sentinels, over TCP or
// TLS, authenticated, in its database. Replies come in the order of the commands.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/redis/reply.hpp"
#include "io/fibers/deadline.hpp"
#include "io/net/stream.hpp"
#include "io/tls/tls_context.hpp"
#include "service/cluster/registry_url.hpp"

namespace live::service::cluster {

class RedisLink {
public:
    // The time limit for one server, from its name to its first answer.
    static constexpr std::chrono::seconds kOpenLimit{2};

    // `tls` may be nullptr: then rediss:// fails. `scratch` as for every reader: used between two suspensions only. Errc::denied
    // for a wrong password, Errc::not_found when no sentinel lists the master; otherwise the network's errors.
    static Result<std::unique_ptr<RedisLink>> open(const RegistryUrl& url, io::TlsContext* tls, MutBytes scratch,
                                                   io::Deadline deadline);
    RedisLink(std::unique_ptr<io::Stream> stream, MutBytes scratch) : stream_(std::move(stream)), scratch_(scratch) {}

    // Appends a command to the output of flush().
    void queue(std::span<const std::string> words);
    Result<void> flush(io::Deadline deadline);
    bool has_output() const { return !output_.empty(); }
    // Reads the bytes that have arrived, without waiting. Errc::closed.
    Result<void> read();
    Result<std::optional<engine::redis::Reply>> next() { return replies_.next(); }
    // Sends a command and waits for its reply. No other command may be unanswered.
    Result<engine::redis::Reply> call(std::span<const std::string> words, io::Deadline deadline);

    io::Stream& stream() { return *stream_; }

private:
    Result<void> introduce(const RegistryUrl& url, io::Deadline deadline);

    std::unique_ptr<io::Stream> stream_;
    MutBytes scratch_;
    engine::redis::ReplyReader replies_;
    std::string output_;
};

}  // namespace live::service::cluster
