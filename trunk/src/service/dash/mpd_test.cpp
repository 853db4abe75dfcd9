#include "service/dash/mpd.hpp"

#include <gtest/gtest.h>

#include "service/dash/mpd_fixture.hpp"

namespace live::service::dash {
namespace {

TEST(DashMpd, ListsSegmentsAndTracks) {
    EXPECT_EQ(
        text_of(example_mpd()),
        R"(<?xml version="1.0" encoding="utf-8"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="dynamic" )"
        R"(minimumUpdatePeriod="PT5.000S" timeShiftBufferDepth="PT10.000S" availabilityStartTime="2026-11-21T14:05:09.042Z" )"
        R"(publishTime="2026-11-21T14:05:39.042Z" minBufferTime="PT4.000S">
  <BaseURL>cam%261/</BaseURL>
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
      <InbandEventStream schemeIdUri="https://aomedia.org/emsg/ID3" value=""/>
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
  <UTCTiming schemeIdUri="urn:mpeg:dash:utc:http-iso:2014" value="utc-time.txt"/>
</MPD>
)");
}

TEST(DashMpd, OffersASegmentInProgressAfterItsFirstChunk) {
    Mpd mpd = example_mpd();
    mpd.chunk = 200ms;
    mpd.init_number = 3;
    const std::string text = text_of(mpd);
    EXPECT_NE(text.find(R"(timescale="1000" availabilityTimeOffset="1.800" availabilityTimeComplete="false">)"),
              std::string::npos);
    EXPECT_NE(text.find(R"(minBufferTime="PT0.400S")"), std::string::npos);
    EXPECT_NE(text.find(R"(initialization="$RepresentationID$-init-3.mp4")"), std::string::npos);
    mpd.tracks.back().segments.back().duration = 100ms;
    EXPECT_NE(text_of(mpd).find(R"(availabilityTimeOffset="0.000")"), std::string::npos) << "not after the end of the audio";
}

TEST(DashMpd, WritesAPeriodForOtherHeaders) {
    Mpd mpd = example_mpd();
    MpdPeriod& first = mpd.earlier.emplace_back(mpd);
    first.tracks[0].segments.pop_back();
    first.tracks[1].segments.pop_back();
    mpd.start = 12'040ms;
    mpd.init_number = 1;
    mpd.first_number = 8;
    mpd.tracks[0].segments.erase(mpd.tracks[0].segments.begin());
    mpd.tracks[1].segments.erase(mpd.tracks[1].segments.begin());
    mpd.tracks[1].format.width = 1'280;
    const std::string text = text_of(mpd);
    const std::size_t second = text.find(R"(<Period id="1" start="PT12.040S">)");
    ASSERT_NE(second, std::string::npos) << text;
    EXPECT_LT(text.find(R"(<Period id="0" start="PT0S">)"), second);
    EXPECT_LT(text.find(R"(<S t="10000" d="2040"/>)"), second);
    EXPECT_LT(text.find(R"(width="640")"), second);
    EXPECT_GT(text.find(R"(width="1280")"), second);
    EXPECT_GT(
        text.find(R"(media="$RepresentationID$-$Number$.m4s" startNumber="8" timescale="1000" presentationTimeOffset="12040">)"),
        second);
    EXPECT_GT(text.find(R"(<S t="12040" d="2000"/>)"), second);
}

TEST(DashMpd, WritesOneSetForOneKind) {
    Mpd mpd = example_mpd();
    mpd.tracks.pop_back();
    const std::string audio = text_of(mpd);
    EXPECT_EQ(audio.find("contentType=\"video\""), std::string::npos);
    EXPECT_NE(audio.find("contentType=\"audio\""), std::string::npos);
    EXPECT_NE(audio.find("timeShiftBufferDepth=\"PT10.000S\""), std::string::npos) << "by the audio segments";
    mpd = example_mpd();
    mpd.tracks.erase(mpd.tracks.begin());
    EXPECT_EQ(text_of(mpd).find("audio"), std::string::npos);
}

TEST(DashMpd, AddsAQueryToEachUrlOnly) {
    std::string expected = text_of(example_mpd());
    std::size_t count = 0;
    for (const std::string end : {"-init.mp4", "$-$Number$.m4s", "utc-time.txt"})
        for (std::size_t at = 0; (at = expected.find(end + "\"", at)) != std::string::npos; at += end.size(), ++count)
            expected.insert(at + end.size(), "?vhost=a&amp;b");
    EXPECT_EQ(count, 5U);
    EXPECT_EQ(with_query(text_of(example_mpd()), "vhost=a&b"), expected);
    const std::string both = with_query(expected, "c=d");
    EXPECT_NE(both.find("utc-time.txt?vhost=a&amp;b&amp;c=d\""), std::string::npos) << both;
    EXPECT_EQ(both.find("b?c"), std::string::npos);
    EXPECT_EQ(with_query("no end", "a"), "no end");
    EXPECT_EQ(with_query(" media=\"", "a"), " media=\"");
    EXPECT_EQ(with_query("", "a"), "");
}

TEST(DashMpd, WritesASetPerAudioTrackAndPerVideoCodec) {
    Mpd mpd = example_mpd();
    mpd.tracks[0].language = "en";
    MpdTrack dubbed = mpd.tracks[0];
    dubbed.id = "audio-1";
    dubbed.language = "de";
    dubbed.label = "Deutsch <1>";
    dubbed.is_extra = true;
    MpdTrack small = mpd.tracks[1];
    small.id = "video-1";
    small.format.width = 320;
    MpdTrack hevc = small;
    hevc.id = "video-2";
    hevc.format.codecs = "hvc1.1.6.L93.B0";
    hevc.is_extra = small.is_extra = true;
    mpd.tracks.insert(mpd.tracks.begin() + 1, dubbed);
    mpd.tracks.push_back(small);
    mpd.tracks.push_back(hevc);
    const std::string text = text_of(mpd);
    std::size_t sets = 0;
    for (std::size_t at = text.find("<AdaptationSet"); at != std::string::npos; at = text.find("<AdaptationSet", at + 1))
        ++sets;
    EXPECT_EQ(sets, 4U) << text;
    EXPECT_NE(text.find(R"(startWithSAP="1" lang="de">
      <Role schemeIdUri="urn:mpeg:dash:role:2011" value="alternate"/>
      <Label>Deutsch &lt;1&gt;</Label>
      <Representation id="audio-1")"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find(R"(lang="en">
      <Role schemeIdUri="urn:mpeg:dash:role:2011" value="main"/>)"),
              std::string::npos);
    const std::size_t video = text.find(R"(<Representation id="video" )");
    EXPECT_LT(video, text.find(R"(<Representation id="video-1" )"));
    EXPECT_EQ(text.find("</AdaptationSet>", video), text.find("</AdaptationSet>", text.find(R"(id="video-1")")));
}

// Players read event messages of announced schemes only, so the first one must be announced before it comes.
TEST(DashMpd, AnnouncesTagsInOneKindOfTrack) {
    const std::string tags = R"(<InbandEventStream schemeIdUri="https://aomedia.org/emsg/ID3" value=""/>)";
    Mpd mpd = example_mpd();
    const std::string both = text_of(mpd);
    EXPECT_GT(both.find(tags), both.find("contentType=\"video\"")) << both;
    EXPECT_NE(both.find(tags), std::string::npos);
    mpd.tracks.pop_back();
    EXPECT_NE(text_of(mpd).find(tags), std::string::npos) << "audio alone carries them";
}

// ANSI/SCTE 214-1, 7.2.
TEST(DashMpd, AnnouncesClosedCaptions) {
    Mpd mpd = example_mpd();
    EXPECT_EQ(text_of(mpd).find("Accessibility"), std::string::npos);
    mpd.tracks.back().captions.channels.set(0).set(2);
    mpd.tracks.back().captions.services.set(1);
    EXPECT_NE(text_of(mpd).find("ID3\" value=\"\"/>\n"
                                "      <Accessibility schemeIdUri=\"urn:scte:dash:cc:cea-608:2015\" value=\"CC1=und;CC3=und\"/>\n"
                                "      <Accessibility schemeIdUri=\"urn:scte:dash:cc:cea-708:2015\" value=\"1=lang:und\"/>\n"
                                "      <Representation id=\"video\""),
              std::string::npos)
        << text_of(mpd);
}

}  // namespace
}  // namespace live::service::dash
