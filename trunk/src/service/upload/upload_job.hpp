// UploadJob: one file on its way: it does the tasks of an engine::s3::FileUpload.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "engine/s3/file_upload.hpp"
#include "io/fibers/deadline.hpp"
#include "service/upload/options.hpp"
#include "service/upload/s3_client.hpp"
#include "service/upload/upload_library.hpp"
#include "service/upload/upload_note.hpp"

namespace live::service::upload {

// The name of the object.
std::string key_of(const UploadOptions& options, const LocalFile& file);

class UploadJob {
public:
    // Bytes of the file that a worker thread reads in one turn.
    static constexpr std::size_t kHashBytes = 1U << 20;
    static constexpr std::size_t kSendBytes = 256U << 10;

    // `noted` is of that file.
    UploadJob(const UploadOptions& options, LocalFile file, std::string key, NotedFile noted);

    // Does one task of upload(), and returns what went wrong with it, if anything did.
    S3Answer perform(S3Client& client, const engine::s3::FileUpload::Task& task, io::Deadline deadline);
    // The object is complete: the note for the next start.
    Result<void> note_done(io::Deadline deadline);
    Result<void> remove_note(io::Deadline deadline);

    engine::s3::FileUpload& upload() { return upload_; }
    const engine::s3::FileUpload& upload() const { return upload_; }
    const LocalFile& file() const { return file_; }
    const std::string& key() const { return key_; }
    std::uint64_t bytes() const { return noted_->bytes(); }
    // An earlier process has reported the object.
    bool was_done() const { return noted_->note().is_done() && noted_->note().key == key_; }

private:
    struct Hashes {
        std::vector<std::uint8_t> md5;
        std::string sha256;
    };

    S3Answer look(S3Client& client, const engine::s3::FileUpload::Task& task, io::Deadline deadline);
    S3Answer list(S3Client& client, const engine::s3::FileUpload::Task& task, io::Deadline deadline);
    S3Answer create(S3Client& client, const engine::s3::FileUpload::Task& task, io::Deadline deadline);
    S3Answer send(S3Client& client, const engine::s3::FileUpload::Task& task, io::Deadline deadline);
    S3Answer complete(S3Client& client, const engine::s3::FileUpload::Task& task, io::Deadline deadline);
    S3Answer abort(S3Client& client, const engine::s3::FileUpload::Task& task, io::Deadline deadline);
    S3Answer settle(const engine::s3::FileUpload::Task& task, S3Answer answer);
    Result<Hashes> hash(std::uint64_t offset, std::uint64_t bytes, io::Deadline deadline) const;
    S3Call new_object() const;
    Result<void> write_note(NoteText note, io::Deadline deadline) const;

    const UploadOptions& options_;
    const LocalFile file_;
    const std::string key_;
    // The other owner is a worker thread that still reads.
    const std::shared_ptr<const NotedFile> noted_;
    const std::uint64_t part_bytes_;
    engine::s3::FileUpload upload_;
};

}  // namespace live::service::upload
