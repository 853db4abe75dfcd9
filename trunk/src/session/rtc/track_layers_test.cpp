// WebRTC players of a stream of frames with renditions, over loopback: without arrival reports they take the best one, and change
// without a gap although it arrives later.
#include <map>

#include "media/ingest/rendition.hpp"
#include "media/rtp/bridge_fixture.hpp"
#include "media/source/publication.hpp"
#include "session/rtc/session_fixture.hpp"

namespace live::session::rtc {
namespace {

using namespace media::bridge_test;
using wire::sdp::Purpose;

constexpr std::chrono::milliseconds kFrame{40};
constexpr std::uint32_t kFrameTicks = 3'600;
constexpr int kGop = 10;
constexpr std::size_t kPlain = 300;
constexpr std::size_t kBest = 1'000;

struct RtcTrackLayers : SessionFixture {
    RtcTrackLayers() {
        door.bridge.rtmp_to_rtc = vhosts.options.rtmp_to_rtc = true;
        media::PlayOptions options;
        options.bridge = door.bridge;
        source = streams.find_or_create("/live/cam", options, 60'000).value();
        publication = *media::Publication::start(source, media::Takeover::refuse);
        source->append(avc_config());
    }
    ~RtcTrackLayers() override {
        rendition.reset();
        publication.reset();
    }
    static media::Packet picture(int number, std::size_t bytes) {
        const bool is_key = number % kGop == 0;
        return avc_frame(is_key ? Picture::key : Picture::inter, number * kFrame, {is_key ? idr(bytes) : inter(bytes)});
    }
    void start_rendition() {
        rendition = *media::Rendition::start(source, {{MediaKind::video, {}, "", "best"}});
        rendition->push_frame(MediaKind::video, frame_of(avc_config()));
    }
    // The next frame of the stream, and that of the rendition `late` frames before.
    void publish(int late = 0) {
        source->set_arrival(io::now());
        source->append(picture(number, kPlain));
        if (rendition != nullptr)
            rendition->push_frame(MediaKind::video, frame_of(picture(number - late, kBest)));
        source->flush();
        ++number;
    }
    void play(TestClient& player, int frames, int late = 0) {
        for (int i = 0; i < frames; ++i) {
            publish(late);
            player.run(5ms);
        }
    }
    // Bytes of each frame of video, by its time in frames since the first one.
    static std::map<std::uint32_t, std::size_t> frames_of(const TestClient& player) {
        std::map<std::uint32_t, std::size_t> found;
        std::optional<std::uint32_t> first;
        for (const auto& packet : player.media)
            if (packet.kind == MediaKind::video) {
                first = first.value_or(packet.timestamp);
                EXPECT_EQ((packet.timestamp - *first) % kFrameTicks, 0U) << "no time was changed";
                found[(packet.timestamp - *first) / kFrameTicks] += packet.payload.size();
            }
        return found;
    }
    std::string layer() {
        std::string found;
        clients.for_each([&](ClientEntry& entry) {
            if (const auto figures = entry.client().link_figures())
                found = std::get<std::string>(*figures->find("layer"));
        });
        return found;
    }

    Ref<media::Source> source;
    std::unique_ptr<media::Publication> publication;
    std::unique_ptr<media::Rendition> rendition;
    int number = 0;
};

TEST_F(RtcTrackLayers, ARenditionThatComesLaterAndArrivesLaterContinuesTheStream) {
    const auto player = come(Purpose::play);
    play(*player, 25);
    start_rendition();
    play(*player, 83, 4);
    player->run(50ms);
    const auto frames = frames_of(*player);
    ASSERT_GT(frames.size(), 80U);
    EXPECT_LT(frames.begin()->second, kBest);
    EXPECT_GE(frames.rbegin()->second, kBest);
    std::uint32_t next = 0;
    int changes = 0;
    for (const auto& [at, bytes] : frames) {
        EXPECT_EQ(at, next) << "each frame once";
        next = at + 1;
        if (at > 0 && (bytes >= kBest) != (frames.at(at - 1) >= kBest)) {
            ++changes;
            EXPECT_EQ(at % kGop, 0U) << "at a key frame";
        }
    }
    EXPECT_EQ(changes, 1);
    EXPECT_EQ(layer(), "best");
    // When it ends, the stream itself replaces it, from a key frame on.
    rendition.reset();
    const std::size_t before = frames.size();
    play(*player, 30);
    EXPECT_GT(frames_of(*player).size(), before + kGop);
    EXPECT_LT(frames_of(*player).rbegin()->second, kBest);
    EXPECT_EQ(layer(), "source");
}

TEST_F(RtcTrackLayers, APlayerKeepsToTheRenditionThatItNames) {
    start_rendition();
    for (int i = 0; i < 30; ++i)
        publish();
    auto asked = offer_request(Purpose::play);
    asked.rendition = "source";
    const auto player = come(std::move(asked));
    auto best = offer_request(Purpose::play);
    best.rendition = "best";
    best.offer = offer_of("recvonly", fingerprint);
    play(*player, 40);
    for (const auto& [at, bytes] : frames_of(*player))
        EXPECT_LT(bytes, kBest) << at;
    EXPECT_EQ(layer(), "source");
    player->close();
    player->run(20ms);
    const auto other = come(std::move(best));
    play(*other, 20);
    ASSERT_FALSE(frames_of(*other).empty());
    for (const auto& [at, bytes] : frames_of(*other))
        EXPECT_GE(bytes, kBest) << at;
    auto unknown = offer_request(Purpose::play);
    unknown.rendition = "1080p";
    const auto refused = opener->open(std::move(unknown), io::Deadline::after(io::kSoon));
    EXPECT_EQ(refused.code(), Errc::not_found);
    EXPECT_EQ(refused.error().sentence(), "the stream has no rendition 1080p");
}

}  // namespace
}  // namespace live::session::rtc
