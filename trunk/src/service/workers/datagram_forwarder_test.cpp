#include "service/workers/datagram_forwarder.hpp"

#include "io/fibers/wait_fixture.hpp"
#include "service/workers/no_events_fixture.hpp"
#include "service/workers/worker_fixture.hpp"
#include "session/common/forwarded_datagram_vectors.hpp"

namespace live::service::workers {
namespace {

using engine::workers::Kind;
using engine::workers::Message;

// The test is the master, and the process that was there before.
class PreviousProcessTest : public WorkerFixture {
protected:
    PreviousProcessTest() : WorkerFixture({0, 0, 2}) {
        MUST(workers_.start(fibers_, io::Deadline::never()));
        MUST(workers_.attach(*line_));
        MUST(heir_.start(fibers_, io::Deadline::never()));
        MUST(old_.start(fibers_, io::Deadline::never()));
    }
    ~PreviousProcessTest() override {
        MUST(old_.stop(io::Deadline::after(io::kSoon)));
        MUST(heir_.stop(io::Deadline::after(io::kSoon)));
        MUST(fibers_.stop(io::Deadline::after(io::kSoon)));
    }

    // The socket that was asked for; closed when none was.
    io::Socket asked() {
        while (auto next = told())
            if (next->message == Message{Kind::link, 2, 1, 0, 0, ""})
                return std::move(next->passed);
        return {};
    }

    NoEvents events_;
    WorkerService workers_{{nullptr, streams_, http_, {}, {}}, events_, log_};
    std::vector<std::pair<session::ForwardedDatagram, std::string>> taken_;
    DatagramForwarder heir_{workers_, true, {}, log_};
    DatagramForwarder old_{workers_, false,
                           [this](const session::ForwardedDatagram& forwarded, MutBytes datagram) {
                               taken_.emplace_back(forwarded, as_text(datagram));
                           },
                           log_};
};

TEST_F(PreviousProcessTest, ForwardsToThePreviousProcess) {
    heir_.pass(session::kForwardedVectors[0].forwarded, as_bytes("nobody is there"));
    heir_.on_others({1});
    ASSERT_EQ(heir_.links(), 1U);
    io::Socket socket = asked();
    ASSERT_TRUE(socket.is_open());
    old_.serve(std::move(socket));
    for (const session::ForwardedDatagramVector& vector : session::kForwardedVectors)
        heir_.pass(vector.forwarded, as_bytes(vector.datagram));
    heir_.pass({}, {});
    heir_.pass({}, std::vector<std::uint8_t>(session::ForwardedDatagram::kDatagramBytesMax + 1));
    io::wait_until([this] { return taken_.size() == session::kForwardedVectors.size(); });
    EXPECT_EQ(heir_.passed(), session::kForwardedVectors.size()) << "neither nothing nor too much";
    for (std::size_t i = 0; i < taken_.size(); ++i) {
        EXPECT_EQ(taken_[i].first, session::kForwardedVectors[i].forwarded);
        EXPECT_EQ(taken_[i].second, session::kForwardedVectors[i].datagram);
    }
    // A program that comes later has the ports then.
    heir_.on_others({1, 3});
    EXPECT_EQ(heir_.links(), 1U);
    heir_.on_others({3});
    EXPECT_EQ(heir_.links(), 0U) << "the old one has ended";
}

TEST_F(PreviousProcessTest, ForwardsNothingWithoutTakingOver) {
    old_.on_others({2});
    EXPECT_EQ(old_.links(), 0U);
    EXPECT_FALSE(asked().is_open());
}

TEST_F(PreviousProcessTest, DropsDatagramsForAnEndedOrStuckProcess) {
    heir_.on_others({1});
    {
        const io::Socket stuck = asked();
        for (int i = 0; i < 10'000; ++i)
            heir_.pass(session::kForwardedVectors[0].forwarded, as_bytes("x"));
        EXPECT_LT(heir_.passed(), 10'000U);
        EXPECT_EQ(heir_.links(), 1U);
    }
    heir_.pass(session::kForwardedVectors[0].forwarded, as_bytes("x"));
    EXPECT_EQ(heir_.links(), 0U);
}

// The fourth is the second of the next two: the second has had its ports.
class DatagramForwarderTest : public WorkerFixture {
protected:
    DatagramForwarderTest() : WorkerFixture({2, 2, 4}) {
        MUST(workers_.start(fibers_, io::Deadline::never()));
        MUST(heir_.start(fibers_, io::Deadline::never()));
    }
    ~DatagramForwarderTest() override {
        MUST(heir_.stop(io::Deadline::after(io::kSoon)));
        MUST(fibers_.stop(io::Deadline::after(io::kSoon)));
    }

    NoEvents events_;
    WorkerService workers_{{line_.get(), streams_, http_, {}, {}}, events_, log_};
    DatagramForwarder heir_{workers_, true, {}, log_};
};

TEST_F(DatagramForwarderTest, ForwardsToTheOldWorkerOfTheSameNumber) {
    heir_.on_others({3});
    heir_.on_others({1, 3});
    EXPECT_EQ(heir_.links(), 0U);
    heir_.on_others({1, 2, 3});
    EXPECT_EQ(heir_.links(), 1U);
    heir_.on_others({1, 2, 3, 6});
    EXPECT_EQ(heir_.links(), 1U) << "one that came later has the ports";
    heir_.on_others({1, 3, 6});
    EXPECT_EQ(heir_.links(), 0U);
}

}  // namespace
}  // namespace live::service::workers
