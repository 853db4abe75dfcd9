#include "session/gb28181/options.hpp"

#include <string_view>

#include "wire/rtmp/stream_url.hpp"

namespace live::session::gb28181 {

namespace {

bool replace(std::string& text, std::string_view what, const std::string& with) {
    const std::size_t at = text.find(what);
    if (at == std::string::npos)
        return false;
    text.replace(at, what.size(), with);
    return true;
}

}  // namespace

Result<std::string> output_of(const std::string& output, const std::string& id) {
    if (const auto admitted = wire::rtmp::admit_name(id); !admitted.ok())
        return Error(Errc::malformed, "the id is no name of a stream: " + std::string(admitted.error().sentence()));
    if (id.find('/') != std::string::npos)
        return Error(Errc::malformed, "the id is no name of a stream: it has a slash");
    std::string url = output.empty() ? std::string(kDefaultOutput) : output;
    replace(url, "[app]", "live");
    if (!replace(url, "[stream]", id))
        return Error(Errc::malformed, "output has no [stream]");
    if (url.find('[') != std::string::npos)
        return Error(Errc::malformed, "output has an unknown variable; there are [app] and [stream]");
    if (!url.starts_with("rtmp://"))
        return Error(Errc::malformed, "output must begin with rtmp://");
    TRY(wire::rtmp::admit(TRY(wire::rtmp::parse_stream_url(url))));
    return url;
}

}  // namespace live::session::gb28181
