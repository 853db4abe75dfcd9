// For tests of player sessions: a configurable admission, and a recorder of session events.
#pragma once

#include <string>
#include <vector>

#include "session/common/admission.hpp"

namespace live::service::files {

class Door final : public session::Admission {
public:
    session::Answer publish(const session::ClientRequest& request, io::Deadline deadline) override {
        return play(request, deadline);
    }
    session::Answer play(const session::ClientRequest& request, io::Deadline) override {
        TRY(check_play(request));
        if (request.stream == absent)
            return Error(Errc::not_found, "the origin has no such stream");
        if (request.stream == elsewhere)
            return session::Redirect{.rtmp = {}, .http = "other.example:8080", .api = {}};
        session::StreamPlan plan;
        plan.url = "/" + request.app + "/" + request.stream;
        return plan;
    }

    Result<void> check_play(const session::ClientRequest& request) const override {
        return request.stream == refused ? Error(Errc::denied, "not today") : Result<void>();
    }

    bool may_pull(const session::ClientRequest& request) const override {
        return request.stream == elsewhere || request.stream == absent;
    }

    bool guards_play(const session::ClientRequest&) const override { return is_guarded; }

    bool is_guarded = false;
    std::string refused;    // name of a stream
    std::string elsewhere;  // of a stream that another server has
    std::string absent;     // of a stream that could be pulled, but no server has
};

class RecordedEvents final : public session::StreamEvents {
public:
    void on_published(const session::ClientRequest&, const session::StreamPlan&) override {}
    void on_publish_ended(const session::ClientRequest&, const session::StreamPlan&) override {}
    void on_unpublished(const std::string&) override {}
    void on_play_ended(const session::ClientRequest& request, const session::StreamPlan&) override {
        ended.push_back(request.id);
    }
    void on_closed(const session::ClientRequest&, const session::Traffic&) override {}

    std::vector<std::string> ended;
};

}  // namespace live::service::files
