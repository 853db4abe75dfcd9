// A made-up protocol for tests, as its own folder would hold it: its kind of client, a client, and its description. Nothing else
// in the tree names it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "session/common/client_table.hpp"
#include "session/common/protocol.hpp"

namespace live::hello {

inline constexpr session::ClientKindRow kPlay{.name = "hello-play", .reach = session::Reach::api, .redirected_protocol = "hello"};
inline constexpr session::ClientKindRow kPublish{.name = "hello-publish", .is_publisher = true};

class Client final : public session::Client {
public:
    Client(session::ClientTable& table, const session::ClientKindRow& kind, std::string id) : entry_(table, *this) {
        request_.kind = session::ClientKind(kind);
        request_.protocol = "hello";
        request_.id = std::move(id);
        request_.vhost = "h";
        request_.app = "live";
        request_.stream = "cam";
        plan_.url = "/live/cam";
        plan_.vhost = "__defaultVhost__";
    }
    const session::ClientRequest& request() const override { return request_; }
    session::ClientFigures figures() const override { return {.sent_bytes = 5}; }
    std::optional<session::LinkFigures> link_figures() const override {
        return session::LinkFigures{"hello", {{"greetings", std::uint64_t{3}}, {"is_polite", true}}};
    }
    void kick(std::string) override { is_ended = true; }
    bool ask_to_move(const session::Redirect& to) override {
        moved_here += to.is_here ? 1 : 0;
        return true;
    }
    void enter(TimePoint when) { stay_.emplace(entry_, plan_, when); }
    void leave() {
        stay_->end({});
        stay_.reset();
    }

    bool is_ended = false;
    int moved_here = 0;

private:
    session::ClientRequest request_;
    session::StreamPlan plan_;
    session::ClientEntry entry_;
    std::optional<session::StreamStay> stay_;
};

inline constexpr std::array kRefusals{session::Refusals("hello_unanswered", "{} greetings wait for an answer")};

inline session::Protocol describe(const session::Traffic& traffic) {
    return {.name = "hello",
            .kinds = {{session::ClientKind(kPlay), sizeof(Client)}, {session::ClientKind(kPublish), std::nullopt}},
            .refusals = kRefusals,
            .traffic = [&traffic] { return traffic; },
            .add_memory = [](std::vector<session::MemoryKind>& all) { all.push_back({"hello_greetings", 7, 70}); },
            .write_metrics =
                [](MetricsText& text) {
                    text.family("millrace_hello_greetings_total", MetricsText::Type::counter, "Greetings sent.")
                        .sample(std::uint64_t{7});
                },
            .addresses = [] { return session::addresses_of("tcp://", {"4711"}); },
            .add_urls =
                [](const session::UrlRequest& request, session::StreamUrls& urls) {
                    urls.push_back({"hello", "hello://" + std::string(request.host) + ":4711/" + std::string(request.stream)});
                },
            .self_test = [](const std::string& api_host, io::Deadline) -> Result<session::SelfTestReport> {
                if (api_host == "busy")
                    return Error(Errc::limit, "other greetings are running");
                return session::SelfTestReport{
                    .is_enabled = true,
                    .is_well = true,
                    .probes = {{"127.0.0.1", 4711, "tcp", true, std::chrono::microseconds(1500), "it says hello"}},
                    .advice = {"be polite"}};
            }};
}

}  // namespace live::hello
