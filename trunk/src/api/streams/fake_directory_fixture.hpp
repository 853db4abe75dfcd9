// The sessions of GB28181 devices for tests of the API: answers of the test's choice.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "session/gb28181/directory.hpp"

namespace live::api {

class FakeDirectory final : public session::gb28181::Directory {
public:
    Result<session::gb28181::OpenedSession> open(session::gb28181::OpenRequest request) override {
        asked.push_back(std::move(request));
        if (fails)
            return Error(*fails, "no session");
        return session::gb28181::OpenedSession{9000, asked.back().transport != session::gb28181::Transport::udp};
    }
    Result<void> connect(std::string_view id, const Endpoint& device) override {
        connected = std::string(id) + ' ' + device.text();
        return {};
    }
    Result<void> close(std::string_view id) override {
        return id == "cam" ? Result<void>() : Error(Errc::not_found, "there is no such session");
    }
    std::vector<session::gb28181::ListedSession> list() const override {
        session::gb28181::ListedSession one;
        one.id = "cam";
        one.ssrc = 47'190'001;
        one.is_publishing = true;
        one.port = 9000;
        one.device = "192.0.2.7:5000";
        one.received_bytes = 77;
        one.codecs = {"H264", "AAC"};
        session::gb28181::ListedSession two;
        two.id = "later";
        return {one, two};
    }

    std::vector<session::gb28181::OpenRequest> asked;
    std::optional<Errc> fails;
    std::string connected;
};

}  // namespace live::api
