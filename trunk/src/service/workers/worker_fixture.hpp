// For tests of what a process has to do with others: the test is the master.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/log_fixture.hpp"
#include "io/loop.hpp"
#include "io/wait_fixture.hpp"
#include "service/workers/worker_service.hpp"

namespace live::service::workers {

class WorkerFixture : public testing::Test {
protected:
    explicit WorkerFixture(const Seat& seat) {
        auto [mine, its] = MUST(io::MessageSocket::pair());
        master_ = std::make_unique<io::MessageSocket>(std::move(mine));
        line_ = std::make_unique<MasterLine>(seat, std::move(its));
    }

    void say(const engine::workers::Message& message) {
        EXPECT_TRUE(MUST(master_->try_send(engine::workers::write_message(message))));
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
    std::unique_ptr<MasterLine> line_;
};

}  // namespace live::service::workers
