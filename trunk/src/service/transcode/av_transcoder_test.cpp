// Converts real frames from ffmpeg, decodes the output, and checks the tone and its time.
#include "service/transcode/av_transcoder.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "service/transcode/audio_vectors.hpp"
#include "service/transcode/transcoder_factory.hpp"
#include "wire/codec/audio/aac.hpp"
#include "wire/codec/audio/adts.hpp"
#include "wire/codec/audio/mp3.hpp"
#include "wire/codec/audio/opus.hpp"

namespace live::service::transcode {
namespace {

using Codec = wire::codec::Codec;
using Octets = std::vector<std::uint8_t>;
using media::AudioFrame;
using media::Transcoding;

// Amplitude of one frequency among `samples` at 48 kHz (Goertzel).
double amplitude(const std::vector<float>& samples, double hertz) {
    const double step = 2 * std::numbers::pi * hertz / kSampleRate;
    double real = 0;
    double imaginary = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        real += samples[i] * std::cos(step * static_cast<double>(i));
        imaginary += samples[i] * std::sin(step * static_cast<double>(i));
    }
    return samples.empty() ? 0 : 2 * std::hypot(real, imaginary) / static_cast<double>(samples.size());
}

// One channel of interleaved samples, without the ends: encoders fade in and out there.
std::vector<float> channel(const std::vector<float>& samples, std::size_t index, double from_s, double to_s) {
    std::vector<float> one;
    for (std::size_t i = index; i < samples.size(); i += kChannels)
        one.push_back(samples[i]);
    const auto begin = std::min(static_cast<std::size_t>(from_s * kSampleRate), one.size());
    const auto end = std::min(static_cast<std::size_t>(to_s * kSampleRate), one.size());
    return {one.begin() + static_cast<std::ptrdiff_t>(begin), one.begin() + static_cast<std::ptrdiff_t>(end)};
}

struct Frames {
    std::vector<Octets> frames;
    MediaTime duration{};  // of one frame
    Octets config;
    MediaTime time_of(std::size_t index) const { return duration * static_cast<std::int64_t>(index); }
};

Frames aac_frames() {
    Frames made{{}, MediaTime(1'024LL * 1'000'000 / 44'100), {}};
    const Octets stream = tone_adts();
    for (Bytes rest = stream; !rest.empty();) {
        const auto head = wire::codec::parse_adts_header(rest);
        EXPECT_TRUE(head.ok());
        const Bytes frame = rest.subspan(head->header_bytes, head->frame_bytes);
        made.frames.emplace_back(frame.begin(), frame.end());
        rest = rest.subspan(head->header_bytes + head->frame_bytes);
        ByteWriter config;
        write_aac_config(config, head->config);
        made.config = config.release();
    }
    return made;
}

Frames mp3_frames() {
    Frames made{{}, MediaTime(1'152LL * 1'000'000 / 44'100), {}};
    const Octets stream = tone_mp3();
    for (Bytes rest = stream; !rest.empty();) {
        const auto head = wire::codec::parse_mp3_header(rest);
        EXPECT_TRUE(head.ok());
        made.frames.emplace_back(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(head->frame_bytes));
        rest = rest.subspan(head->frame_bytes);
    }
    return made;
}

class AvTranscoderTest : public testing::Test {
protected:
    void SetUp() override {
        auto loaded = AvLibrary::load();
        if (!loaded.ok())
            GTEST_SKIP() << loaded.error().text();
        library_ = std::move(*loaded);
    }
    std::unique_ptr<media::AudioTranscoder> make(Codec from, Bytes config, Codec to, std::uint32_t bitrate = 96'000) {
        auto made = AvTranscoder::create(*library_, {from, config, to, bitrate});
        EXPECT_TRUE(made.ok()) << made.error().text();
        return std::move(*made);
    }
    // Pushes all frames and collects all output. Timestamps are whole milliseconds, as in RTMP.
    static std::vector<AudioFrame> run(media::AudioTranscoder& transcoder, const Frames& in, MediaTime start = {}) {
        std::vector<AudioFrame> out;
        for (std::size_t i = 0; i < in.frames.size(); ++i) {
            const auto time = std::chrono::floor<std::chrono::milliseconds>(start + in.time_of(i));
            EXPECT_TRUE(transcoder.push(in.frames[i], time).ok());
            while (auto frame = *transcoder.poll())
                out.push_back(*std::move(frame));
        }
        return out;
    }
    std::vector<float> decode(Codec codec, Bytes config, const std::vector<AudioFrame>& frames) {
        auto decoder = AvDecoder::create(*library_, codec, config);
        EXPECT_TRUE(decoder.ok());
        std::vector<float> samples;
        for (const AudioFrame& frame : frames)
            EXPECT_TRUE(decoder->decode(frame.data.bytes(), samples).ok());
        return samples;
    }
    static void expect_even(const std::vector<AudioFrame>& frames, std::int64_t samples_each) {
        for (std::size_t i = 1; i < frames.size(); ++i) {
            const auto ticks = std::llround(static_cast<double>((frames[i].time - frames[0].time).count()) * 48.0 / 1'000);
            EXPECT_EQ(ticks, samples_each * static_cast<std::int64_t>(i)) << "frame " << i;
        }
    }
    void expect_tone(const std::vector<float>& samples) {
        const auto left = channel(samples, 0, 0.1, 0.4);
        EXPECT_NEAR(amplitude(left, kToneHertz), kToneAmplitude, 0.03);
        EXPECT_LT(amplitude(left, kToneHertz * 0.7), 0.01);
        EXPECT_LT(amplitude(left, kToneHertz * 48.0 / 44.1), 0.01) << "the sample rate is not changed by declaring another";
        EXPECT_NEAR(amplitude(channel(samples, 1, 0.1, 0.4), kToneHertz), kToneAmplitude, 0.03) << "mono goes to both sides";
    }

    std::unique_ptr<AvLibrary> library_;
};

TEST_F(AvTranscoderTest, AacBecomesOpus) {
    const Frames aac = aac_frames();
    ASSERT_GT(aac.frames.size(), 20U);
    const auto transcoder = make(Codec::aac, aac.config, Codec::opus);
    const auto opus = run(*transcoder, aac, 10s);
    expect_even(opus, 960);
    const auto seconds = static_cast<double>(aac.frames.size()) * 1'024 / 44'100;
    EXPECT_NEAR(static_cast<double>(opus.size()) * 0.02, seconds, 0.021) << "only what does not fill a frame is missing";
    EXPECT_NEAR(static_cast<double>(opus[0].time.count()), 1e7, 10'000) << "the encoder looks ahead a few milliseconds";
    for (const AudioFrame& frame : opus)
        EXPECT_EQ(*wire::codec::opus_samples(frame.data.bytes()), 960U);
    EXPECT_TRUE(transcoder->config().empty() || transcoder->config().size() >= 19) << "an OpusHead, which RTP does not need";
    expect_tone(decode(Codec::opus, {}, opus));
}

TEST_F(AvTranscoderTest, Mp3BecomesOpus) {
    const Frames mp3 = mp3_frames();
    const auto transcoder = make(Codec::mp3, {}, Codec::opus);
    const auto opus = run(*transcoder, mp3);
    expect_even(opus, 960);
    expect_tone(decode(Codec::opus, {}, opus));
}

TEST_F(AvTranscoderTest, ConvertsBothWays) {
    const Frames aac = aac_frames();
    const auto there = make(Codec::aac, aac.config, Codec::opus);
    Frames opus{{}, 20ms, {}};
    for (const AudioFrame& frame : run(*there, aac))
        opus.frames.emplace_back(frame.data.bytes().begin(), frame.data.bytes().end());
    const auto back = make(Codec::opus, {}, Codec::aac);
    const auto out = run(*back, opus);
    expect_even(out, 1'024);
    const auto config = wire::codec::parse_aac_config(back->config());
    ASSERT_TRUE(config.ok());
    EXPECT_EQ(config->object_type, 2);
    EXPECT_EQ(config->sample_rate, 48'000U);
    EXPECT_EQ(config->channels, 2);
    const auto samples = decode(Codec::aac, back->config(), out);
    EXPECT_NEAR(static_cast<double>(samples.size()) / kChannels / kSampleRate, static_cast<double>(opus.frames.size()) * 0.02,
                0.05);
    expect_tone(samples);
}

TEST_F(AvTranscoderTest, KeepsChannelsApart) {
    auto encoder = AvEncoder::create(*library_, Codec::aac, 128'000);
    ASSERT_TRUE(encoder.ok());
    Frames aac{{}, MediaTime(1'024LL * 1'000'000 / 48'000), {encoder->config().begin(), encoder->config().end()}};
    for (int frame = 0; frame < 40; ++frame) {
        std::vector<float> samples;
        for (int i = 0; i < 1'024; ++i) {
            const double at = 2 * std::numbers::pi * (frame * 1'024 + i) / kSampleRate;
            samples.push_back(static_cast<float>(0.4 * std::sin(440 * at)));
            samples.push_back(static_cast<float>(0.2 * std::sin(1'700 * at)));
        }
        ASSERT_TRUE(encoder->encode(samples).ok());
        while (auto data = *encoder->poll())
            aac.frames.emplace_back(data->bytes().begin(), data->bytes().end());
    }
    const auto transcoder = make(Codec::aac, aac.config, Codec::opus);
    const auto samples = decode(Codec::opus, {}, run(*transcoder, aac));
    EXPECT_NEAR(amplitude(channel(samples, 0, 0.1, 0.7), 440), 0.4, 0.04);
    EXPECT_NEAR(amplitude(channel(samples, 1, 0.1, 0.7), 1'700), 0.2, 0.03);
    EXPECT_LT(amplitude(channel(samples, 0, 0.1, 0.7), 1'700), 0.02);
    EXPECT_LT(amplitude(channel(samples, 1, 0.1, 0.7), 440), 0.02);
}

TEST_F(AvTranscoderTest, SmoothsTimestampJitter) {
    const Frames aac = aac_frames();
    const auto transcoder = make(Codec::aac, aac.config, Codec::opus);
    std::vector<AudioFrame> out;
    for (std::size_t i = 0; i < aac.frames.size(); ++i) {
        ASSERT_TRUE(transcoder->push(aac.frames[i], aac.time_of(i) + (i % 2 == 0 ? 0ms : 17ms)).ok());
        while (auto frame = *transcoder->poll())
            out.push_back(*std::move(frame));
    }
    expect_even(out, 960);
    expect_tone(decode(Codec::opus, {}, out));
}

TEST_F(AvTranscoderTest, FillsAGapWithSilence) {
    const Frames aac = aac_frames();
    const auto transcoder = make(Codec::aac, aac.config, Codec::opus);
    auto out = run(*transcoder, aac);
    const MediaTime end = aac.time_of(aac.frames.size());
    for (auto& frame : run(*transcoder, aac, end + 500ms))
        out.push_back(std::move(frame));
    expect_even(out, 960);
    const auto samples = decode(Codec::opus, {}, out);
    const double end_s = static_cast<double>(end.count()) / 1e6;
    EXPECT_LT(amplitude(channel(samples, 0, end_s + 0.1, end_s + 0.4), kToneHertz), 0.005);
    EXPECT_NEAR(amplitude(channel(samples, 0, end_s + 0.6, end_s + 0.9), kToneHertz), kToneAmplitude, 0.03);
}

TEST_F(AvTranscoderTest, JumpsOverALongGap) {
    const Frames aac = aac_frames();
    const auto transcoder = make(Codec::aac, aac.config, Codec::opus);
    const auto before = run(*transcoder, aac);
    const auto after = run(*transcoder, aac, 60s);
    ASSERT_FALSE(after.empty());
    EXPECT_NEAR(static_cast<double>(after[0].time.count()), 60e6, 10'000);
    EXPECT_EQ(after.size(), before.size());
    expect_even(after, 960);
}

TEST_F(AvTranscoderTest, DropsRepeatedAudio) {
    const Frames aac = aac_frames();
    const auto transcoder = make(Codec::aac, aac.config, Codec::opus);
    const auto first = run(*transcoder, aac);
    const auto again = run(*transcoder, aac);
    EXPECT_LE(again.size(), 3U) << "but for the tolerance, all of it has been";
}

TEST_F(AvTranscoderTest, ContinuesAfterBrokenFrames) {
    const Frames aac = aac_frames();
    const auto transcoder = make(Codec::aac, aac.config, Codec::opus);
    std::size_t errors = 0;
    std::size_t frames = 0;
    MediaTime time{};
    for (std::size_t round = 0; round < 3; ++round) {
        for (const Octets& frame : aac.frames) {
            for (std::size_t size = 0; size < frame.size(); size += 1 + frame.size() / 9) {
                errors += transcoder->push(Bytes(frame).first(size), time).ok() ? 0 : 1;
                Octets garbled = frame;
                for (std::size_t i = size; i < garbled.size(); i += 7)
                    garbled[i] ^= 0xA5;
                errors += transcoder->push(garbled, time).ok() ? 0 : 1;
            }
            EXPECT_TRUE(transcoder->push(frame, time).ok());
            time += aac.duration;
            while (*transcoder->poll())
                ++frames;
        }
    }
    EXPECT_GT(errors, aac.frames.size());
    EXPECT_GE(frames, aac.frames.size());
    EXPECT_EQ(transcoder->push(Octets(AvDecoder::kFrameBytesMax + 1, 0), time).code(), Errc::limit);
}

TEST_F(AvTranscoderTest, ReportsUnsupportedConversions) {
    EXPECT_EQ(AvTranscoder::create(*library_, {Codec::nellymoser, {}, Codec::opus, 48'000}).code(), Errc::unsupported);
    const Octets no_config{0xFF};
    EXPECT_FALSE(AvTranscoder::create(*library_, {Codec::aac, no_config, Codec::opus, 48'000}).ok());
    EXPECT_EQ(AvTranscoder::create(*library_, {Codec::aac, Octets(5'000, 1), Codec::opus, 48'000}).code(), Errc::limit);
}

TEST_F(AvTranscoderTest, EveryBitrateOfTheConfWorks) {
    const Frames aac = aac_frames();
    for (const std::uint32_t bitrate : {8'000U, 320'000U}) {
        const auto opus = run(*make(Codec::aac, aac.config, Codec::opus, bitrate), aac);
        EXPECT_GT(opus.size(), 20U) << bitrate;
        Frames back{{}, 20ms, {}};
        for (const AudioFrame& frame : opus)
            back.frames.emplace_back(frame.data.bytes().begin(), frame.data.bytes().end());
        EXPECT_GT(run(*make(Codec::opus, {}, Codec::aac, bitrate), back).size(), 15U) << bitrate;
    }
}

TEST_F(AvTranscoderTest, G711) {
    Frames law{{}, 20ms, {}};
    for (int i = 0; i < 25; ++i)
        law.frames.emplace_back(160, static_cast<std::uint8_t>(0xD5));
    EXPECT_EQ(run(*make(Codec::g711a, {}, Codec::opus), law).size(), 24U);
}

class Converted final : public media::AudioListener {
public:
    void on_audio() override { came.raise(); }
    Signal came;
};

// Creating coders takes more stack than a fiber's default; the server's fibers have it.
struct TranscoderFactoryTest : testing::Test {
    ~TranscoderFactoryTest() override { MUST(scope.stop(io::Deadline::after(io::kSoon))); }
    std::unique_ptr<media::AudioTranscoder> make(const Transcoding& what) {
        auto made = factory.create(what, listener);
        EXPECT_TRUE(made.ok());
        return *std::move(made);
    }

    std::unique_ptr<io::Loop> loop = MUST(io::Loop::create({.stack_bytes = 256 * 1024}));
    TranscoderFactory factory{[] { return false; }, Log()};
    Converted listener;
    io::Scope scope{"transcode-test"};
};

TEST_F(TranscoderFactoryTest, ConvertsInWorkerThreads) {
    MUST(factory.start(scope, io::Deadline::never()));
    if (const auto loaded = factory.load(io::Deadline::after(io::kSoon)); !loaded.ok())
        GTEST_SKIP() << loaded.error().text();
    std::size_t frames = 0;
    const Frames aac = aac_frames();
    MUST(scope.start("fiber", [&](io::Deadline) {
        const auto there = make({Codec::aac, aac.config, Codec::opus, 48'000});
        const auto back = make({Codec::opus, {}, Codec::aac, 48'000});
        EXPECT_EQ(wire::codec::parse_aac_config(back->config())->sample_rate, 48'000U);
        for (std::size_t i = 0; i < aac.frames.size(); ++i)
            EXPECT_TRUE(there->push(aac.frames[i], aac.time_of(i)).ok());
        const auto limit = io::Deadline::after(io::kSoon);
        while ((!there->is_idle() || !back->is_idle()) && !limit.expired()) {
            MUST(io::wait(listener.came, limit));
            while (const auto frame = *there->poll())
                EXPECT_TRUE(back->push(frame->data.bytes(), frame->time).ok());
            while (*back->poll())
                ++frames;
        }
    }));
    io::wait_until([&] { return scope.size() == 1; });
    EXPECT_GT(frames, 15U);
}

TEST_F(TranscoderFactoryTest, MakesTranscoders) {
    EXPECT_EQ(factory.create({Codec::opus, {}, Codec::aac, 48'000}, listener).code(), Errc::unsupported) << "not loaded yet";
    if (const auto loaded = factory.load(io::Deadline::after(io::kSoon)); !loaded.ok())
        GTEST_SKIP() << loaded.error().text();
    EXPECT_TRUE(factory.load(io::Deadline::after(io::kSoon)).ok());
    EXPECT_TRUE(factory.create({Codec::opus, {}, Codec::aac, 48'000}, listener).ok());
    EXPECT_EQ(factory.create({Codec::speex, {}, Codec::opus, 48'000}, listener).code(), Errc::unsupported);
}

// A stream may end at any time, and so may the server.
TEST_F(TranscoderFactoryTest, MayBeDestroyedDuringAConversion) {
    auto passing = std::make_unique<TranscoderFactory>([] { return false; }, Log());
    if (const auto loaded = passing->load(io::Deadline::after(io::kSoon)); !loaded.ok())
        GTEST_SKIP() << loaded.error().text();
    const Frames aac = aac_frames();
    for (int round = 0; round < 20; ++round) {
        auto transcoder = *passing->create({Codec::aac, aac.config, Codec::opus, 48'000}, listener);
        for (std::size_t i = 0; i < aac.frames.size(); ++i)
            EXPECT_TRUE(transcoder->push(aac.frames[i], aac.time_of(i)).ok());
        if (round % 4 == 0)
            MUST(io::sleep(io::Deadline::after(1ms)));
    }
    passing.reset();
    loop.reset();  // waits for the threads
    loop = MUST(io::Loop::create());
}

}  // namespace
}  // namespace live::service::transcode
