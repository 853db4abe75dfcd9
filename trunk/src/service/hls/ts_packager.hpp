// TsPackager: segments of MPEG-TS (RFC 8216, 3.2). Each begins with its tables; the counters run on from one to the next.
#pragma once

#include "service/hls/packager.hpp"
#include "wire/ts/ts_converter.hpp"

namespace live::service::hls {

class TsPackager final : public Packager {
public:
    Change configure(const media::Packet& config) override;
    void begin_segment(std::vector<std::uint8_t>& out) override;
    bool add(const media::Packet& packet, std::vector<std::uint8_t>& out) override;
    void end_part(MediaTime, std::optional<media::Kind>, std::vector<std::uint8_t>&) override {}

private:
    wire::ts::TsConverter converter_;
};

}  // namespace live::service::hls
