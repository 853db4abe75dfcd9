// PushSession: sends a source to another server like to a player. It is no client: it needs no admission and is in no list.
#pragma once

#include "session/srt/play_session.hpp"

namespace live::session::srt {

class PushSession final : public PlaySession {
public:
    PushSession(Context& context, ClientRequest request, Ref<media::Source> source, const Log& log)
        : PlaySession(context, std::move(request), log), pushed_(std::move(source)) {}
    ~PushSession() override;

    std::uint64_t sent_bytes() const { return Session::figures().sent_bytes; }

private:
    using PlaySession::serve;
    Result<void> serve(Opening& opening, io::Deadline deadline) override;
    void tell_closed(const Traffic& traffic) override;

    Ref<media::Source> pushed_;
};

}  // namespace live::session::srt
