#include "service/upload/credentials.hpp"

#include <fstream>

#include "io/fibers/off_loop.hpp"
#include "wire/http/status.hpp"

namespace live::service::upload {

namespace {

WallTime wall_now() { return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()); }

Result<std::string> read_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in)
        return Error(Errc::not_found, "the credentials file " + path + " cannot be read");
    std::string text(kCredentialsBytesMax, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}

}  // namespace

Result<engine::s3::Credentials> CredentialSource::get(io::Deadline deadline) {
    if (!options_.access_key_id.empty())
        return engine::s3::Credentials{options_.access_key_id, options_.secret_access_key, options_.session_token};
    const engine::s3::Credentials of_environment{environment_("AWS_ACCESS_KEY_ID"), environment_("AWS_SECRET_ACCESS_KEY"),
                                                 environment_("AWS_SESSION_TOKEN")};
    if (!of_environment.is_empty())
        return of_environment;
    if (wall_now() < fresh_until_)
        return known_;
    const std::string file =
        options_.credentials_file.empty() ? environment_("AWS_SHARED_CREDENTIALS_FILE") : options_.credentials_file;
    if (file.empty() && !options_.instance_credentials)
        return Error(Errc::not_found, "upload has no credentials: set access_key_id, credentials_file or instance_credentials");
    const auto read = TRY(file.empty() ? ask_instance(deadline) : read_file(file, deadline));
    known_ = read.credentials;
    fresh_until_ = read.expiration ? *read.expiration - kRenewBefore : wall_now() + kFileAge;
    return known_;
}

Result<TemporaryCredentials> CredentialSource::read_file(const std::string& path, io::Deadline deadline) const {
    const std::string text = TRY(io::off_loop([path] { return read_text(path); }, deadline));
    return TemporaryCredentials{TRY(parse_credentials_file(text, options_.profile)), std::nullopt};
}

Result<std::string> CredentialSource::ask_metadata(std::string method, const std::string& path, const std::string& token,
                                                   io::Deadline deadline) const {
    http_client::HttpCall call;
    call.method = std::move(method);
    call.url = options_.metadata_url + path;
    if (token.empty())
        call.headers.add("X-aws-ec2-metadata-token-ttl-seconds", "21600");
    else
        call.headers.add("X-aws-ec2-metadata-token", token);
    auto answer = client_.call(call, deadline.sooner(io::Deadline::after(kMetadataLimit)));
    if (!answer.ok())
        return std::move(answer).error().during("asking the metadata service for credentials");
    if (answer->status != wire::http::Status::ok || answer->body.empty())
        return Error(Errc::not_found, "the metadata service has no credentials: status " + std::to_string(answer->status));
    return std::move(answer->body);
}

// IMDSv2, "Retrieve security credentials from instance metadata".
Result<TemporaryCredentials> CredentialSource::ask_instance(io::Deadline deadline) const {
    const std::string kRoles = "/latest/meta-data/iam/security-credentials/";
    const std::string token = TRY(ask_metadata("PUT", "/latest/api/token", {}, deadline));
    std::string role = TRY(ask_metadata("GET", kRoles, token, deadline));
    role.resize(std::min(role.find_first_of("\r\n"), role.size()));
    return parse_instance_credentials(TRY(ask_metadata("GET", kRoles + role, token, deadline)));
}

}  // namespace live::service::upload
