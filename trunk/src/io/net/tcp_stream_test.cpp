#include "io/net/tcp_stream.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/spin_fixture.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/tcp_listener.hpp"

namespace live::io {
namespace {

using Interest = TcpStream::Interest;

class TcpStreamTest : public testing::Test {
protected:
    TcpStreamTest() {
        client_ = MUST(TcpStream::connect(listener_->endpoint(), Deadline::after(kSoon)));
        server_ = MUST(listener_->accept(Deadline::after(kSoon)));
    }

    static Result<void> send(TcpStream& to, std::string_view text) {
        const ::iovec part = as_part(as_bytes(text));
        return to.write_all({&part, 1}, Deadline::after(kSoon));
    }
    static std::string receive(TcpStream& from, std::size_t count) {
        std::string text(count, '\0');
        std::size_t got = 0;
        while (got < count)
            got +=
                MUST(from.read_some({reinterpret_cast<std::uint8_t*>(text.data()) + got, count - got}, Deadline::after(kSoon)));
        return text;
    }
    // Writes until the kernel takes no more.
    static std::size_t fill(TcpStream& stream) {
        const std::string block(64 * 1024, 'f');
        const ::iovec part = as_part(as_bytes(block));
        std::size_t sum = 0;
        while (const std::size_t taken = MUST(stream.try_write({&part, 1})))
            sum += taken;
        return sum;
    }

    std::unique_ptr<Loop> loop_ = MUST(Loop::create());
    std::unique_ptr<TcpListener> listener_ = MUST(TcpListener::listen({"127.0.0.1", 0}));
    std::unique_ptr<TcpStream> client_;
    std::unique_ptr<TcpStream> server_;
    std::array<std::uint8_t, 4096> buffer_{};
};

TEST_F(TcpStreamTest, BytesArriveInOrderFromManyParts) {
    const std::string first = "one ", second, third = "two ", fourth(100'000, 'x');
    const std::vector<::iovec> parts{as_part(as_bytes(first)), as_part(as_bytes(second)), as_part(as_bytes(third)),
                                     as_part(as_bytes(fourth))};
    Scope scope("test");
    MUST(scope.start("writer", [&](Deadline) { MUST(client_->write_all(parts, Deadline::after(kSoon))); }));
    EXPECT_EQ(receive(*server_, 8 + fourth.size()), first + third + fourth);
    MUST(scope.join(Deadline::after(kSoon)));
}

TEST_F(TcpStreamTest, SendsMorePartsThanOneCallTakes) {
    const std::string digit = "0123456789";
    const std::vector<::iovec> parts(TcpStream::kPartsMax * 2 + 17, as_part(as_bytes(digit)));
    EXPECT_EQ(MUST(client_->try_write(parts)), TcpStream::kPartsMax * digit.size());
    MUST(client_->write_all(parts, Deadline::after(kSoon)));
    const std::string all = receive(*server_, digit.size() * (parts.size() + TcpStream::kPartsMax));
    for (std::size_t i = 0; i < all.size(); ++i)
        ASSERT_EQ(all[i], digit[i % digit.size()]) << i;
}

TEST_F(TcpStreamTest, AWriterWaitsForASlowReaderAndLosesNothing) {
    std::string sent(8'000'000, '\0');
    for (std::size_t i = 0; i < sent.size(); ++i)
        sent[i] = static_cast<char>(i * 7 + i / 251);
    Scope scope("test");
    MUST(scope.start("writer", [&](Deadline) { MUST(send(*client_, sent)); }));
    MUST(sleep(Deadline::after(2ms)));
    EXPECT_EQ(scope.size(), 1U);
    EXPECT_TRUE(receive(*server_, sent.size()) == sent);
    MUST(scope.join(Deadline::after(kSoon)));
}

TEST(Parts, FirstBytesShortensTheLastPart) {
    const auto sizes = [](std::size_t bytes) {
        std::vector<::iovec> parts{as_part(as_bytes("one")), as_part(as_bytes("")), as_part(as_bytes("seven"))};
        std::vector<std::size_t> lengths;
        for (const ::iovec& part : first_bytes(parts, bytes))
            lengths.push_back(part.iov_len);
        return lengths;
    };
    EXPECT_EQ(sizes(0), (std::vector<std::size_t>{0}));
    EXPECT_EQ(sizes(2), (std::vector<std::size_t>{2}));
    EXPECT_EQ(sizes(3), (std::vector<std::size_t>{3}));
    EXPECT_EQ(sizes(5), (std::vector<std::size_t>{3, 0, 2}));
    EXPECT_EQ(sizes(100), (std::vector<std::size_t>{3, 0, 5}));
    EXPECT_TRUE(first_bytes({}, 7).empty());
}

TEST_F(TcpStreamTest, BytesThatWereLookedAtStayInTheSocket) {
    EXPECT_EQ(server_->try_peek(buffer_).code(), Errc::need_more);
    MUST(send(*client_, "hello"));
    MUST(server_->wait_readable(Deadline::after(kSoon)));
    EXPECT_EQ(MUST(server_->try_peek(buffer_)), 5U);
    EXPECT_EQ(MUST(server_->try_peek(MutBytes(buffer_).first(2))), 2U);
    EXPECT_EQ(receive(*server_, 5), "hello");
    client_.reset();
    MUST(server_->wait_readable(Deadline::after(kSoon)));
    EXPECT_EQ(server_->try_peek(buffer_).code(), Errc::closed);
    server_->close();
    EXPECT_EQ(server_->try_peek(buffer_).code(), Errc::closed);
}

TEST_F(TcpStreamTest, NoDelayIsAnOptionOfTheSocket) {
    for (const bool on : {true, false}) {
        MUST(server_->set_no_delay(on));
        EXPECT_EQ(server_->no_delay(), on);
    }
}

TEST_F(TcpStreamTest, ReadsTimeOut) {
    EXPECT_EQ(server_->read_some(buffer_, Deadline::after(1ms)).code(), Errc::timed_out);
    EXPECT_EQ(server_->wait_readable(Deadline::after(1ms)).code(), Errc::timed_out);
    MUST(send(*client_, "late"));
    EXPECT_EQ(receive(*server_, 4), "late");
}

TEST_F(TcpStreamTest, ReportsClosedAfterThePeersLastByte) {
    EXPECT_EQ(server_->read_some(buffer_, Deadline::after(1ms)).code(), Errc::timed_out);
    MUST(send(*client_, "abc"));
    MUST(client_->shutdown_write());
    EXPECT_EQ(receive(*server_, 3), "abc");
    EXPECT_EQ(server_->read_some(buffer_, Deadline::after(kSoon)).code(), Errc::closed);
    EXPECT_EQ(server_->try_read(buffer_).code(), Errc::closed);
    // The other direction still works: it blocks when full and resumes when the peer reads.
    const std::size_t filled = fill(*server_);
    EXPECT_EQ(server_->wait_ready(Interest::writable, nullptr, Deadline::after(1ms))->timed_out, true);
    EXPECT_EQ(receive(*client_, filled).size(), filled);
    EXPECT_TRUE(MUST(server_->wait_ready(Interest::writable, nullptr, Deadline::after(kSoon))).writable);
}

// The reader has waited once, so the descriptor is registered. Data and the end arrive together, and a short read takes the
// data.
TEST_F(TcpStreamTest, DetectsAHalfCloseWithTheLastData) {
    for (int round = 0; round < 50; ++round) {
        auto client = MUST(TcpStream::connect(listener_->endpoint(), Deadline::after(kSoon)));
        auto server = MUST(listener_->accept(Deadline::after(kSoon)));
        EXPECT_EQ(server->read_some(buffer_, Deadline::after(0ms)).code(), Errc::timed_out);
        MUST(send(*client, "abc"));
        if (round % 2 == 0)
            MUST(sleep(Deadline::after(200us)));
        client.reset();
        EXPECT_EQ(receive(*server, 3), "abc");
        EXPECT_EQ(server->read_some(buffer_, Deadline::after(kSoon)).code(), Errc::closed);
    }
}

TEST_F(TcpStreamTest, TryReadAndTryWriteNeverWait) {
    EXPECT_EQ(server_->try_read(buffer_).code(), Errc::need_more);
    EXPECT_GT(fill(*client_), 0U);
    const ::iovec part = as_part(as_bytes("more"));
    EXPECT_EQ(MUST(client_->try_write({&part, 1})), 0U);
    EXPECT_EQ(MUST(client_->try_write({})), 0U);
}

TEST_F(TcpStreamTest, WaitReadyEndsAtTheFirstEvent) {
    Signal signal;
    auto ready = MUST(server_->wait_ready(Interest::both, &signal, Deadline::after(kSoon)));
    EXPECT_TRUE(ready.writable && !ready.readable && !ready.signalled && !ready.timed_out);

    ready = MUST(server_->wait_ready(Interest::readable, &signal, Deadline::after(1ms)));
    EXPECT_TRUE(ready.timed_out && !ready.writable && !ready.readable && !ready.signalled);

    MUST(send(*client_, "x"));
    ready = MUST(server_->wait_ready(Interest::readable, &signal, Deadline::after(kSoon)));
    EXPECT_TRUE(ready.readable && !ready.signalled && !ready.timed_out);
    // Readiness that was reported but not used is reported again.
    EXPECT_TRUE(MUST(server_->wait_ready(Interest::readable, &signal, Deadline::after(kSoon))).readable);
    EXPECT_EQ(MUST(server_->try_read(buffer_)), 1U);

    signal.raise();
    ready = MUST(server_->wait_ready(Interest::readable, &signal, Deadline::never()));
    EXPECT_TRUE(ready.signalled && !ready.readable && !ready.timed_out);
    EXPECT_FALSE(signal.is_raised());
    EXPECT_FALSE(signal.has_waiter());

    Scope scope("test");
    MUST(scope.start("raiser", [&](Deadline) { signal.raise(); }));
    EXPECT_TRUE(MUST(server_->wait_ready(Interest::none, &signal, Deadline::never())).signalled);
    MUST(scope.join(Deadline::after(kSoon)));
}

TEST_F(TcpStreamTest, AFullSocketBecomesWritableWhenThePeerReads) {
    const std::size_t filled = fill(*client_);
    Scope scope("test");
    bool writable = false;
    MUST(scope.start("writer", [&](Deadline) {
        writable = MUST(client_->wait_ready(Interest::both, nullptr, Deadline::after(kSoon))).writable;
    }));
    EXPECT_EQ(receive(*server_, filled).size(), filled);
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_TRUE(writable);
}

TEST_F(TcpStreamTest, ClosingWakesWaiters) {
    Scope scope("test");
    std::vector<Errc> ends;
    MUST(scope.start("reader", [&](Deadline) { ends.push_back(server_->read_some(buffer_, Deadline::never()).code()); }));
    MUST(scope.start(
        "waiter", [&](Deadline) { ends.push_back(server_->wait_ready(Interest::readable, nullptr, Deadline::never()).code()); }));
    MUST(yield(Deadline::never()));
    server_->close();
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_EQ(ends, (std::vector<Errc>{Errc::closed, Errc::closed}));
    EXPECT_EQ(server_->try_read(buffer_).code(), Errc::closed);
    EXPECT_EQ(send(*server_, "x").code(), Errc::closed);
    EXPECT_EQ(server_->wait_readable(Deadline::never()).code(), Errc::closed);
}

// The closed descriptor's number is reused for the next connection at once, before the woken fiber has run.
TEST_F(TcpStreamTest, OldWaiterIgnoresReusedDescriptorNumber) {
    Scope scope("test");
    Errc end = Errc::system;
    MUST(scope.start("reader", [&](Deadline) { end = server_->read_some(buffer_, Deadline::never()).code(); }));
    MUST(yield(Deadline::never()));
    const int number = server_->native_handle();
    server_->close();
    auto next = MUST(TcpStream::connect(listener_->endpoint(), Deadline::after(kSoon)));
    EXPECT_EQ(next->native_handle(), number);
    auto accepted = MUST(listener_->accept(Deadline::after(kSoon)));
    MUST(send(*accepted, "for the new one"));
    EXPECT_EQ(receive(*next, 15), "for the new one");
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_EQ(end, Errc::closed);
}

TEST_F(TcpStreamTest, CancelEndsAReadButNotTheStream) {
    Scope scope("test");
    Errc end = Errc::system;
    MUST(scope.start("reader", [&](Deadline) { end = server_->read_some(buffer_, Deadline::never()).code(); }));
    MUST(yield(Deadline::never()));
    MUST(scope.stop(Deadline::after(kSoon)));
    EXPECT_EQ(end, Errc::cancelled);
    MUST(send(*client_, "still here"));
    EXPECT_EQ(receive(*server_, 10), "still here");
}

TEST_F(TcpStreamTest, AForgottenSocketWakesItsNextWaiter) {
    EXPECT_EQ(server_->read_some(buffer_, Deadline::after(0ms)).code(), Errc::timed_out);
    server_->forget();
    MUST(send(*client_, "beat"));
    EXPECT_EQ(receive(*server_, 4), "beat");
    server_->forget();
    EXPECT_EQ(server_->try_read(buffer_).code(), Errc::need_more);
    EXPECT_EQ(server_->read_some(buffer_, Deadline::after(1ms)).code(), Errc::timed_out);
    MUST(send(*client_, "again"));
    EXPECT_EQ(receive(*server_, 5), "again");
}

TEST_F(TcpStreamTest, ManyReadersOfOneStreamShareItsBytes) {
    Scope scope("test");
    std::size_t got = 0;
    for (int i = 0; i < 20; ++i)
        MUST(scope.start("reader", [&](Deadline) {
            std::array<std::uint8_t, 1> byte{};
            got += MUST(server_->read_some(byte, Deadline::after(kSoon)));
        }));
    for (int i = 0; i < 20; ++i) {
        MUST(send(*client_, "z"));
        if (i % 3 == 0)
            MUST(yield(Deadline::never()));
    }
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_EQ(got, 20U);
}

TEST_F(TcpStreamTest, ReaderThatAlwaysHasDataLetsOthersRun) {
    Scope scope("test");
    bool stop = false;
    const std::string block(200'000, 'b');
    MUST(scope.start("writer", [&](Deadline) {
        while (!stop && send(*client_, block).ok()) {
        }
        client_->close();
    }));
    MUST(scope.start("reader", [&](Deadline) {
        while (server_->read_some({buffer_.data(), 64}, Deadline::after(kSoon)).ok()) {
        }
    }));
    MUST(sleep(Deadline::after(5ms)));
    stop = true;
    server_->close();
    MUST(scope.join(Deadline::after(kSoon)));
}

TEST_F(TcpStreamTest, SlowReaderYieldsByElapsedTimeNotByReadCount) {
    Scope scope("test");
    bool is_over = false;
    MUST(send(*client_, std::string(1'000, 'b')));
    std::chrono::nanoseconds longest{};
    MUST(scope.start("other", [&](Deadline) {
        auto last = cpu_time();
        while (!is_over) {
            MUST(yield(Deadline::never()));
            const auto now = cpu_time();
            longest = std::max(longest, now - std::exchange(last, now));
        }
    }));
    MUST(scope.start("reader", [&](Deadline) {
        for (int i = 0; i < 60; ++i) {
            MUST(server_->read_some({buffer_.data(), 1}, Deadline::after(kSoon)));
            spin(2ms);
        }
        is_over = true;
    }));
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_LT(longest, 100ms) << "of 120 ms of work";
}

TEST_F(TcpStreamTest, WriteToDisconnectedPeerReturnsClosed) {
    client_.reset();
    const auto limit = Deadline::after(kSoon);
    Errc end = Errc::need_more;
    while (end == Errc::need_more && !limit.expired()) {
        const auto sent = send(*server_, "anybody?");
        if (!sent.ok())
            end = sent.code();
        MUST(sleep(Deadline::after(100us)));
    }
    EXPECT_EQ(end, Errc::closed);
}

TEST_F(TcpStreamTest, HasLocalAndPeerAddresses) {
    EXPECT_EQ(client_->peer(), listener_->endpoint().text());
    EXPECT_EQ(client_->peer_ip(), "127.0.0.1");
    EXPECT_EQ(server_->local_ip(), "127.0.0.1");
    EXPECT_EQ(server_->peer(), client_->local_endpoint().text());
    EXPECT_TRUE(server_->set_no_delay(true).ok());
    EXPECT_TRUE(server_->set_send_buffer(128 * 1024).ok());
    EXPECT_TRUE(server_->set_not_sent_lowat(128 * 1024).ok());
}

TEST_F(TcpStreamTest, RefusedConnectionReturnsClosed) {
    const Endpoint gone = listener_->endpoint();
    listener_.reset();
    EXPECT_EQ(TcpStream::connect(gone, Deadline::after(kSoon)).code(), Errc::closed);
    EXPECT_EQ(TcpStream::connect({"not an address", 80}, Deadline::after(kSoon)).code(), Errc::malformed);
}

// A listener whose queue is full does not answer further connection requests.
TEST_F(TcpStreamTest, ASignalEndsAnUnansweredConnect) {
    ASSERT_EQ(::listen(listener_->native_handle(), 0), 0);
    const auto first = MUST(TcpStream::connect(listener_->endpoint(), Deadline::after(kSoon)));
    const auto limit = std::chrono::milliseconds(20);
    EXPECT_EQ(TcpStream::connect(listener_->endpoint(), Deadline::after(limit)).code(), Errc::timed_out);
    Signal signal;
    EXPECT_EQ(TcpStream::connect(listener_->endpoint(), Deadline::after(limit), &signal).code(), Errc::timed_out);
    Scope scope("test");
    MUST(scope.start("raiser", [&](Deadline) { signal.raise(); }));
    EXPECT_EQ(TcpStream::connect(listener_->endpoint(), Deadline::after(kSoon), &signal).code(), Errc::cancelled);
    EXPECT_FALSE(signal.is_raised());
    MUST(scope.join(Deadline::after(kSoon)));
}

// 40 clients send framed random data in small pieces and compare the echo: short reads, full sockets and timers at once.
TEST_F(TcpStreamTest, ManyClientsReceiveTheirEchoesIntact) {
    Scope servers("servers");
    Scope clients("clients");
    MUST(servers.start("accept", [&](Deadline) {
        while (auto stream = listener_->accept(Deadline::never())) {
            const std::shared_ptr<TcpStream> shared = std::move(stream).value();  // std::function copies what it holds
            MUST(servers.start("echo", [shared](Deadline) {
                std::array<std::uint8_t, 3000> block{};
                while (auto got = shared->read_some(block, Deadline::after(kSoon))) {
                    const ::iovec part{block.data(), *got};
                    MUST(shared->write_all({&part, 1}, Deadline::after(kSoon)));
                }
            }));
        }
    }));
    int done = 0;
    for (unsigned seed = 1; seed <= 40; ++seed)
        MUST(clients.start("client", [&, seed](Deadline) mutable {
            const auto stream = MUST(TcpStream::connect(listener_->endpoint(), Deadline::after(kSoon)));
            for (int round = 0; round < 4; ++round) {
                std::string out(1 + static_cast<std::size_t>(rand_r(&seed)) % (round == 2 ? 300'000U : 20'000U), '\0');
                std::generate(out.begin(), out.end(), [&] { return static_cast<char>(rand_r(&seed)); });
                Scope sender("sender");
                MUST(sender.start("send", [&](Deadline) {
                    for (std::size_t at = 0; at < out.size();) {
                        const std::size_t step = std::min(out.size() - at, 1 + static_cast<std::size_t>(rand_r(&seed)) % 40'000U);
                        MUST(send(*stream, std::string_view(out).substr(at, step)));
                        at += step;
                        if (rand_r(&seed) % 3 == 0)
                            MUST(sleep(Deadline::after(100us)));
                    }
                }));
                EXPECT_TRUE(receive(*stream, out.size()) == out);
                MUST(sender.join(Deadline::after(kSoon)));
            }
            ++done;
        }));
    MUST(clients.join(Deadline::after(60s)));
    MUST(servers.stop(Deadline::after(kSoon)));
    EXPECT_EQ(done, 40);
}

// Streams that may be woken together, each with a reader that counts its bytes until its peer ends.
class CoalescedWakesTest : public TcpStreamTest {
protected:
    static constexpr std::size_t kStreams = 8;

    CoalescedWakesTest() {
        for (std::size_t i = 0; i < kStreams; ++i) {
            peers_.push_back(MUST(TcpStream::connect(listener_->endpoint(), Deadline::after(kSoon))));
            streams_.push_back(MUST(listener_->accept(Deadline::after(kSoon))));
            MUST(scope_.start("reader", [this, i](Deadline) { read(i); }));
        }
        // The first half before they wait, the others while they do.
        for (std::size_t i = 0; i < kStreams; ++i) {
            if (i == kStreams / 2)
                MUST(sleep(Deadline::after(1ms)));
            streams_[i]->coalesce_wakes();
            streams_[i]->coalesce_wakes();  // a second call has no effect
        }
        calm_down();
    }
    ~CoalescedWakesTest() override { MUST(scope_.stop(Deadline::after(kSoon))); }

    void read(std::size_t i) {
        std::array<std::uint8_t, 16> buffer{};
        for (;;) {
            const auto got = streams_[i]->read_some(buffer, Deadline::never());
            if (!got.ok()) {
                ++ended_[i];
                return;
            }
            got_[i] += *got;
        }
    }
    // Writes one byte and waits until it has arrived: a busy kernel delivers late, even on the loopback interface.
    void write(std::size_t i) {
        MUST(send(*peers_[i], "x"));
        ::pollfd arrived{.fd = streams_[i]->native_handle(), .events = POLLIN, .revents = 0};
        EXPECT_EQ(::poll(&arrived, 1, 5'000), 1);
    }
    // Waits until no events are held back and no descriptor counts as active in every turn. The loop turns several times, even
    // if the process is suspended for the whole wait.
    static void calm_down() {
        for (int turns = 0; turns < 3; ++turns)
            MUST(sleep(Deadline::after(6ms)));
    }
    // Lets the loop deliver and handle all pending events.
    static void poll() {
        MUST(yield(Deadline::never()));
        MUST(yield(Deadline::never()));
    }
    // Writes to all open streams at once, so that the next events have to wait.
    void keep_busy() {
        for (std::size_t i = 0; i < kStreams; ++i) {
            if (ended_[i] == 0)
                write(i);
        }
        poll();
    }

    std::vector<std::unique_ptr<TcpStream>> peers_, streams_;
    std::array<std::size_t, kStreams> got_{}, ended_{};
    Scope scope_{"test"};
};

TEST_F(CoalescedWakesTest, WakesASingleReaderAtOnce) {
    for (std::size_t round = 1; round <= 20; ++round) {
        write(3);
        poll();
        EXPECT_EQ(got_[3], round);
    }
}

TEST_F(CoalescedWakesTest, ManyReadersWaitForTheirTurn) {
    int held = 0;
    for (std::size_t round = 1; round <= 20; ++round) {
        calm_down();
        keep_busy();
        write(3);
        poll();
        held += got_[3] == 2 * round - 1 ? 1 : 0;
        wait_until([&] { return got_[3] == 2 * round; });
    }
    // It would be 0 only on a machine that stalls for 5 ms at this point every time.
    EXPECT_GT(held, 0);
    EXPECT_EQ(got_[0], 20U);
}

TEST_F(CoalescedWakesTest, ClosingWakesAReaderThatWaitsForItsTurn) {
    keep_busy();
    const int number = streams_[3]->native_handle();
    streams_[3]->close();
    peers_[5].reset();
    wait_until([&] { return ended_[3] == 1 && ended_[5] == 1; });
    // The number is reused, for a stream that is not coalesced.
    auto fresh = MUST(TcpStream::connect(listener_->endpoint(), Deadline::after(kSoon)));
    ASSERT_EQ(fresh->native_handle(), number);
    auto peer = MUST(listener_->accept(Deadline::after(kSoon)));
    bool woken = false;
    MUST(scope_.start("fresh", [&](Deadline) { woken = fresh->wait_readable(Deadline::after(kSoon)).ok(); }));
    poll();
    keep_busy();
    MUST(send(*peer, "x"));
    poll();
    EXPECT_TRUE(woken);
}

}  // namespace
}  // namespace live::io
