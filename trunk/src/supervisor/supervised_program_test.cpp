// Not a test: the program that tests of this room start.
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "supervisor/inherited_resources.hpp"
#include "supervisor/line/start_variables.hpp"
#include "supervisor/program_fixture.hpp"

namespace live::supervisor {
namespace {

using engine::workers::Kind;
using engine::workers::Message;
using engine::workers::Worker;

constexpr int kDeathStatus = 3;
constexpr int kFailureStatus = 7;

// The first process that creates the file.
bool is_first(const std::string& file) { return ::open(file.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600) >= 0; }

class Program {
public:
    explicit Program(std::string plan)
        : plan_(std::move(plan)),
          started_(started_by(config::process_environment())),
          line_(started_.identity, MUST(io::MessageSocket::adopt(io::kPassedHandle))) {}

    void run() {
        if (plan_ == "die")
            ::_exit(kDeathStatus);
        if (started_.identity.is_worker())
            MUST(line_.take_tally(started_.secret, soon()));
        if (!started_.identity.is_worker() || line_.inherits())
            inherit();
        if (plan_ == "fail")
            fail();
        if (plan_ != "mute")
            send({Kind::ready});
        if (plan_.starts_with("serve and die once ") && is_first(plan_.substr(19)))
            ::_exit(kDeathStatus);
        for (;;)
            answer();
    }

private:
    static io::Deadline soon() { return io::Deadline::after(io::kSoon); }

    void send(const Message& message, io::Socket passed = {}) {
        line_.send(message, std::move(passed));
        if (!line_.flush_all(soon()).ok())
            ::_exit(0);  // its master is gone
    }
    void inherit() {
        auto received = receive_inherited(line_, soon());
        if (!received.ok())
            ::_exit(kDeathStatus);
        inherited_ = *std::move(received);
    }
    [[noreturn]] void fail() {
        send({Kind::failed, 0, 0, kFailureStatus, 0, "the port is taken"});
        ::_exit(kFailureStatus);
    }
    void answer() {
        auto incoming = line_.next("", io::Deadline::after(500ms));
        if (!incoming.ok() && incoming.code() != Errc::timed_out)
            ::_exit(0);  // its master is gone
        if (!incoming.ok())
            return send({Kind::beat});
        switch (incoming->message.kind) {
            case Kind::give: give(); break;
            case Kind::upgraded:
                if (incoming->message.flag == 0 && plan_ != "serve and keep")
                    send({Kind::handed});
                break;
            // So that tests see what it receives.
            case Kind::take: send({Kind::announce, 0, 0, 0, 0, "/taken/" + std::to_string(started_.identity.id)}); break;
            case Kind::member: workers_.push_back(std::move(incoming->passed)); break;
            default: break;
        }
    }
    void give() {
        auto [here, there] = MUST(io::stream_pair());
        send({Kind::gift, 0, 0, 0, 0, "tcp 127.0.0.1:" + std::to_string(1'000 + started_.identity.number)}, std::move(there));
        kept_ = std::move(here);
        send({Kind::given});
    }

    const std::string plan_;
    const StartedBy started_;
    MasterLine line_;
    InheritedResources inherited_;
    io::Socket kept_;
    std::vector<io::Socket> workers_;  // lines of the previous master
};

TEST(SupervisedProgram, DISABLED_Run) {
    const char* const plan = std::getenv(kPlanVariable);
    if (plan == nullptr)
        GTEST_SKIP() << "it is started by other tests";
    const auto loop = MUST(io::Loop::create());
    Program(plan).run();
}

}  // namespace
}  // namespace live::supervisor
