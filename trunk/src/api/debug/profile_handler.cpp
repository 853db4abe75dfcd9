#include "api/debug/profile_handler.hpp"

#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/common/envelope.hpp"
#include "api/debug/profile_text.hpp"
#include "io/fibers/off_loop.hpp"
#include "io/process/cpu_profile.hpp"
#include "io/process/symbol_table.hpp"
#include "wire/http/status.hpp"

namespace live::api {

using session::http::error_reply;
using session::http::Reply;
using session::http::Request;

namespace {

using wire::http::Status;

std::optional<std::chrono::seconds> seconds_of(std::string_view text) {
    unsigned number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end.ec != std::errc() || end.ptr != text.data() + text.size() || number < 1 ||
        number > static_cast<unsigned>(io::CpuProfile::kDurationMax.count()))
        return std::nullopt;
    return std::chrono::seconds(number);
}

std::string mappings() {
    std::ifstream file("/proc/self/maps");
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Reply ProfileHandler::handle(const Request& request, io::Deadline deadline) {
    const std::string_view format = request.target.query.get("format", "pprof");
    const bool is_folded = format == "folded";
    if (!is_folded && format != "pprof")
        return error_reply(Status::bad_request, "format is pprof or folded");
    const auto asked = request.target.query.find("seconds");
    const auto duration = asked ? seconds_of(*asked) : kDefault;
    if (!duration)
        return error_reply(Status::bad_request, "seconds is a number from 1 to 60");
    auto profile = io::profile_cpu(*duration, deadline);
    if (!profile.ok())
        return error_reply(profile.code() == Errc::conflict ? Status::conflict : Status::service_unavailable,
                           profile.error().sentence());
    // Resolving names reads many files and takes thousands of look-ups.
    auto text = io::off_loop(
        [taken = *std::move(profile), is_folded] {
            if (!is_folded)
                return pprof_text(taken, mappings());
            const io::SymbolTable symbols;
            return folded_text(taken, [&symbols](std::uintptr_t address) { return symbols.name_of(address); });
        },
        deadline);
    if (!text.ok())
        return error_reply(Status::service_unavailable, "the server stops");
    return {Status::ok, is_folded ? "text/plain" : "application/octet-stream", *std::move(text), {}};
}

}  // namespace live::api
