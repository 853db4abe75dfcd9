// The options of uploads to S3 and servers that speak it, with their defaults.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace live::service::upload {

struct UploadOptions {
    bool enabled = false;
    std::vector<std::string> apply = {"all"};
    std::string endpoint = "https://s3.amazonaws.com";
    std::string bucket;
    std::string region = "us-east-1";
    bool path_style = true;
    std::string prefix;
    std::string storage_class;
    std::string access_key_id;
    std::string secret_access_key;
    std::string session_token;
    std::string credentials_file;
    std::string profile = "default";
    bool instance_credentials = false;
    std::string metadata_url = "http://169.254.169.254";
    std::uint32_t part_size = 16;  // MiB
    std::uint32_t parallel = 4;
    bool delete_local = false;
};

}  // namespace live::service::upload
