// CredentialSource: the credentials for requests: of the conf, the environment, a file, or the metadata service of the machine.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "service/http_client/http_client.hpp"
#include "service/upload/credentials_text.hpp"
#include "service/upload/options.hpp"

namespace live::service::upload {

class CredentialSource {
public:
    // Temporary ones are renewed so long before they expire; a file is read again after kFileAge.
    static constexpr std::chrono::minutes kRenewBefore{5};
    static constexpr std::chrono::seconds kFileAge{30};
    static constexpr std::chrono::seconds kMetadataLimit{5};

    // A variable of the environment; empty without it.
    using Environment = std::function<std::string(const char* name)>;

    CredentialSource(const UploadOptions& options, const http_client::HttpClient& client, Environment environment)
        : options_(options), client_(client), environment_(std::move(environment)) {}

    // Errc::not_found with a sentence; errors of the file or of the metadata service.
    Result<engine::s3::Credentials> get(io::Deadline deadline);
    // The server does not take them: they are read anew.
    void forget() { fresh_until_ = WallTime(); }

private:
    Result<TemporaryCredentials> read_file(const std::string& path, io::Deadline deadline) const;
    Result<TemporaryCredentials> ask_instance(io::Deadline deadline) const;
    Result<std::string> ask_metadata(std::string method, const std::string& path, const std::string& token,
                                     io::Deadline deadline) const;

    const UploadOptions& options_;
    const http_client::HttpClient& client_;
    const Environment environment_;
    engine::s3::Credentials known_;
    WallTime fresh_until_{};
};

}  // namespace live::service::upload
