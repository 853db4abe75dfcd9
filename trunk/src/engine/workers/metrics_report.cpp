#include "engine/workers/metrics_report.hpp"

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"

namespace live::engine::workers {

namespace {

constexpr std::uint8_t kVersion = 1;

enum class ValueKind : std::uint8_t { whole, real };

void write_text(ByteWriter& out, std::string_view text) { out.u32be(static_cast<std::uint32_t>(text.size())).text(text); }

void write_sample(ByteWriter& out, const MetricSample& sample) {
    write_text(out, sample.suffix);
    out.u8(static_cast<std::uint8_t>(sample.labels.size()));
    for (const auto& [name, value] : sample.labels) {
        write_text(out, name);
        write_text(out, value);
    }
    if (const auto* whole = std::get_if<std::uint64_t>(&sample.value))
        out.u8(static_cast<std::uint8_t>(ValueKind::whole)).u64be(*whole);
    else
        out.u8(static_cast<std::uint8_t>(ValueKind::real)).f64be(std::get<double>(sample.value));
}

Result<std::string> read_text(ByteReader& in) { return std::string(as_text(TRY(in.take(TRY(in.u32be()))))); }

template <class Enum>
Result<Enum> read_enum(ByteReader& in, Enum last) {
    const auto value = TRY(in.u8());
    if (value > static_cast<std::uint8_t>(last))
        return Error(Errc::malformed, "unknown value in a metrics report");
    return static_cast<Enum>(value);
}

Result<MetricSample> read_sample(ByteReader& in) {
    MetricSample sample;
    sample.suffix = TRY(read_text(in));
    const std::size_t labels = TRY(in.u8());
    if (labels > kReportedLabelsMax)
        return Error(Errc::limit, "too many labels in a metrics report");
    for (std::size_t i = 0; i < labels; ++i) {
        auto name = TRY(read_text(in));
        auto value = TRY(read_text(in));
        sample.labels.emplace_back(std::move(name), std::move(value));
    }
    if (TRY(read_enum(in, ValueKind::real)) == ValueKind::whole)
        sample.value = TRY(in.u64be());
    else
        sample.value = TRY(in.f64be());
    return sample;
}

Result<MetricFamily> read_family(ByteReader& in, std::size_t& samples_left) {
    MetricFamily family;
    family.name = TRY(read_text(in));
    family.help = TRY(read_text(in));
    family.type = TRY(read_enum(in, MetricFamily::Type::histogram));
    family.combine = TRY(read_enum(in, MetricFamily::Combine::first));
    family.is_by_worker = TRY(in.u8()) != 0;
    const std::size_t samples = TRY(in.u32be());
    if (samples > samples_left)
        return Error(Errc::limit, "too many samples in a metrics report");
    samples_left -= samples;
    for (std::size_t i = 0; i < samples; ++i)
        family.samples.push_back(TRY(read_sample(in)));
    return family;
}

Result<MetricFamilies> read_report(ByteReader in) {
    if (TRY(in.u8()) != kVersion)
        return Error(Errc::unsupported, "a metrics report of another version");
    MetricFamilies families;
    std::size_t samples_left = kReportedSamplesMax;
    while (!in.at_end()) {
        if (families.size() == kReportedFamiliesMax)
            return Error(Errc::limit, "too many families in a metrics report");
        families.push_back(TRY(read_family(in, samples_left)));
    }
    return families;
}

}  // namespace

std::string write_metrics_report(const MetricFamilies& families) {
    ByteWriter out;
    out.u8(kVersion);
    for (const MetricFamily& family : families) {
        write_text(out, family.name);
        write_text(out, family.help);
        out.u8(static_cast<std::uint8_t>(family.type))
            .u8(static_cast<std::uint8_t>(family.combine))
            .u8(family.is_by_worker ? 1 : 0);
        out.u32be(static_cast<std::uint32_t>(family.samples.size()));
        for (const MetricSample& sample : family.samples)
            write_sample(out, sample);
    }
    return std::string(as_text(out.written()));
}

// The report is whole: what is missing at its end is malformed.
Result<MetricFamilies> parse_metrics_report(Bytes report) {
    auto families = read_report(ByteReader(report));
    if (!families.ok() && families.code() == Errc::need_more)
        return Error(Errc::malformed, "a metrics report ends early");
    return families;
}

}  // namespace live::engine::workers
