// Session: the common part of publishing and playing SRT clients: the place among the clients, admission, the connection, and
// how it ends. It lives in its fiber, which waits for the end; the port and the players do the work.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/log/log.hpp"
#include "base/signal.hpp"
#include "engine/srt/listener.hpp"
#include "io/fibers/deadline.hpp"
#include "session/common/client_table.hpp"
#include "session/limits/memory_budget.hpp"
#include "session/srt/context.hpp"
#include "session/srt/port/link.hpp"

namespace live::session::srt {

class Call;

// A client that requests a connection, and the properties of that connection.
struct Opening {
    // The connection is there: this server has called. Nothing else here counts then, except the payload's size.
    Call* call = nullptr;
    engine::srt::Request request;
    Path path;
    engine::srt::ConnectionOptions options;
    std::optional<engine::srt::KeyEncryptingKey> kek;
    // For a version 4 player, whose key is ours: of `kek`, and how long.
    engine::srt::Salt salt{};
    std::size_t key_bytes = 16;
    // For version 4 callers, whose keys come after the handshake; empty: no encryption.
    std::string passphrase;
    // The callbacks may return another passphrase, so it is not checked before they have answered.
    bool asks_for_passphrase = false;
    // Why its key was refused then.
    std::optional<engine::srt::RejectReason> key_reason;
    bool is_accepted = false;
};

// The error of a client that stopped repeating its request before it was admitted.
Error given_up_error();
// How a connection has ended.
Error error_of(engine::srt::CloseReason reason);

class Session : public Link, protected Client, private MemoryBudget::Holder {
public:
    // Everything referred to outlives this.
    Session(Context& context, ClientRequest request, const Log& log);
    ~Session() override;

    // Checks admission, connects, and runs until the client leaves or something ends it. If the client is not accepted, returns
    // the reason as an error, and the caller refuses the client.
    Result<void> run(Opening& opening, io::Deadline deadline);

protected:
    virtual Result<void> serve(Opening& opening, io::Deadline deadline) = 0;

    // After admission, and before any work for the client: checks that it has the passphrase that the plan may name.
    Result<void> check_key(Opening& opening, io::Deadline deadline);
    // Reports the end of an admitted connection.
    virtual void tell_closed(const Traffic& traffic) { context_.events.on_closed(request_, traffic); }

    // Sends the response to the client, or takes the call over. Errors as engine::srt::accept and Port::add; Errc::timed_out when
    // the client has given up.
    Result<void> connect(Opening& opening);
    // Waits until the client leaves, is kicked or has lost its memory; returns the reason.
    Result<void> wait_for_end(io::Deadline deadline);
    // May be called at any time.
    void end(Error why);
    // Wakes wait_for_end().
    void wake() { ended_.raise(); }
    void refuse(const Error& error) { entry_.refuse(error); }
    const std::string& passphrase() const { return passphrase_; }
    // Sets the memory of the connection and of its media.
    void account(std::size_t bytes) { memory_.set(bytes); }
    ClientEntry& entry() { return entry_; }
    // Client
    const ClientRequest& request() const override { return request_; }
    ClientFigures figures() const override;
    std::optional<LinkFigures> link_figures() const override;
    void kick(std::string reason) override;
    // Link
    void on_over() override;

    Context& context_;
    const ClientRequest request_;
    const Log& log_;
    StreamPlan plan_;

private:
    // MemoryBudget::Holder
    std::string_view address() const override { return request_.ip; }
    void lose_memory(std::string why) override { kick(std::move(why)); }
    void answer_key(io::Deadline deadline);
    void say_figures() const;

    std::string passphrase_;
    Signal ended_;
    std::optional<Error> end_;
    MemoryBudget::Use memory_;
    ClientEntry entry_;
};

}  // namespace live::session::srt
