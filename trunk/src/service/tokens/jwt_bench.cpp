// The cost of an admission by token: the signature (RS256 with 2048 bits), the claims and the rights.
#include <vector>

#include <benchmark/benchmark.h>

#include "service/tokens/jwt.hpp"

namespace live::service::tokens {
namespace {

// Made for this: srs token --publish live/cam --play 'live/*' --never-expires.
constexpr std::string_view kPublic =
    "-----BEGIN PUBLIC KEY-----\n"
    "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAlya5AS895joK5RW1hRHa\n"
    "Nj5ivRNHQ7s/WuKBko08IL9NuaJeEiGmzS/lU1KikSJe6MsJx8ZGJwuSQKViOCXd\n"
    "uobU39nehDbFh0oxrR8+Z5LkYQ5NgiB5WcfYs62C5XoSnXiANerGfbt7d441LQ05\n"
    "2RrnRxMVPJGjQqnns8/ydyqjoNmizZ+/gKT6+kftlEJLeSoCEEP3HO8np37aasjW\n"
    "RzjUyBmfCNf6/XTMP5+dsAehZJlMpE1UDG5PgEFwyrvvfq0ydOc6pKZfZQCxrHEL\n"
    "anAjELI+o7+c+LUZljRUdRM1WZpjCxEmh82B9mo3cVoK1i2LSWo/2PeP4flW7Taz\n"
    "0wIDAQAB\n"
    "-----END PUBLIC KEY-----\n";
constexpr std::string_view kToken =
    "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJpYXQiOjE3OTU5NjU2NDksIm1lZGlhbXR4X3Blcm1pc3Npb25zIjpbeyJhY3Rpb24iOiJwd"
    "WJsaXNoIiwicGF0aCI6ImxpdmUvY2FtIn0seyJhY3Rpb24iOiJwbGF5IiwicGF0aCI6ImxpdmUvKiJ9XX0.cW_Nqjtv7cuyi4n0Fy6CiG2jP_s"
    "OIUUVwYU75gbLooG9CziY-yAv3t0rq1Ai7n_rnUIzzrzIO8J079MibaLs4qc1L6qkC66yg4jx12ouG7IA7FcBoWSzwbwdhfcy5WJ2y0xIqgl8-"
    "NBuX4B2OVzcRkCLIgNSEzEdj6zTTDJM8kn0BAyFksFaps_M0EzW-KiRGN82uAdnOkxQMt5Eq07oAPR_UpiJSD0whFwzxY4PG3I2tF1nhcoWDhi"
    "RvRlmHywnbiHeS1lB2RH0APpsNzTxHcMHHinfLPXQi2DXarnHy07idpT4dAf3GbRwh-BT8LPqAhv1NoXtPLxnp8WLks-dwA";

void admit_by_token(benchmark::State& state) {
    const std::vector keys = {MUST(engine::crypto::SigningKey::parse(kPublic))};
    const UnixSeconds now(std::chrono::seconds(1'800'000'000));
    for (auto _ : state) {
        const auto verified = MUST(verify_jwt(kToken, keys, {}, now));
        benchmark::DoNotOptimize(permits(verified.rights, Permission::play, "live/cam"));
    }
}
BENCHMARK(admit_by_token)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace live::service::tokens

BENCHMARK_MAIN();
