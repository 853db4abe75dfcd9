#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "media/ring/sync_message.hpp"
#include "media/source/publication.hpp"
#include "service/hls/hls_service_fixture.hpp"
#include "service/segments/segment_sync.hpp"

namespace live::service::hls {
namespace {

class SeveralTracks : public HlsServiceTest {
protected:
    void publish_all() {
        publish();
        append(MediaKind::audio, false, true, aac_config());
        append(MediaKind::video, false, true, segments::second_video_config());
        append(MediaKind::audio, false, true, segments::second_audio_config());
    }
    void append(MediaKind kind, bool key, bool config, const Slice& body) {
        source_->append(media::tag_packet(kind, key, config, at_, body));
    }
    // Publishes all tracks, or all except the second audio track.
    void seconds_of_all(int count, bool has_second_audio = true) {
        for (int i = 0; i < 25 * count; ++i, at_ += 40ms) {
            const bool key = at_ % 1s == MediaTime();
            append(MediaKind::video, key, false, picture(key));
            append(MediaKind::video, key, false, segments::second_video(key));
            append(MediaKind::audio, false, false, segments::audio());
            if (has_second_audio)
                append(MediaKind::audio, false, false, segments::second_audio());
            source_->flush();
            if (i % 5 == 4)
                static_cast<void>(io::yield(io::Deadline::never()));
        }
    }
    wire::hls::MediaPlaylist list_of(const std::string& track) const {
        return MUST(wire::hls::parse_media_playlist(folder_.read("live/cam." + track + ".m3u8")));
    }
};

TEST_F(SeveralTracks, HaveAPlaylistEachAndAMasterPlaylist) {
    source_->tracks().name_tracks({{MediaKind::audio, media::TrackId{1}, "de", "Deutsch"}});
    publish_all();
    source_->tracks().name_tracks({{MediaKind::audio, media::TrackId{1}, "de", "Deutsch"}});
    seconds_of_all(5);
    wait_written(3);
    io::wait_until([this] { return is_on_disk("live/cam.audio-1.m3u8") && list_of("audio-1").segments.size() == 3; });
    const auto master = output()->master_text([](const Names& names) { return names.playlist_url() + "?x"; });
    ASSERT_TRUE(master);
    for (const char* line :
         {"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"audio\",NAME=\"audio\",DEFAULT=YES,AUTOSELECT=YES,URI=\"live/cam.audio.m3u8?x\"\n",
          "NAME=\"Deutsch\",LANGUAGE=\"de\",DEFAULT=NO,AUTOSELECT=YES,URI=\"live/cam.audio-1.m3u8?x\"\n",
          "AUDIO=\"audio\",CLOSED-CAPTIONS=NONE\nlive/cam.video.m3u8?x\n",
          "AUDIO=\"audio\",CLOSED-CAPTIONS=NONE\nlive/cam.video-1.m3u8?x\n"})
        EXPECT_NE(master->find(line), std::string::npos) << line << *master;
    for (const std::string track : {"audio", "audio-1", "video", "video-1"}) {
        io::wait_until([&] { return list_of(track).media_sequence == 1; });
        const auto list = list_of(track);
        EXPECT_EQ(list.segments.back().map, "cam/init." + track + ".mp4");
        const std::string uri = list.segments.back().uri;
        EXPECT_TRUE(uri.ends_with("." + track + ".m4s")) << uri;
        EXPECT_TRUE(is_on_disk("live/" + uri));
    }
    EXPECT_NE(folder_.read("live/cam.m3u8").find("\ncam.video-1.m3u8\n"), std::string::npos) << folder_.read("live/cam.m3u8");
    EXPECT_TRUE(errors_.warnings.empty());
}

TEST_F(SeveralTracks, HaveAGapWithoutFrames) {
    publish_all();
    seconds_of_all(2);
    seconds_of_all(3, false);
    wait_written(3);
    io::wait_until([this] { return list_of("audio-1").segments.back().gap; });
    const auto next_of = [this](const std::string& track) {
        return list_of(track).media_sequence + list_of(track).segments.size();
    };
    io::wait_until([&] { return next_of("audio-1") == next_of("video"); });
    EXPECT_FALSE(list_of("video").segments.back().gap);
    seconds_of_all(3);
    io::wait_until([this] { return !list_of("audio-1").segments.back().gap; });
}

TEST_F(SeveralTracks, ContinueAfterAnotherPublisherAndARestart) {
    options_.dispose = 0s;
    publish_all();
    seconds_of_all(3);
    unpublish();
    publish_all();
    seconds_of_all(3);
    wait_written(4);
    io::wait_until([this] { return list_of("audio-1").segments.back().uri == "cam-4.audio-1.m4s"; });
    restart();
    const auto left = list_of("video");
    const std::uint64_t next = left.media_sequence + left.segments.size();
    publish_all();
    seconds_of_all(2);
    wait_written(next);
    io::wait_until([&] { return list_of("video").segments.back().uri == fmt::format("cam-{}.video.m4s", next); });
    EXPECT_EQ(list_of("audio-1").media_sequence, next) << "numbers continue";
}

TEST_F(SeveralTracks, MayAppearAfterFragments) {
    publish();
    append(MediaKind::audio, false, true, aac_config());
    seconds(3);
    wait_written(1);
    EXPECT_EQ(output()->together().list().next_number(), 2U);
    append(MediaKind::audio, false, true, segments::second_audio_config());
    seconds_of_all(3);
    io::wait_until([this] { return is_on_disk("live/cam-4.audio-1.m4s"); });
    EXPECT_TRUE(is_on_disk("live/cam-2.ts")) << "the part in progress";
    EXPECT_EQ(list_of("video").media_sequence, 3U);
    EXPECT_TRUE(list_of("video").segments.front().discontinuity);
    const auto master = MUST(wire::hls::parse_playlist(folder_.read("live/cam.m3u8")));
    EXPECT_EQ(master.variants, std::vector<std::string>{"cam.video.m3u8"});
}

TEST_F(SeveralTracks, AreDisposedOf) {
    options_.dispose = 50ms;
    options_.keys = true;
    options_.key_file_path = options_.path;
    publish_all();
    seconds_of_all(3);
    wait_written(1);
    io::wait_until([this] { return list_of("audio-1").segments.back().key.has_value(); });
    EXPECT_EQ(list_of("audio-1").segments.back().key, list_of("video").segments.back().key);
    unpublish();
    io::wait_until([this] { return output() == nullptr; });
    io::wait_until([this] { return !is_on_disk("live/cam.m3u8"); });
    const auto is_file = [](const std::filesystem::directory_entry& entry) { return entry.is_regular_file(); };
    io::wait_until(
        [&] { return std::ranges::none_of(std::filesystem::recursive_directory_iterator(folder_.file("live")), is_file); });
    EXPECT_EQ(service_->index().size(), 0U);
    publish_all();
    seconds_of_all(3);
    io::wait_until([this] { return is_on_disk("live/cam-1.audio-1.m4s"); });
}

// A stream's name may be that of a track's files.
TEST_F(SeveralTracks, KeepTheFilesOfAnotherStream) {
    const auto other = claims_.claim({std::filesystem::path(folder_.file("live/cam.audio-1.m3u8")).lexically_normal().string()},
                                     "the HLS of /live/cam.audio-1");
    publish_all();
    seconds_of_all(3);
    wait_written(1);
    io::wait_until([this] { return is_on_disk("live/cam-1.video-1.m4s"); });
    EXPECT_FALSE(is_on_disk("live/cam.audio-1.m3u8"));
    EXPECT_FALSE(is_on_disk("live/cam-1.audio-1.m4s"));
    ASSERT_EQ(errors_.errors.size(), 1U);
    EXPECT_NE(errors_.errors[0].find("dropping a track: "), std::string::npos);
}

TEST_F(SeveralTracks, AreTheDefaultOnesInMpegTs) {
    options_.use_fmp4 = Fmp4::off;
    publish_all();
    seconds_of_all(3);
    wait_written(1);
    EXPECT_FALSE(output()->has_renditions());
    io::wait_until([this] { return on_disk().segments.back().uri == "cam-1.ts"; });
    ASSERT_EQ(errors_.warnings.size(), 1U);
    EXPECT_NE(errors_.warnings[0].find("only the default tracks are included"), std::string::npos);
}

TEST_F(SeveralTracks, HaveParts) {
    options_.ll = true;
    publish_all();
    seconds_of_all(2);
    const auto path_of = [this](const char* file) { return std::filesystem::path(folder_.file(file)).lexically_normal(); };
    io::wait_until([&] { return service_->index().find(path_of("live/cam.audio-1.m3u8")) != nullptr; });
    const auto* indexed = service_->index().find(path_of("live/cam.audio-1.m3u8"));
    const auto current = [&] { return indexed->rendition->list().playlist(SegmentList::Form::players); };
    io::wait_until([&] { return current().low_latency && current().low_latency->hint == "cam-1.audio-1.4.m4s"; });
    const auto list = current();
    EXPECT_FALSE(list.segments.back().parts.empty());
    const auto part = service_->index().store().find(path_of("live/cam-1.audio-1.0.m4s").string());
    ASSERT_NE(part, nullptr);
    EXPECT_TRUE(part->is_whole());
    EXPECT_FALSE(part->blocks().empty());
}

// The first frame shows a codec without a configuration. It may follow the first frame of the fragment.
TEST_F(SeveralTracks, AreInTheFirstFragmentOfARelay) {
    const auto state_of = [](const media::SyncMessage& message) {
        return std::get<segments::SegmentState>(MUST(segments::read_segment_sync(message.text)).event);
    };
    const auto message_of_segment = [&](std::uint64_t number) {
        std::optional<media::SyncMessage> message;
        io::wait_until([&] {
            if (!source_->syncs().newest().empty())
                message = source_->syncs().newest().front().message;
            return message && state_of(*message).number == number;
        });
        return message.value();
    };
    publish_all();
    seconds_of_all(3);
    const auto begins = message_of_segment(2);
    const MediaTime from = state_of(begins).at;
    seconds_of_all(1);
    const auto ends = message_of_segment(3);

    ScratchFolder folder;
    HlsOptions options = options_;
    options.path = folder.file("");
    const SameOptions<HlsOptions> same_options(options);
    media::StreamTable streams(pool_);
    const auto source = MUST(streams.find_or_create("/live/cam", {}, 60'000));
    HlsService service({streams, same_options, sessions_, fragments_, claims_, Zone::utc}, Log(errors_, ""));
    auto publication = MUST(media::Publication::start(source, media::Takeover::refuse));
    session::ClientRequest pull = request_;
    pull.kind = session::ClientKind::relay_pull;
    service.on_published(pull, plan_);
    source->append_sync(begins);
    const auto append_to = [&source](MediaKind kind, bool key, bool config, MediaTime at, const Slice& body) {
        source->append(media::tag_packet(kind, key, config, at, body));
    };
    append_to(MediaKind::video, false, true, from, avc_config());
    append_to(MediaKind::audio, false, true, from, aac_config());
    for (MediaTime at = from; at <= from + 1s; at += 40ms) {
        const bool key = at == from || at == from + 1s;
        append_to(MediaKind::video, key, false, at, picture(key));
        if (at == from)
            append_to(MediaKind::video, false, true, at, segments::second_video_config());
        append_to(MediaKind::video, key, false, at, segments::second_video(key));
        append_to(MediaKind::audio, false, false, at, segments::audio());
        if (at == from)
            append_to(MediaKind::audio, false, true, at, segments::second_audio_config());
        append_to(MediaKind::audio, false, false, at, segments::second_audio());
    }
    source->append_sync(ends);
    source->flush();
    const auto file_of = [](const HlsService& of, const ScratchFolder& in, const std::string& name) {
        return of.index().store().find(std::filesystem::path(in.file("live/" + name)).lexically_normal().string());
    };
    for (const std::string track : {"video", "audio", "video-1", "audio-1"}) {
        const std::string name = "cam-2." + track + ".m4s";
        io::wait_until([&] { return file_of(service, folder, name) != nullptr && file_of(*service_, folder_, name) != nullptr; });
        const auto at_node = file_of(service, folder, name);
        const auto at_origin = file_of(*service_, folder_, name);
        ASSERT_TRUE(at_node != nullptr && at_origin != nullptr) << name;
        EXPECT_EQ(segments::bytes_of(at_node->blocks()), segments::bytes_of(at_origin->blocks())) << track;
    }
    const auto path = std::filesystem::path(folder.file("live/cam.m3u8")).lexically_normal().string();
    const auto master = service.index().find(path)->output->master_text([](const Names& names) { return names.playlist_url(); });
    EXPECT_EQ(MUST(wire::hls::parse_playlist(*master)).variants.size(), 2U) << *master;
    publication.reset();
    service.on_unpublished(plan_.url);
    MUST(service.stop(io::Deadline::after(kSoon)));
}

}  // namespace
}  // namespace live::service::hls
