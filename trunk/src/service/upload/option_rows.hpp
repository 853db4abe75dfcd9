// The rows of service/upload/options.hpp.
#pragma once

#include "base/config/row.hpp"
#include "service/upload/options.hpp"

namespace live::service::upload {

inline constexpr auto kUploadRows = config::Rows{
    config::row(&UploadOptions::enabled, "enabled", config::Reload::restart,
                "Copies complete recordings to S3, those that are on the disk already too."),
    config::row(&UploadOptions::apply, "apply", config::Reload::restart,
                "The streams whose recordings are copied: all, or a list of app/stream.")
        .not_in_environment(),
    config::row(&UploadOptions::endpoint, "endpoint", config::Reload::restart,
                "The URL of the server: https://s3.REGION.amazonaws.com, or that of another server that speaks S3."),
    config::row(&UploadOptions::bucket, "bucket", config::Reload::restart, "The bucket, which must exist.").example("recordings"),
    config::row(&UploadOptions::region, "region", config::Reload::restart, "The region in signatures."),
    config::row(&UploadOptions::path_style, "path_style", config::Reload::restart,
                "On: the bucket is in the path of URLs; off: in front of the host."),
    config::row(&UploadOptions::prefix, "prefix", config::Reload::restart,
                "Before the name of each object, which is the file's path below the folder of dvr_path. Variables: [vhost] [app] "
                "[stream], and [2006] [01] [02] [15] [04] [05] [999] [timestamp] for the start of the recording.")
        .example("archive/[vhost]/"),
    config::row(&UploadOptions::storage_class, "storage_class", config::Reload::restart,
                "The storage class of objects; empty: the bucket's.")
        .example("STANDARD_IA"),
    config::row(&UploadOptions::access_key_id, "access_key_id", config::Reload::restart,
                "The access key. Empty: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, credentials_file, or the instance's."),
    config::row(&UploadOptions::secret_access_key, "secret_access_key", config::Reload::restart, "Its secret.").secret(),
    config::row(&UploadOptions::session_token, "session_token", config::Reload::restart, "The token of temporary credentials.")
        .secret(),
    config::row(&UploadOptions::credentials_file, "credentials_file", config::Reload::restart,
                "A file of credentials as AWS tools have it. It is read again when it changes.")
        .example("/etc/millrace/aws-credentials"),
    config::row(&UploadOptions::profile, "profile", config::Reload::restart, "The section of that file."),
    config::row(&UploadOptions::instance_credentials, "instance_credentials", config::Reload::restart,
                "Asks the metadata service of the machine for the credentials of its role (IMDSv2)."),
    config::row(&UploadOptions::metadata_url, "metadata_url", config::Reload::restart, "The URL of the metadata service."),
    config::row(&UploadOptions::part_size, "part_size", 5, 5'120, config::Reload::restart,
                "MiB: larger files are sent in parts of that size; an interrupted upload continues with the next part."),
    config::row(&UploadOptions::parallel, "parallel", 1, 64, config::Reload::restart, "Requests at the same time."),
    config::row(&UploadOptions::delete_local, "delete_local", config::Reload::restart,
                "Deletes the file when the object's size and ETag agree with it. Pinned recordings stay."),
};

}  // namespace live::service::upload
