// A property of outputs: a node that relays a stream with renditions makes the segments of the node that has the publisher, byte
// for byte, although the packets of renditions are late.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/rounds_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "media/ingest/rendition.hpp"
#include "media/source/publication.hpp"
#include "media/source/stream_table.hpp"
#include "service/segments/output.hpp"
#include "service/segments/segmenter_fixture.hpp"

namespace live::service::segments {
namespace {

constexpr MediaTime kStep = 40ms;

// Keeps the segments of its Output.
class KeptSegments final : public Output, private SegmentWriter {
public:
    explicit KeptSegments(const Ref<media::Source>& source)
        : Output({"TEST", "test", 1, media::WakeMode::at_once, std::make_shared<StreamOfFiles>()}, *this, source,
                 {two_second_cuts(), Segmenter::Layout::by_track, make_cmaf()}, Log()) {}

    using Output::kept_bytes;

    std::map<std::uint64_t, std::vector<std::vector<std::uint8_t>>> segments;  // the bytes of each track
    std::size_t resumed = 0;

private:
    void on_publisher_change(const std::optional<session::ClientRequest>&, io::Deadline) override {}
    bool accept(const media::Packet&, io::Deadline) override { return true; }
    void on_segment_sync(const SegmentSync&, io::Deadline) override {}
    void on_headers(const HeadersChanged&) override {}
    void on_opened(const SegmentState& state) override { publish(state, {state.number}); }
    void on_part(PartMade) override {}
    void on_segment(SegmentMade event, io::Deadline) override {
        auto& tracks = segments[event.number];
        tracks.clear();
        for (const Piece& piece : event.pieces)
            tracks.push_back(bytes_of(piece.blocks));
    }
    void on_dropped(const SegmentDropped&) override {}
    void on_resumed(const Resumed&) override { ++resumed; }
    void dispose(io::Deadline) override {}
    Duration time_after_end() const override { return 3600s; }
    void finish() override {}
};

// A source with its output.
struct Node {
    Node(media::StreamTable& streams, const std::string& url) : source(MUST(streams.find_or_create(url, {}, 60'000))) {
        output = std::make_unique<KeptSegments>(source);
        MUST(fibers.start("output", [this](io::Deadline deadline) { output->run(deadline); }));
    }
    ~Node() {
        publication.reset();
        MUST(fibers.stop(io::Deadline::after(io::kSoon)));
    }
    void publish(session::ClientKind kind) {
        publication = MUST(media::Publication::start(source, media::Takeover::replace));
        session::ClientRequest request;
        request.kind = kind;
        output->on_published(request);
    }

    Ref<media::Source> source;
    std::unique_ptr<media::Publication> publication;
    std::unique_ptr<KeptSegments> output;
    io::Scope fibers{"output"};
};

// Sends the packets and messages of the origin to the edge, in order.
struct Relay {
    // Joins with the newest configurations and messages, and the packets from the newest key frame of the stream on.
    void join(bool again = false) {
        edge.publish(session::ClientKind::relay_pull);
        if (again)
            edge.source->append_sync({std::string(media::kRelayStart), {}, {}});
        const media::Tracks& tracks = origin.source->tracks();
        for (const MediaKind kind : {MediaKind::audio, MediaKind::video})
            if (tracks.config(kind).is_config())
                send(tracks.config(kind));
        for (const media::Packet& config : tracks.extra_configs())
            send(config);
        for (const media::SyncLog::Entry& entry : origin.source->syncs().newest())
            edge.source->append_sync(media::SyncMessage(entry.message));
        const media::Ring& ring = origin.source->ring();
        next = ring.next();
        const auto is_start = [](const media::Packet& one) { return one.kind == MediaKind::video && one.key && !one.extra; };
        while (next > ring.first() && (next == ring.next() || !is_start(ring.at(next))))
            --next;
        next_sync = origin.source->syncs().next();
        const media::Sequence from = ring.next();
        for (; next < from; ++next)
            send(ring.at(next));
    }
    void run() {
        const media::Ring& ring = origin.source->ring();
        for (;;) {
            if (next_sync < origin.source->syncs().next() && origin.source->syncs().at(next_sync).before <= next)
                edge.source->append_sync(media::SyncMessage(origin.source->syncs().at(next_sync++).message));
            else if (next < ring.next())
                send(ring.at(next++));
            else
                break;
        }
        edge.source->flush();
    }
    void send(media::Packet packet) {
        if (packet.is_config())
            packet.dts = edge.source->ring().empty() ? MediaTime() : edge.source->ring().newest().dts;
        edge.source->append(std::move(packet));
    }

    Node& origin;
    Node& edge;
    media::Sequence next{};
    std::uint64_t next_sync = 0;
};

// A publisher with audio and video, whose key frames are 0.6 s to 2 s apart, and encoders of renditions, each with a delay that
// changes.
struct Publisher {
    Publisher(Node& node, std::uint32_t seed) : origin(node), random(seed) {
        origin.publish(session::ClientKind::fmle_publish);
        origin.source->publications().expect_renditions(kRungs);
        origin.source->publications().name_renditions(media::Publications::NamedBy::maker, {kNames.begin(), kNames.end()});
        origin.source->announce_renditions();
        origin.source->append(config_packet(MediaKind::video, avc_config(), at));
        origin.source->append(config_packet(MediaKind::audio, aac_config(), at));
    }
    void step() {
        const bool key = --until_key <= 0;
        if (key)
            until_key = static_cast<int>(15 + random() % 35);
        origin.source->append(media::tag_packet(MediaKind::video, key, false, at, picture(key, 0, 20 + random() % 500)));
        for (; audio_at <= at; audio_at += 20ms)
            origin.source->append(media::tag_packet(MediaKind::audio, false, false, audio_at, audio(10 + random() % 100)));
        encoded.emplace_back(at, key);
        at += kStep;
        for (Rung& rung : rungs) {
            if (random() % 40 == 0)
                rung.delay = 3 + random() % 50;
            while (rung.next + rung.delay < encoded.size())
                encode(rung);
        }
        origin.source->flush();
    }
    // The child process ends. Its renditions leave.
    void end_child() {
        for (Rung& rung : rungs)
            rung.rendition.reset();
    }

    static constexpr std::size_t kRungs = 2;
    static constexpr std::array<const char*, kRungs> kNames{"240p", "120p"};

private:
    struct Rung {
        std::size_t next = 0;  // frame
        std::size_t delay = 20;
        std::unique_ptr<media::Rendition> rendition;
    };

    void encode(Rung& rung) {
        const auto& [dts, key] = encoded[rung.next++];
        if (rung.rendition == nullptr && !key)
            return;
        if (rung.rendition == nullptr) {
            const std::string name = kNames[&rung == rungs.data() ? 0 : 1];
            rung.rendition = MUST(media::Rendition::start(origin.source, {{MediaKind::video, {}, "", name}}));
            push(rung, config_packet(MediaKind::video, avc_config(), dts));
        }
        push(rung, media::tag_packet(MediaKind::video, key, false, dts, picture(key, 0, 20 + random() % 100)));
    }
    static void push(const Rung& rung, const media::Packet& packet) {
        wire::codec::Frame frame = frame_of(packet);
        frame.track = {};
        rung.rendition->push_frame(MediaKind::video, std::move(frame));
    }

    Node& origin;
    std::mt19937 random;
    MediaTime at{};
    MediaTime audio_at{};
    int until_key = 0;
    std::vector<std::pair<MediaTime, bool>> encoded;
    std::array<Rung, kRungs> rungs;
};

class OutputRenditionsTest : public testing::Test {
protected:
    static inline const std::uint32_t kSeeds = rounds(4U, 30U);

    void run(Publisher& publisher, Relay& relay, int seconds) {
        for (int i = 0; i < 25 * seconds; ++i) {
            publisher.step();
            // Outputs are some packets behind.
            if (random_() % 3 == 0)
                static_cast<void>(io::yield(io::Deadline::never()));
            relay.run();
        }
    }
    void wait_for(const Node& node, std::uint64_t segment) {
        io::wait_until([&] { return node.output->segments.contains(segment); });
    }
    static void expect_same(const Node& edge, const Node& origin) {
        for (const auto& [number, tracks] : edge.output->segments) {
            ASSERT_TRUE(origin.output->segments.contains(number)) << number;
            EXPECT_TRUE(origin.output->segments.at(number) == tracks) << number;
        }
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    media::SlabPool pool_;
    media::StreamTable streams_{pool_};
    std::mt19937 random_;
};

TEST_F(OutputRenditionsTest, AnEdgeMakesTheSegmentsOfTheOrigin) {
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        random_.seed(seed);
        Node origin(streams_, "/live/origin" + std::to_string(seed));
        Node edge(streams_, "/live/edge" + std::to_string(seed));
        Relay relay{origin, edge};
        Publisher publisher(origin, seed);
        relay.join();
        run(publisher, relay, 30);
        const std::size_t made = origin.output->segments.size();
        EXPECT_GE(made, 8U);
        EXPECT_EQ(origin.output->segments.at(1).size(), 2 + Publisher::kRungs);
        wait_for(edge, origin.output->segments.rbegin()->first - 1);
        EXPECT_GE(edge.output->segments.size() + 1, made);
        EXPECT_LE(edge.output->resumed, 1U) << "a node gets the configurations in another order";
        expect_same(edge, origin);
    }
}

// From the second message after the join on, it has all segments.
TEST_F(OutputRenditionsTest, AnEdgeThatJoinsMakesTheSegmentsOfTheOrigin) {
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        random_.seed(seed);
        Node origin(streams_, "/live/origin" + std::to_string(seed));
        Node edge(streams_, "/live/edge" + std::to_string(seed));
        Relay relay{origin, edge};
        Publisher publisher(origin, seed);
        for (std::uint32_t i = 0; i < 200 + 13 * seed; ++i) {
            publisher.step();
            static_cast<void>(io::yield(io::Deadline::never()));
        }
        relay.join();
        const std::uint64_t first = origin.output->segments.rbegin()->first + 3;
        run(publisher, relay, 25);
        const std::uint64_t last = origin.output->segments.rbegin()->first - 1;
        wait_for(edge, last);
        for (std::uint64_t number = first; number <= last; ++number)
            EXPECT_TRUE(edge.output->segments.contains(number)) << number;
        EXPECT_EQ(edge.output->resumed, 1U);
        expect_same(edge, origin);
    }
}

// The connection to the origin is lost, and the next one repeats the newest packets.
TEST_F(OutputRenditionsTest, AnEdgeThatReconnectsContinues) {
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        random_.seed(seed);
        Node origin(streams_, "/live/origin" + std::to_string(seed));
        Node edge(streams_, "/live/edge" + std::to_string(seed));
        Relay relay{origin, edge};
        Publisher publisher(origin, seed);
        relay.join();
        run(publisher, relay, 20 + static_cast<int>(seed % 3));
        static_cast<void>(io::yield(io::Deadline::never()));
        const std::uint64_t newest = origin.output->segments.rbegin()->first;
        relay.join(true);
        run(publisher, relay, 15);
        const std::uint64_t last = origin.output->segments.rbegin()->first - 1;
        ASSERT_GT(last, newest + 3);
        wait_for(edge, last);
        expect_same(edge, origin);
        EXPECT_GE(edge.output->segments.size() + 3, origin.output->segments.size());
    }
}

// At most the segments in which the renditions leave and return are missing.
TEST_F(OutputRenditionsTest, AnEdgeFollowsWhenTheRenditionsLeaveAndReturn) {
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        random_.seed(seed);
        Node origin(streams_, "/live/origin" + std::to_string(seed));
        Node edge(streams_, "/live/edge" + std::to_string(seed));
        Relay relay{origin, edge};
        Publisher publisher(origin, seed);
        relay.join();
        run(publisher, relay, 12);
        publisher.end_child();
        run(publisher, relay, 25);
        const std::uint64_t last = origin.output->segments.rbegin()->first - 1;
        wait_for(edge, last);
        expect_same(edge, origin);
        EXPECT_EQ(origin.output->segments.at(last).size(), 2 + Publisher::kRungs) << "they are back";
        EXPECT_GE(edge.output->segments.size() + 3, origin.output->segments.size());
    }
}

// The last segment of a publisher has the packets that waited for renditions.
TEST_F(OutputRenditionsTest, AnEdgeMakesTheLastSegment) {
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        random_.seed(seed);
        Node origin(streams_, "/live/origin" + std::to_string(seed));
        Node edge(streams_, "/live/edge" + std::to_string(seed));
        Relay relay{origin, edge};
        Publisher publisher(origin, seed);
        relay.join();
        run(publisher, relay, 12);
        publisher.end_child();
        origin.publication.reset();
        origin.output->on_unpublished();
        const std::uint64_t before = origin.output->segments.rbegin()->first;
        wait_for(origin, before + 1);
        relay.run();
        wait_for(edge, origin.output->segments.rbegin()->first);
        expect_same(edge, origin);
        EXPECT_EQ(edge.output->segments.size(), origin.output->segments.size());
    }
}

}  // namespace
}  // namespace live::service::segments
