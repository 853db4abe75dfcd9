#include "service/dash/mpd.hpp"

#include <gtest/gtest.h>

namespace live::service::dash {
namespace {

Mpd example() {
    Mpd mpd;
    mpd.began = std::chrono::sys_days(std::chrono::year(2026) / 11 / 21) + std::chrono::milliseconds(50'709'042);
    mpd.written = mpd.began + 30s;
    mpd.update_period = 5s;
    mpd.window_size = 5;
    mpd.folder = "cam&1/";
    mpd.first_number = 7;
    mpd.video.emplace();
    mpd.video->format.kind = wire::mp4::TrackKind::video;
    mpd.video->format.codecs = "avc1.64001f";
    mpd.video->format.width = 640;
    mpd.video->format.height = 360;
    mpd.video->bits_a_second = 500'000;
    mpd.video->segments = {{10s, 2'040ms}, {12'040ms, 2s}};
    mpd.audio.emplace();
    mpd.audio->format.kind = wire::mp4::TrackKind::audio;
    mpd.audio->format.codecs = "mp4a.40.2";
    mpd.audio->format.sample_rate = 44'100;
    mpd.audio->segments = {{MediaTime(10'000'400), MediaTime(2'020'300)}, {MediaTime(12'020'700), MediaTime(2'000'000)}};
    return mpd;
}

TEST(DashMpd, SaysWhatThereIs) {
    EXPECT_EQ(
        text_of(example()),
        R"(<?xml version="1.0" encoding="utf-8"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="dynamic" )"
        R"(minimumUpdatePeriod="PT5.000S" timeShiftBufferDepth="PT10.000S" availabilityStartTime="2026-11-21T14:05:09.042Z" )"
        R"(publishTime="2026-11-21T14:05:39.042Z" minBufferTime="PT4.000S">
  <BaseURL>cam&amp;1/</BaseURL>
  <Period id="0" start="PT0S">
    <AdaptationSet contentType="audio" mimeType="audio/mp4" segmentAlignment="true" startWithSAP="1">
      <Representation id="audio" bandwidth="1" codecs="mp4a.40.2" audioSamplingRate="44100">
        <SegmentTemplate initialization="$RepresentationID$-init.mp4" media="$RepresentationID$-$Number$.m4s" )"
        R"(startNumber="7" timescale="1000">
          <SegmentTimeline>
            <S t="10000" d="2021"/>
            <S t="12021" d="2000"/>
          </SegmentTimeline>
        </SegmentTemplate>
      </Representation>
    </AdaptationSet>
    <AdaptationSet contentType="video" mimeType="video/mp4" segmentAlignment="true" startWithSAP="1">
      <Representation id="video" bandwidth="500000" codecs="avc1.64001f" width="640" height="360">
        <SegmentTemplate initialization="$RepresentationID$-init.mp4" media="$RepresentationID$-$Number$.m4s" )"
        R"(startNumber="7" timescale="1000">
          <SegmentTimeline>
            <S t="10000" d="2040"/>
            <S t="12040" d="2000"/>
          </SegmentTimeline>
        </SegmentTemplate>
      </Representation>
    </AdaptationSet>
  </Period>
</MPD>
)");
}

TEST(DashMpd, ASegmentThatIsBeingMadeMayBeAskedForAfterItsFirstChunk) {
    Mpd mpd = example();
    mpd.chunk = 200ms;
    mpd.init_suffix = "-3";
    const std::string text = text_of(mpd);
    EXPECT_NE(text.find(R"(timescale="1000" availabilityTimeOffset="1.800" availabilityTimeComplete="false">)"),
              std::string::npos);
    EXPECT_NE(text.find(R"(minBufferTime="PT0.400S")"), std::string::npos);
    EXPECT_NE(text.find(R"(initialization="$RepresentationID$-init-3.mp4")"), std::string::npos);
    mpd.video->segments.back().duration = 100ms;
    EXPECT_NE(text_of(mpd).find(R"(availabilityTimeOffset="0.000")"), std::string::npos) << "never after its end";
}

TEST(DashMpd, OneKindAloneIsOneSet) {
    Mpd mpd = example();
    mpd.video.reset();
    const std::string audio = text_of(mpd);
    EXPECT_EQ(audio.find("contentType=\"video\""), std::string::npos);
    EXPECT_NE(audio.find("contentType=\"audio\""), std::string::npos);
    EXPECT_NE(audio.find("timeShiftBufferDepth=\"PT10.000S\""), std::string::npos) << "by the segments of audio";
    mpd = example();
    mpd.audio.reset();
    EXPECT_EQ(text_of(mpd).find("audio"), std::string::npos);
}

}  // namespace
}  // namespace live::service::dash
