// Cost of converting a second of audio: 43 frames of AAC become 50 of Opus, 50 of Opus become 47 of AAC. The figure is seconds of
// audio per second on one core.
#include <benchmark/benchmark.h>

#include "base/check.hpp"
#include "service/transcode/av_transcoder.hpp"

namespace live::service::transcode {
namespace {

using Codec = wire::codec::Codec;

// A second of noise in the codec.
std::vector<Slice> second_of(const AvLibrary& library, Codec codec, std::vector<std::uint8_t>& config) {
    AvEncoder encoder = AvEncoder::create(library, codec, 96'000).value();
    config.assign(encoder.config().begin(), encoder.config().end());
    std::vector<Slice> frames;
    std::uint32_t seed = 1;
    for (std::size_t done = 0; done < kSampleRate; done += encoder.frame_samples()) {
        std::vector<float> samples(encoder.frame_samples() * kChannels);
        for (float& sample : samples) {
            seed = seed * 1'664'525 + 1'013'904'223;
            sample = static_cast<float>(seed >> 8) / (1U << 25) - 0.25F;
        }
        CHECK(encoder.encode(samples).ok());
        while (auto frame = encoder.poll().value())
            frames.push_back(*std::move(frame));
    }
    return frames;
}

void convert(benchmark::State& state, Codec from, Codec to) {
    const auto library = AvLibrary::load().value();
    std::vector<std::uint8_t> config;
    const auto frames = second_of(*library, from, config);
    const auto transcoder =
        AvTranscoder::create(*library, {from, from == Codec::aac ? Bytes(config) : Bytes{}, to, 48'000}).value();
    const MediaTime each = MediaTime(from == Codec::aac ? 1'024'000'000 / 48'000 : 20'000);
    MediaTime time{};
    std::size_t out = 0;
    for ([[maybe_unused]] auto turn : state) {
        for (const Slice& frame : frames) {
            CHECK(transcoder->push(frame.bytes(), time).ok());
            time += each;
            while (transcoder->poll()->has_value())
                ++out;
        }
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(out));
}

// Creating and destroying a transcoder. The first one of a process also fills the libraries' tables: it has its own row.
void create(benchmark::State& state, Codec from, Codec to) {
    const auto library = AvLibrary::load().value();
    const std::vector<std::uint8_t> aac = {0x11, 0x90};  // 48 kHz, stereo
    for ([[maybe_unused]] auto turn : state)
        CHECK(AvTranscoder::create(*library, {from, from == Codec::aac ? Bytes(aac) : Bytes{}, to, 48'000}).ok());
}
void create_aac_to_opus(benchmark::State& state) { create(state, Codec::aac, Codec::opus); }
void create_opus_to_aac(benchmark::State& state) { create(state, Codec::opus, Codec::aac); }
BENCHMARK(create_aac_to_opus)->Name("create_the_first_aac_to_opus")->Iterations(1)->Unit(benchmark::kMicrosecond);
BENCHMARK(create_opus_to_aac)->Name("create_the_first_opus_to_aac")->Iterations(1)->Unit(benchmark::kMicrosecond);
BENCHMARK(create_aac_to_opus)->Unit(benchmark::kMicrosecond);
BENCHMARK(create_opus_to_aac)->Unit(benchmark::kMicrosecond);

void aac_to_opus(benchmark::State& state) { convert(state, Codec::aac, Codec::opus); }
void opus_to_aac(benchmark::State& state) { convert(state, Codec::opus, Codec::aac); }
BENCHMARK(aac_to_opus);
BENCHMARK(opus_to_aac);

}  // namespace
}  // namespace live::service::transcode

BENCHMARK_MAIN();
