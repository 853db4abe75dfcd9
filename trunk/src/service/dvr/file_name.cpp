#include "service/dvr/file_name.hpp"

#include <algorithm>
#include <string_view>

namespace live::service::dvr {

namespace {

constexpr std::string_view kFlv = ".flv";
constexpr std::string_view kMp4 = ".mp4";
constexpr std::string_view kNameInFolder = "[stream].[timestamp]";

}  // namespace

bool is_recorded(const DvrOptions& options, const StreamName& name) {
    const std::string wanted = name.app + "/" + name.stream;
    return std::any_of(options.apply.begin(), options.apply.end(),
                       [&wanted](const std::string& entry) { return entry == "all" || entry == wanted; });
}

FileFormat format_of(const DvrOptions& options) {
    if (options.format == DvrFormat::fmp4)
        return FileFormat::fmp4;
    return options.path.ends_with(kMp4) ? FileFormat::mp4 : FileFormat::flv;
}

std::string path_template(const DvrOptions& options) {
    std::string path = options.path;
    const std::string_view ending = format_of(options) == FileFormat::flv ? kFlv : kMp4;
    if (path.ends_with(kFlv) || path.ends_with(kMp4)) {
        path.resize(path.size() - kFlv.size());
    } else {
        if (!path.ends_with('/'))
            path += '/';
        path += kNameInFolder;
    }
    path += ending;
    return path;
}

std::string file_name(const DvrOptions& options, const StreamName& name, std::chrono::system_clock::time_point now, Zone zone) {
    Variables variables = time_variables(now, zone);
    variables.emplace_back("vhost", name.vhost);
    variables.emplace_back("app", name.app);
    variables.emplace_back("stream", name.stream);
    return replace_variables(path_template(options), variables);
}

}  // namespace live::service::dvr
