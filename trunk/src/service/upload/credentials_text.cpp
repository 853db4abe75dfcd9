#include "service/upload/credentials_text.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace live::service::upload {

namespace {

using Json = nlohmann::ordered_json;

std::string_view trim(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r";
    const std::size_t begin = text.find_first_not_of(kSpace);
    return begin == std::string_view::npos ? std::string_view() : text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::string text_in(const Json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

Result<engine::s3::Credentials> parse_credentials_file(std::string_view text, std::string_view profile) {
    engine::s3::Credentials credentials;
    bool is_inside = false;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = trim(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty() || line.front() == '#' || line.front() == ';')
            continue;
        if (line.front() == '[') {
            is_inside = line.ends_with(']') && trim(line.substr(1, line.size() - 2)) == profile;
            continue;
        }
        const std::size_t equals = line.find('=');
        if (!is_inside || equals == std::string_view::npos)
            continue;
        const std::string_view name = trim(line.substr(0, equals)), value = trim(line.substr(equals + 1));
        if (name == "aws_access_key_id")
            credentials.access_key = value;
        else if (name == "aws_secret_access_key")
            credentials.secret_key = value;
        else if (name == "aws_session_token")
            credentials.session_token = value;
    }
    if (credentials.is_empty())
        return Error(Errc::not_found, "the credentials file has no keys of profile " + std::string(profile));
    return credentials;
}

Result<TemporaryCredentials> parse_instance_credentials(std::string_view json) {
    const Json answer = Json::parse(json, nullptr, false);
    if (!answer.is_object())
        return Error(Errc::malformed, "the metadata service's answer is no JSON object");
    TemporaryCredentials found;
    found.credentials = {text_in(answer, "AccessKeyId"), text_in(answer, "SecretAccessKey"), text_in(answer, "Token")};
    if (found.credentials.is_empty())
        return Error(Errc::malformed, "the metadata service's answer has no keys");
    if (const auto end = parse_wall_time(text_in(answer, "Expiration")); end.ok())
        found.expiration = *end;
    return found;
}

}  // namespace live::service::upload
