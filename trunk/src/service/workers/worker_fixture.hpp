// For tests of what a process has to do with others: the test is the master.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/log/log_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "service/workers/worker_service.hpp"

namespace live::service::workers {

class WorkerFixture : public testing::Test {
protected:
    explicit WorkerFixture(const engine::workers::WorkerIdentity& identity) {
        auto [mine, its] = MUST(io::MessageSocket::pair());
        master_ = std::make_unique<io::MessageSocket>(std::move(mine));
        line_ = std::make_unique<supervisor::MasterLine>(identity, std::move(its));
    }

    void say(const engine::workers::Message& message) {
        EXPECT_TRUE(MUST(master_->try_send(engine::workers::write_message(message))));
    }

    struct Told {
        engine::workers::Message message;
        io::Socket passed;  // closed when none came along
    };
    // The next message to the master but beats; none: there is none now.
    std::optional<Told> told() {
        std::array<std::uint8_t, engine::workers::kMessageMax> packet{};
        for (;;) {
            auto got = master_->try_receive(packet);
            if (!got.ok()) {
                EXPECT_EQ(got.code(), Errc::need_more);
                return std::nullopt;
            }
            auto message = MUST(engine::workers::parse_message(Bytes(packet).first(got->size)));
            if (message.kind != engine::workers::Kind::beat)
                return Told{std::move(message), std::move(got->passed)};
        }
    }

    // Answers HTTP requests of this process to others, in a fiber of `fibers_`: with status 200 and the body that `answer`
    // returns for the request's text. Without a body, closes the connection.
    using Answer = std::function<std::optional<std::string>(engine::workers::Worker, const std::string& request)>;
    void answer_as_others(Answer answer) {
        MUST(fibers_.start("the others", [this, answer = std::move(answer)](io::Deadline forever) {
            for (;;) {
                auto link = told();
                if (!link && !master_->wait(io::Interest::readable, nullptr, forever).ok())
                    return;
                if (!link || !link->passed.is_open())
                    continue;
                const auto stream = io::stream_of(std::move(link->passed));
                std::array<std::uint8_t, 1024> request{};
                const auto size = MUST(stream->read_some(request, io::Deadline::after(io::kSoon)));
                const auto body = answer(link->message.worker, std::string(as_text(Bytes(request).first(size))));
                if (!body)
                    continue;
                const std::string whole =
                    "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body->size()) + "\r\n\r\n" + *body;
                const std::array parts{io::as_part(as_bytes(whole))};
                MUST(stream->write_all(parts, io::Deadline::after(io::kSoon)));
            }
        }));
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    NoLog sink_;
    Log log_{sink_, "test"};
    media::SlabPool slabs_;
    media::StreamTable streams_{slabs_};
    std::vector<std::uint8_t> scratch_ = std::vector<std::uint8_t>(4096);
    http_client::HttpClient http_{"test/1", scratch_, nullptr};
    io::Scope fibers_{"test"};
    std::unique_ptr<io::MessageSocket> master_;
    std::unique_ptr<supervisor::MasterLine> line_;
};

}  // namespace live::service::workers
