#include "wire/mp4/sample_table.hpp"

#include <algorithm>
#include <limits>

#include "wire/mp4/box.hpp"

namespace live::wire::mp4 {

template <class T>
void SampleTable::extend(std::vector<Run<T>>& runs, T value) {
    if (runs.empty() || runs.back().value != value)
        runs.push_back({.value = value});
    ++runs.back().count;
}

void SampleTable::add(std::uint64_t tick, std::int64_t composition, std::size_t bytes, bool key) {
    constexpr std::uint64_t kTicksMax = std::numeric_limits<std::uint32_t>::max();
    constexpr std::int64_t kCompositionMax = std::numeric_limits<std::int32_t>::max();
    if (sizes_.empty())
        first_tick_ = tick;
    else
        extend(durations_, static_cast<std::uint32_t>(std::min(tick - last_tick_, kTicksMax)));
    last_tick_ = tick;
    extend(compositions_, static_cast<std::int32_t>(std::clamp(composition, -kCompositionMax, kCompositionMax)));
    sizes_.push_back(static_cast<std::uint32_t>(bytes));
    if (key)
        keys_.push_back(static_cast<std::uint32_t>(sizes_.size()));
}

void SampleTable::end_chunk(std::uint64_t offset) {
    const auto samples = static_cast<std::uint32_t>(sizes_.size()) - chunked_;
    CHECK(samples > 0);
    chunks_.push_back({offset, samples});
    chunked_ += samples;
}

void SampleTable::forget_behind(std::uint64_t end) {
    while (sizes_.size() > chunked_)
        forget_last();
    while (!chunks_.empty()) {
        const Chunk chunk = chunks_.back();
        std::uint64_t bytes = 0;
        for (std::size_t i = sizes_.size() - chunk.samples; i < sizes_.size(); ++i)
            bytes += sizes_[i];
        if (chunk.offset + bytes <= end)
            return;
        for (std::uint32_t i = 0; i < chunk.samples; ++i)
            forget_last();
        chunked_ -= chunk.samples;
        chunks_.pop_back();
    }
}

void SampleTable::forget_last() {
    const auto shorten = [](auto& runs) {
        const auto value = runs.back().value;
        if (--runs.back().count == 0)
            runs.pop_back();
        return value;
    };
    if (!durations_.empty())
        last_tick_ -= shorten(durations_);
    shorten(compositions_);
    if (!keys_.empty() && keys_.back() == sizes_.size())
        keys_.pop_back();
    sizes_.pop_back();
}

void SampleTable::write(ByteWriter& out, std::uint32_t last_ticks) const {
    CHECK(chunked_ == sizes_.size());
    {
        const Box box(out, "stts", 0, 0);
        out.u32be(static_cast<std::uint32_t>(durations_.size() + (sizes_.empty() ? 0 : 1)));
        for (const auto& run : durations_)
            out.u32be(run.count).u32be(run.value);
        if (!sizes_.empty())
            out.u32be(1).u32be(last_ticks);
    }
    const bool has_composition = compositions_.size() > 1 || (compositions_.size() == 1 && compositions_[0].value != 0);
    if (has_composition) {
        const bool has_negative =
            std::any_of(compositions_.begin(), compositions_.end(), [](auto& run) { return run.value < 0; });
        const Box box(out, "ctts", has_negative ? 1 : 0, 0);
        out.u32be(static_cast<std::uint32_t>(compositions_.size()));
        for (const auto& run : compositions_)
            out.u32be(run.count).u32be(static_cast<std::uint32_t>(run.value));
    }
    // Without this box every sample is a sync sample.
    if (keys_.size() != sizes_.size()) {
        const Box box(out, "stss", 0, 0);
        out.u32be(static_cast<std::uint32_t>(keys_.size()));
        for (const std::uint32_t number : keys_)
            out.u32be(number);
    }
    write_chunks(out);
}

void SampleTable::write_chunks(ByteWriter& out) const {
    {
        struct Stretch {
            std::uint32_t first;
            std::uint32_t samples;
        };
        std::vector<Stretch> runs;
        for (std::size_t i = 0; i < chunks_.size(); ++i)
            if (runs.empty() || runs.back().samples != chunks_[i].samples)
                runs.push_back({static_cast<std::uint32_t>(i + 1), chunks_[i].samples});
        const Box box(out, "stsc", 0, 0);
        out.u32be(static_cast<std::uint32_t>(runs.size()));
        for (const Stretch& run : runs)
            out.u32be(run.first).u32be(run.samples).u32be(1);
    }
    {
        const Box box(out, "stsz", 0, 0);
        out.u32be(0).u32be(static_cast<std::uint32_t>(sizes_.size()));
        for (const std::uint32_t size : sizes_)
            out.u32be(size);
    }
    const bool is_far = !chunks_.empty() && chunks_.back().offset > std::numeric_limits<std::uint32_t>::max();
    const Box box(out, is_far ? "co64" : "stco", 0, 0);
    out.u32be(static_cast<std::uint32_t>(chunks_.size()));
    for (const Chunk& chunk : chunks_) {
        if (is_far)
            out.u64be(chunk.offset);
        else
            out.u32be(static_cast<std::uint32_t>(chunk.offset));
    }
}

}  // namespace live::wire::mp4
