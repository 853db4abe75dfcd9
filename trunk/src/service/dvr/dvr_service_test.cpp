#include "service/dvr/dvr_service.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/files/scratch_folder_fixture.hpp"
#include "base/log/log_fixture.hpp"
#include "base/options_of_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/ring/timed_event.hpp"
#include "media/source/publication.hpp"
#include "wire/flv/flv_file.hpp"
#include "wire/id3/tag.hpp"
#include "wire/mp4/box_reader_fixture.hpp"
#include "wire/mp4/read/fragment_reader.hpp"

namespace live::service::dvr {
namespace {

namespace mp4 = wire::mp4;

using io::kSoon;

struct RecordedEvent {
    std::string file;
    std::string error;
    MediaTime duration{};
};

class DvrServiceTest : public testing::Test {
protected:
    void SetUp() override {
        media::PlayOptions play;
        play.queue_length = 1s;
        source_ = MUST(streams_.find_or_create("/live/cam", play, 60'000));
        DvrContext context;
        context.product = "test";
        context.claims = &claims_;
        context.zone = Zone::utc;
        context.on_recorded = [this](const Recorded& recorded) {
            recorded_.push_back({recorded.file, recorded.error, recorded.duration});
        };
        service_ = std::make_unique<DvrService>(streams_, same_options_, std::move(context), Log(no_log_, "test"));
        request_.app = "live";
        request_.stream = "cam";
        plan_.url = "/live/cam";
        plan_.vhost = "v";
        options_.enabled = true;
    }
    void TearDown() override { MUST(service_->stop(io::Deadline::after(kSoon))); }

    void publish(const std::string& name) {
        publication_ = MUST(media::Publication::start(source_, media::Takeover::refuse));
        options_.path = folder_.file(name);
        service_->on_published(request_, plan_);
    }
    void unpublish() {
        publication_.reset();
        service_->on_unpublished(plan_.url);
        io::wait_until([this] { return service_->list().empty() || !service_->list().front().is_active; });
    }
    void append(MediaKind kind, bool key, bool config, MediaTime time, const Slice& payload) {
        source_->append(media::tag_packet(kind, key, config, time, payload));
    }
    void headers() {
        append(MediaKind::video, false, true, at_, media::avc_config_body());
        append(MediaKind::audio, false, true, at_, media::aac_config_body());
    }
    // Waits until a file other than `last` is written, and stores it in `last`. Names contain milliseconds, so the next one
    // differs.
    void wait_for_another_file(std::string& last) {
        const auto now = [this] { return service_->list().at(0).state.file; };
        io::wait_until([&] { return !now().empty() && now() != last; });
        last = now();
        MUST(io::sleep(io::Deadline::after(2ms)));
    }
    // Video at 25 fps with a key frame each second, with audio.
    void seconds(int count) {
        for (int i = 0; i < count * 25; ++i) {
            const bool key = i % 25 == 0;
            append(MediaKind::video, key, false, at_,
                   media::tag_body(key ? hex("17 01 000000 00000002 65aa") : hex("27 01 000000 00000002 41bb"),
                                   std::vector<std::uint8_t>(frame_bytes_)));
            append(MediaKind::audio, false, false, at_ + 5ms, media::tag_body(hex("af 01 210a")));
            at_ += 40ms;
            if (i % 10 == 9)
                pause();
        }
        pause();
    }
    void pause() {
        source_->flush();
        static_cast<void>(io::yield(io::Deadline::never()));
    }
    std::vector<std::uint8_t> bytes_of(const std::string& name) const {
        const std::string text = folder_.read(name);
        const Bytes bytes = as_bytes(text);
        return {bytes.begin(), bytes.end()};
    }
    bool exists(const std::string& name) const { return std::filesystem::exists(folder_.file(name)); }
    // Number of video and audio samples in an MP4 file.
    std::pair<std::size_t, std::size_t> movie(const std::string& name) const {
        const auto bytes = bytes_of(name);
        const auto file = mp4::read_file(bytes);
        const auto tracks = file.child("moov").all("trak");
        EXPECT_EQ(tracks.size(), 2u);
        return {mp4::movie_samples(bytes, *tracks.at(0)).size(), mp4::movie_samples(bytes, *tracks.at(1)).size()};
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    ScratchFolder folder_;
    NoLog no_log_;
    media::SlabPool pool_;
    media::StreamTable streams_{pool_};
    Ref<media::Source> source_;
    std::unique_ptr<media::Publication> publication_;
    std::vector<RecordedEvent> recorded_;
    files::PathClaims claims_;
    std::unique_ptr<DvrService> service_;
    session::ClientRequest request_;
    session::StreamPlan plan_;
    DvrOptions options_;
    const SameOptions<DvrOptions> same_options_{options_};
    MediaTime at_ = 10s;
    std::size_t frame_bytes_ = 0;
};

TEST_F(DvrServiceTest, RecordsFlvFromTheBeginningToTheEnd) {
    publish("[stream].flv");
    headers();
    seconds(3);
    unpublish();
    ASSERT_EQ(recorded_.size(), 1u);
    EXPECT_EQ(recorded_[0].file, folder_.file("cam.flv"));
    EXPECT_EQ(recorded_[0].error, "");
    EXPECT_EQ(recorded_[0].duration, 2'965ms);
    const auto bytes = bytes_of("cam.flv");
    wire::flv::FlvReader reader;
    std::size_t tags = 0;
    std::uint32_t last = 0;
    for (Bytes rest(bytes); !rest.empty();) {
        rest = rest.subspan(MUST(reader.feed(rest)));
        while (const auto tag = reader.next()) {
            ++tags;
            last = std::max(last, tag->header.timestamp_ms);
        }
    }
    EXPECT_EQ(tags, 1u + 2 + 150) << "metadata, headers, media";
    EXPECT_EQ(last, 2'965u) << "the first frame is at zero";
    EXPECT_EQ(source_->readers().count(), 0u);
}

TEST_F(DvrServiceTest, RecordsAllTracksInFlv) {
    const auto setup = hex("95 00 6d703461 01 1190");
    const auto audio = hex("95 01 6d703461 01 210b");
    publish("[stream].flv");
    headers();
    append(MediaKind::audio, false, true, at_, media::tag_body(setup));
    seconds(1);
    append(MediaKind::audio, false, false, at_, media::tag_body(audio));
    seconds(1);
    unpublish();
    const auto bytes = bytes_of("cam.flv");
    EXPECT_NE(std::search(bytes.begin(), bytes.end(), setup.begin(), setup.end()), bytes.end()) << "before the media";
    EXPECT_NE(std::search(bytes.begin(), bytes.end(), audio.begin(), audio.end()), bytes.end());
}

TEST_F(DvrServiceTest, RecordsMp4) {
    publish("[stream].mp4");
    headers();
    seconds(3);
    unpublish();
    ASSERT_EQ(recorded_.size(), 1u);
    EXPECT_EQ(movie("cam.mp4"), std::make_pair(std::size_t{75}, std::size_t{75}));
    EXPECT_FALSE(exists("cam.mp4.tmp"));
}

TEST_F(DvrServiceTest, RecordsCompleteFragments) {
    options_.format = DvrFormat::fmp4;
    publish("[stream].mp4");
    headers();
    seconds(5);
    io::wait_until([this] { return exists("cam.mp4.tmp") && bytes_of("cam.mp4.tmp").size() > 2'000; });
    const auto killed = bytes_of("cam.mp4.tmp");
    auto samples = mp4::fragment_samples(killed);
    EXPECT_GE(samples[1].size(), 25u) << "at least a second of video";
    EXPECT_TRUE(samples[1].front().key);
    unpublish();
    const auto whole = bytes_of("cam.mp4");
    samples = mp4::fragment_samples(whole);
    EXPECT_EQ(samples[1].size(), 125u);
    EXPECT_EQ(samples[2].size(), 125u);
    EXPECT_EQ(samples[1].front().tick, 0u);
}

TEST_F(DvrServiceTest, RecordsEventsBeforeTheirFragments) {
    options_.format = DvrFormat::fmp4;
    publish("[stream].mp4");
    at_ += 7s;
    headers();
    seconds(2);
    const auto section =
        hex("fc302f000000000000fffff014054800008f7feffe7369c02efe0052ccf500000000000a0008435545490000013562dba30a");
    const media::TimedEvent splice{.kind = media::TimedEvent::Kind::splice, .at = at_ + 480ms, .data = Slice::copy_of(section)};
    append(MediaKind::data, false, false, at_, media::write_timed_event(splice, at_));
    const media::TimedEvent line{.kind = media::TimedEvent::Kind::text,
                                 .at = at_ + 480ms,
                                 .data = Slice::copy_of(as_bytes(std::string_view("Good evening"))),
                                 .duration = 3s,
                                 .language = "en"};
    append(MediaKind::data, false, false, at_, media::write_timed_event(line, at_));
    // More than a fragment may have.
    const std::vector<std::uint8_t> tag = wire::id3::write_text_tag("a", std::string(1'000, 'b'));
    for (int i = 0; i < 100; ++i) {
        const media::TimedEvent one{.kind = media::TimedEvent::Kind::id3, .at = at_, .data = Slice::copy_of(tag)};
        append(MediaKind::data, false, false, at_, media::write_timed_event(one, at_));
    }
    seconds(3);
    unpublish();
    const auto whole = bytes_of("cam.mp4");
    EXPECT_EQ(mp4::fragment_samples(whole)[1].size(), 125u);
    const auto events = mp4::events_in(whole);
    ASSERT_FALSE(events.empty());
    EXPECT_EQ(events[0].scheme, mp4::kSpliceScheme);
    EXPECT_EQ(events[0].data, section);
    EXPECT_EQ(mp4::time_of(events[0]), 2'480ms);
    EXPECT_EQ(events[1].scheme, mp4::kCueScheme);
    EXPECT_EQ(events[1].value, "en");
    EXPECT_EQ(as_text(events[1].data), "Good evening");
    EXPECT_EQ(mp4::time_of(events[1]), 2'480ms);
    EXPECT_EQ(mp4::duration_of(events[1]), 3s);
    EXPECT_GT(events.size(), 50u);
    EXPECT_LE(events.size(), 64u);
    const std::size_t tags = events.size() - 2;
    MetricsText text;
    service_->write_metrics(text);
    const std::string metrics = text.take();
    const auto counted = [&metrics](const std::string& labels, std::size_t count) {
        return metrics.find("millrace_dvr_events_total{" + labels + "} " + std::to_string(count) + "\n") != std::string::npos;
    };
    EXPECT_TRUE(counted(R"(kind="id3",result="accepted")", tags)) << metrics;
    EXPECT_TRUE(counted(R"(kind="id3",result="dropped")", 100 - tags)) << metrics;
    EXPECT_TRUE(counted(R"(kind="scte35",result="accepted")", 1)) << metrics;
    EXPECT_TRUE(counted(R"(kind="text",result="accepted")", 1)) << metrics;
}

TEST_F(DvrServiceTest, RecordsAShortStreamInFragments) {
    options_.format = DvrFormat::fmp4;
    publish("[stream].mp4");
    headers();
    append(MediaKind::video, true, false, at_, media::tag_body(hex("17 01 000000 00000002 65aa")));
    unpublish();
    EXPECT_EQ(mp4::fragment_samples(bytes_of("cam.mp4")).at(1).size(), 1u);
}

TEST_F(DvrServiceTest, RecordsAllTracksInMp4) {
    const auto setups = [this] {
        append(MediaKind::video, false, true, at_,
               media::tag_body(hex("96 00 61766331 01"), wire::codec::avc_vectors()[1].record));
        append(MediaKind::audio, false, true, at_, media::tag_body(hex("95 00 6d703461 01 1190")));
    };
    const auto others = [this] {
        append(MediaKind::video, true, false, at_ - 500ms, media::tag_body(hex("96 01 61766331 01 000000 00000002 65aa")));
        append(MediaKind::audio, false, false, at_ - 500ms, media::tag_body(hex("95 01 6d703461 01 210b")));
    };
    for (const DvrFormat format : {DvrFormat::by_name, DvrFormat::fmp4}) {
        options_.format = format;
        publish(format == DvrFormat::by_name ? "whole.mp4" : "parts.mp4");
        headers();
        setups();
        for (int i = 0; i < 4; ++i) {
            seconds(1);
            others();
        }
        unpublish();
    }
    const auto whole = bytes_of("whole.mp4");
    const auto file = mp4::read_file(whole);
    const auto tracks = file.child("moov").all("trak");
    ASSERT_EQ(tracks.size(), 4u);
    std::vector<std::size_t> samples;
    for (const auto* track : tracks)
        samples.push_back(mp4::movie_samples(whole, *track).size());
    EXPECT_EQ(samples, (std::vector<std::size_t>{100, 100, 4, 4}));
    const auto parts = bytes_of("parts.mp4");
    EXPECT_EQ(mp4::read_file(parts).child("moov").all("trak").size(), 4u);
    auto fragments = mp4::fragment_samples(parts);
    EXPECT_EQ(fragments[1].size(), 100u) << "the default frames first";
    EXPECT_EQ(fragments[2].size(), 100u);
    EXPECT_EQ(fragments[3].size(), 4u);
    EXPECT_EQ(fragments[4].size(), 4u);
    EXPECT_EQ(recorded_.size(), 2u) << "a file each";
}

TEST_F(DvrServiceTest, EndsSegmentsAtKeyFrames) {
    options_.plan = DvrPlan::segment;
    options_.duration = 1'500ms;
    publish("[stream]-[timestamp].mp4");
    headers();
    seconds(1);
    std::string open_file;
    wait_for_another_file(open_file);
    seconds(2);
    for (std::size_t files = 1; files <= 3; ++files) {
        io::wait_until([&] { return recorded_.size() == files; });
        wait_for_another_file(open_file);
        seconds(files < 3 ? 2 : 0);
    }
    unpublish();
    ASSERT_EQ(recorded_.size(), 4u) << "of two seconds each, and the rest";
    std::size_t pictures = 0;
    for (const RecordedEvent& one : recorded_) {
        const std::string name = std::filesystem::path(one.file).filename();
        EXPECT_EQ(one.error, "");
        pictures += movie(name).first;
        const auto bytes = bytes_of(name);
        const auto file = mp4::read_file(bytes);
        EXPECT_TRUE(mp4::movie_samples(bytes, *file.child("moov").all("trak").at(0)).front().key);
    }
    EXPECT_EQ(pictures, 175u) << "nothing is lost between files";
    EXPECT_EQ(recorded_[0].duration, 1'965ms);
}

// Audio is 700 ms behind video in the multiplex, with correct times, as in transport streams of hardware encoders.
TEST_F(DvrServiceTest, RecordsLaggingAudioInTheFileOfItsTime) {
    options_.plan = DvrPlan::segment;
    options_.duration = 1'500ms;
    publish("[stream]-[timestamp].flv");
    headers();
    std::size_t sent = 0;
    const auto seconds = [&](int count) {
        for (int i = 0; i < count * 25; ++i, at_ += 40ms) {
            const bool key = (at_ / 40ms) % 25 == 0;
            append(MediaKind::video, key, false, at_,
                   media::tag_body(key ? hex("17 01 000000 00000002 65aa") : hex("27 01 000000 00000002 41bb")));
            if (at_ < 10'700ms)
                continue;
            append(MediaKind::audio, false, false, at_ - 715ms, media::tag_body(hex("af 01 210a")));
            ++sent;
        }
        pause();
    };
    std::string open_file;
    seconds(1);
    wait_for_another_file(open_file);
    for (std::size_t files = 1; files <= 3; ++files) {
        seconds(2);
        io::wait_until([&] { return recorded_.size() == files; });
        wait_for_another_file(open_file);
    }
    unpublish();
    ASSERT_EQ(recorded_.size(), 4u);
    std::size_t got = 0;
    for (const RecordedEvent& one : recorded_) {
        const auto bytes = bytes_of(std::filesystem::path(one.file).filename());
        wire::flv::FlvReader reader;
        std::vector<std::uint32_t> audio;
        for (Bytes rest(bytes); !rest.empty();) {
            rest = rest.subspan(MUST(reader.feed(rest)));
            while (const auto tag = reader.next())
                if (tag->header.type == wire::flv::TagType::audio && tag->body.bytes()[1] == 1)
                    audio.push_back(tag->header.timestamp_ms);
        }
        for (std::size_t i = 0; i < audio.size(); ++i)
            EXPECT_EQ(audio[i], 5 + 40 * i) << one.file;
        got += audio.size();
    }
    EXPECT_EQ(got, sent) << "nothing is lost between files";
    EXPECT_EQ(recorded_[1].duration, 1'965ms);
}

TEST_F(DvrServiceTest, EndsSegmentsAnywhereWithoutWaitingForKeyFrames) {
    options_.plan = DvrPlan::segment;
    options_.duration = 1'500ms;
    options_.wait_keyframe = false;
    publish("[stream]-[timestamp].flv");
    headers();
    seconds(1);
    std::string open_file;
    wait_for_another_file(open_file);
    seconds(1);
    io::wait_until([this] { return recorded_.size() == 1; });
    EXPECT_EQ(recorded_[0].duration, 1'485ms) << "with the audio in front of the key frame that begins the next";
    seconds(1);
    unpublish();
    EXPECT_EQ(recorded_.size(), 2u);
}

TEST_F(DvrServiceTest, EndsTheRecordingIfTheFileExists) {
    folder_.write("cam.flv", "precious");
    publish("[stream].flv");
    headers();
    seconds(1);
    io::wait_until([this] { return !recorded_.empty(); });
    EXPECT_NE(recorded_[0].error.find("(3082)"), std::string::npos) << recorded_[0].error;
    EXPECT_EQ(folder_.read("cam.flv"), "precious");
    io::wait_until([this] { return source_->readers().count() == 0; });
    ASSERT_EQ(service_->list().size(), 1u);
    EXPECT_FALSE(service_->list()[0].is_active);
    EXPECT_EQ(service_->list()[0].state.error, recorded_[0].error);
    // The next publisher retries.
    unpublish();
    std::filesystem::remove(folder_.file("cam.flv"));
    publish("[stream].flv");
    EXPECT_TRUE(service_->list().at(0).is_active);
    EXPECT_EQ(service_->list().size(), 1u);
}

TEST_F(DvrServiceTest, EndsTheRecordingForAFileOfAnotherOutput) {
    const auto claim = MUST(claims_.claim({std::filesystem::path(folder_.file("cam.flv")).lexically_normal()}, "another stream"));
    publish("./[stream].flv");
    headers();
    seconds(1);
    io::wait_until([this] { return !recorded_.empty(); });
    EXPECT_NE(recorded_[0].error.find("cam.flv belongs to another stream"), std::string::npos) << recorded_[0].error;
    EXPECT_FALSE(exists("cam.flv.tmp"));
    unpublish();
    publish("second.flv");
    headers();
    seconds(1);
    unpublish();
    EXPECT_EQ(recorded_.back().error, "");
    EXPECT_EQ(claims_.size(), 1U);
}

TEST_F(DvrServiceTest, RemovesAnEmptyRecording) {
    publish("[stream].flv");
    headers();
    pause();
    unpublish();
    EXPECT_TRUE(recorded_.empty());
    EXPECT_TRUE(std::filesystem::is_empty(folder_.file("")));
}

TEST_F(DvrServiceTest, RecordsOnlyConfiguredStreams) {
    options_.apply = {"live/other"};
    publish("[stream].flv");
    EXPECT_TRUE(service_->list().empty());
    publication_.reset();
    options_.apply = {"live/cam"};
    publish("[stream].flv");
    EXPECT_EQ(service_->list().size(), 1u);
}

TEST_F(DvrServiceTest, RecordsNoEarlierPackets) {
    publish("first.flv");
    headers();
    seconds(1);
    unpublish();
    publish("second.mp4");
    append(MediaKind::video, true, false, at_, media::tag_body(hex("17 01 000000 00000002 65aa")));
    unpublish();
    ASSERT_EQ(recorded_.size(), 2u);
    const auto bytes = bytes_of("second.mp4");
    const auto file = mp4::read_file(bytes);
    EXPECT_EQ(mp4::movie_samples(bytes, *file.child("moov").all("trak").at(0)).size(), 1u) << "not the cached GOP";
}

TEST_F(DvrServiceTest, StartsAnotherMp4FileForAnotherCodec) {
    publish("[stream]-[timestamp].mp4");
    headers();
    seconds(2);
    // A repeated configuration and metadata of enhanced RTMP change nothing.
    headers();
    append(MediaKind::video, false, false, at_, media::tag_body(hex("94 61766331 02 0000")));
    seconds(1);
    EXPECT_TRUE(recorded_.empty());
    std::string open_file;
    wait_for_another_file(open_file);
    append(MediaKind::video, false, true, at_, media::tag_body(hex("90 68766331"), wire::codec::hevc_vectors().front().record));
    append(MediaKind::video, true, false, at_, media::tag_body(hex("91 68766331 000000 00000003 260111")));
    append(MediaKind::audio, false, false, at_, media::tag_body(hex("af 01 210a")));
    unpublish();
    ASSERT_EQ(recorded_.size(), 2u);
    EXPECT_EQ(movie(std::filesystem::path(recorded_[0].file).filename()).first, 75u);
    EXPECT_EQ(movie(std::filesystem::path(recorded_[1].file).filename()).first, 1u);
}

// Two seconds in, half a second after a key frame, the audio has one channel less.
TEST_F(DvrServiceTest, LosesNothingIfAudioChangesBetweenKeyFrames) {
    for (const DvrFormat format : {DvrFormat::by_name, DvrFormat::fmp4}) {
        recorded_.clear();
        options_.format = format;
        publish(format == DvrFormat::by_name ? "a-[timestamp].mp4" : "b-[timestamp].mp4");
        headers();
        seconds(2);
        std::string open_file;
        wait_for_another_file(open_file);
        append(MediaKind::video, true, false, at_, media::tag_body(hex("17 01 000000 00000002 65aa")));
        for (int i = 0; i < 12; ++i, at_ += 40ms) {
            append(MediaKind::video, false, false, at_ + 10ms, media::tag_body(hex("27 01 000000 00000002 41bb")));
            append(MediaKind::audio, false, false, at_ + 15ms, media::tag_body(hex("af 01 210a")));
        }
        append(MediaKind::audio, false, true, at_, media::tag_body(hex("af 00 1208")));
        for (int i = 0; i < 12; ++i, at_ += 40ms) {
            append(MediaKind::audio, false, false, at_ + 5ms, media::tag_body(hex("af 01 210a")));
            append(MediaKind::video, false, false, at_ + 10ms, media::tag_body(hex("27 01 000000 00000002 41bb")));
        }
        pause();
        wait_for_another_file(open_file);
        unpublish();
        ASSERT_EQ(recorded_.size(), 2u);
        using Samples = std::pair<std::size_t, std::size_t>;
        const auto samples = [&](std::size_t file) {
            const std::string name = std::filesystem::path(recorded_[file].file).filename();
            if (format == DvrFormat::by_name)
                return movie(name);
            auto all = mp4::fragment_samples(bytes_of(name));
            return Samples(all[1].size(), all[2].size());
        };
        EXPECT_EQ(samples(0), Samples(63, 62));
        EXPECT_EQ(std::minmax(samples(1).first, samples(1).second), std::minmax<std::size_t>(12, 25))
            << "all the audio, and the video from the key frame on";
    }
}

TEST_F(DvrServiceTest, KeepsTheWrittenBytesOnAFullDisk) {
    frame_bytes_ = 4'000;
    const auto before = std::signal(SIGXFSZ, SIG_IGN);
    struct rlimit old {};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
    const struct rlimit small = {250'000, old.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    publish("[stream].mp4");
    headers();
    for (int i = 0; i < 10 && recorded_.empty(); ++i) {
        seconds(1);
        static_cast<void>(io::sleep(io::Deadline::after(Recorder::kPollInterval + 50ms)));
    }
    io::wait_until([this] { return !recorded_.empty(); });
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
    std::signal(SIGXFSZ, before);
    EXPECT_NE(recorded_[0].error.find("File too large"), std::string::npos) << recorded_[0].error;
    const auto [pictures, audio_frames] = movie("cam.mp4");
    EXPECT_GE(pictures, 25u);
    EXPECT_LE(pictures - audio_frames, 1u) << "a write may end between a video frame and its audio";
    EXPECT_TRUE(source_->is_published());
    EXPECT_EQ(service_->list().at(0).state.error, recorded_[0].error);
}

// The error is reported once, and no attempt leaves an empty file.
TEST_F(DvrServiceTest, ContinuesSegmentsWhenTheDiskHasSpace) {
    options_.plan = DvrPlan::segment;
    options_.duration = 4s;  // two segments of one millisecond would have one name
    frame_bytes_ = 4'000;
    const auto before = std::signal(SIGXFSZ, SIG_IGN);
    struct rlimit old {};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
    const struct rlimit none = {100, old.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
    publish("[stream].[timestamp].flv");
    headers();
    const auto go_on_until = [this](const auto& condition) {
        for (int i = 0; i < 100 && !condition(); ++i) {
            seconds(1);
            static_cast<void>(io::sleep(io::Deadline::after(Recorder::kPollInterval)));
        }
        EXPECT_TRUE(condition());
    };
    go_on_until([this] { return !recorded_.empty(); });
    EXPECT_NE(recorded_[0].error.find("File too large"), std::string::npos) << recorded_[0].error;
    ASSERT_EQ(service_->list().size(), 1U);
    EXPECT_TRUE(service_->list()[0].is_active);
    EXPECT_EQ(service_->list()[0].state.error, recorded_[0].error);
    const std::string first = service_->list()[0].state.file;
    go_on_until([&] { return service_->list()[0].state.file != first; });
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
    std::signal(SIGXFSZ, before);
    go_on_until([this] { return service_->list()[0].state.files > 0; });
    EXPECT_EQ(service_->list()[0].state.error, "");
    unpublish();
    ASSERT_GE(recorded_.size(), 2U);
    EXPECT_EQ(recorded_[1].error, "") << "failed attempts are not reported";
    EXPECT_TRUE(service_->list().empty());
    for (const auto& file : std::filesystem::directory_iterator(folder_.file("")))
        EXPECT_GT(file.file_size(), 0U) << file.path();
}

TEST_F(DvrServiceTest, EndsTheRecordingIfPacketsWereDropped) {
    publish("[stream].flv");
    headers();
    // Far more than the history that a source keeps, before the recorder polls.
    for (int i = 0; i < 600; ++i) {
        append(MediaKind::video, i % 25 == 0, false, at_, media::tag_body(hex("17 01 000000 00000002 65aa")));
        at_ += 40ms;
        if (i == 0)
            pause();
    }
    io::wait_until([this] { return !recorded_.empty(); });
    EXPECT_NE(recorded_[0].error.find("too slow"), std::string::npos) << recorded_[0].error;
}

TEST_F(DvrServiceTest, ClosesFilesOnStop) {
    publish("[stream].mp4");
    headers();
    seconds(2);
    MUST(service_->stop(io::Deadline::after(kSoon)));
    ASSERT_EQ(recorded_.size(), 1u);
    EXPECT_EQ(movie("cam.mp4").first, 50u);
    service_->on_published(request_, plan_);
    EXPECT_TRUE(service_->list().empty());
}

TEST_F(DvrServiceTest, ContinuesTheFileAfterATakeover) {
    publish("[stream].flv");
    headers();
    seconds(1);
    service_->on_published(request_, plan_);
    EXPECT_EQ(service_->list().size(), 1u);
    seconds(1);
    unpublish();
    EXPECT_EQ(recorded_.size(), 1u);
}

}  // namespace
}  // namespace live::service::dvr
