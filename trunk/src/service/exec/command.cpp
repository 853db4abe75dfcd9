#include "service/exec/command.hpp"

#include <fmt/format.h>

#include "service/ffmpeg/arguments.hpp"
#include "wire/http/target.hpp"

namespace live::service::exec {

namespace {

enum class Target : std::uint8_t { none, output, errors };

// The target of a redirection, and the length of its operator.
struct Redirection {
    Target target = Target::none;
    std::size_t length = 0;
};

Redirection redirection_of(std::string_view word) {
    if (word.starts_with('>'))
        return {Target::output, 1};
    if (word.starts_with("1>"))
        return {Target::output, 2};
    if (word.starts_with("2>"))
        return {Target::errors, 2};
    return {};
}

// Replaces the variables of one configured word.
Result<std::string> expand(const std::string& word, const Variables& variables) {
    std::string expanded = replace_variables(word, variables);
    if (expanded.starts_with('-') && !word.starts_with('-'))
        return Error(Errc::denied, fmt::format("{} would become the option {}", word, expanded));
    if (ffmpeg::has_parent_folder(expanded) && !ffmpeg::has_parent_folder(word))
        return Error(Errc::denied, fmt::format("{} would become {}, outside its folder", word, expanded));
    return expanded;
}

}  // namespace

Variables variables_of(const session::ClientRequest& publisher, const std::string& vhost, std::uint16_t rtmp_port) {
    std::string url = fmt::format("rtmp://127.0.0.1:{}/{}/{}?vhost={}", rtmp_port, publisher.app, publisher.stream,
                                  wire::http::percent_encode(vhost));
    if (publisher.param.size() > 1)
        url += "&" + publisher.param.substr(1);
    return {{"vhost", vhost},
            {"port", std::to_string(rtmp_port)},
            {"app", publisher.app},
            {"stream", publisher.stream},
            {"tcUrl", publisher.tc_url},
            {"swfUrl", publisher.swf_url},
            {"pageUrl", publisher.page_url},
            {"url", std::move(url)}};
}

Result<Command> build_command(const std::vector<std::string>& words, const Variables& variables) {
    Command command;
    bool shares_output = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto [target, length] = redirection_of(words[i]);
        if (target == Target::none) {
            command.arguments.push_back(TRY(expand(words[i], variables)));
            continue;
        }
        if (words[i] == "2>&1") {
            shares_output = true;
            continue;
        }
        std::string file = words[i].substr(length);
        if (file.starts_with('>'))  // >>FILE: files are always appended to
            file.erase(0, 1);
        if (file.empty() && i + 1 < words.size())
            file = words[++i];
        if (file.empty())
            return Error(Errc::malformed, fmt::format("{} names no file", words[i]));
        (target == Target::output ? command.output_path : command.error_path) = TRY(expand(file, variables));
    }
    if (shares_output)
        command.error_path = command.output_path;
    if (command.arguments.empty() || command.arguments.front().empty())
        return Error(Errc::malformed, "a command needs a program");
    return command;
}

}  // namespace live::service::exec
