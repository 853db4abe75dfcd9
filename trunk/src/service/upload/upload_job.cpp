#include "service/upload/upload_job.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/bytes/base64.hpp"
#include "base/text/variables.hpp"
#include "engine/crypto/running_hash.hpp"
#include "io/fibers/off_loop.hpp"
#include "wire/s3/answers.hpp"

namespace live::service::upload {

namespace {

using engine::crypto::RunningHash;
using engine::s3::FileUpload;
using Kind = S3Answer::Kind;
using Step = FileUpload::Step;
using Task = FileUpload::Task;

std::string etag_in(const engine::http1::Response& response) {
    return std::string(wire::s3::bare_etag(response.headers.find("ETag").value_or(std::string_view())));
}

engine::s3::Object object_in(const engine::http1::Response& response) {
    engine::s3::Object object;
    const std::string_view length = response.headers.find("Content-Length").value_or("0");
    std::from_chars(length.data(), length.data() + length.size(), object.bytes);
    object.etag = etag_in(response);
    // Amazon S3 API reference, "Object": such an ETag is not the MD5 of the data.
    const auto encryption = response.headers.find("x-amz-server-side-encryption");
    object.has_content_etag = !(encryption && encryption->starts_with("aws:kms")) &&
                              !response.headers.find("x-amz-server-side-encryption-customer-algorithm");
    return object;
}

// The upload that the note of another process has, if it is of this object.
std::string id_in(const NoteText& note, const std::string& key) { return note.key == key ? note.upload_id : std::string(); }

std::uint64_t part_bytes_of(const UploadOptions& options, const NotedFile& noted, const std::string& key) {
    constexpr std::uint64_t kMebibyte = 1U << 20;
    const NoteText& note = noted.note();
    const bool goes_on = !id_in(note, key).empty() && note.part_bytes >= engine::s3::kPartBytesMin;
    return engine::s3::part_bytes_for(noted.bytes(), goes_on ? note.part_bytes : options.part_size * kMebibyte);
}

// Both hashes of a part, which one worker thread after the other goes through.
struct Hashing {
    RunningHash md5;
    RunningHash sha256;
};

Result<std::size_t> hash_piece(const NotedFile& file, Hashing& hashing, std::uint64_t offset, std::size_t count) {
    const auto bytes = TRY(file.read(offset, count));
    TRY(hashing.md5.add(bytes));
    TRY(hashing.sha256.add(bytes));
    return bytes.size();
}

}  // namespace

std::string key_of(const UploadOptions& options, const LocalFile& file) {
    Variables variables = time_variables(std::chrono::floor<std::chrono::system_clock::duration>(file.start), Zone::utc);
    variables.insert(variables.end(), {{"vhost", file.vhost}, {"app", file.app}, {"stream", file.stream}});
    std::string key = replace_variables(options.prefix, variables) + file.name;
    return key.erase(0, std::min(key.find_first_not_of('/'), key.size()));
}

UploadJob::UploadJob(const UploadOptions& options, LocalFile file, std::string key, NotedFile noted)
    : options_(options),
      file_(std::move(file)),
      key_(std::move(key)),
      noted_(std::make_shared<const NotedFile>(std::move(noted))),
      part_bytes_(part_bytes_of(options, *noted_, key_)),
      upload_({noted_->bytes(), part_bytes_, options.parallel}, id_in(noted_->note(), key_)) {}

S3Answer UploadJob::perform(S3Client& client, const Task& task, io::Deadline deadline) {
    switch (task.step) {
        case Step::look: return look(client, task, deadline);
        case Step::list: return list(client, task, deadline);
        case Step::create: return create(client, task, deadline);
        case Step::complete: return complete(client, task, deadline);
        case Step::abort: return abort(client, task, deadline);
        default: return send(client, task, deadline);
    }
}

// The outcome of a task without the result that it should have.
S3Answer UploadJob::settle(const Task& task, S3Answer answer) {
    if (answer.kind == Kind::unknown_upload)
        upload_.unknown_upload(task);
    else
        upload_.failed(task);
    if (answer.kind == Kind::ok || answer.kind == Kind::not_found)
        answer.kind = Kind::refused;
    return answer;
}

S3Answer UploadJob::look(S3Client& client, const Task& task, io::Deadline deadline) {
    S3Call call;
    call.method = "HEAD";
    call.key = key_;
    S3Answer answer = client.call(call, deadline);
    if (answer.kind != Kind::ok && answer.kind != Kind::not_found)
        return settle(task, std::move(answer));
    upload_.looked(task, answer.kind == Kind::ok ? std::optional(object_in(answer.response)) : std::nullopt);
    if (upload_.is_unconfirmed())
        return {Kind::trouble, engine::s3::Trouble::slow_down, "an object is not there although the server has confirmed it", {}};
    return {};
}

S3Answer UploadJob::list(S3Client& client, const Task& task, io::Deadline deadline) {
    std::vector<wire::s3::ListedPart> all;
    for (std::string marker; all.size() <= engine::s3::kPartsMax;) {
        S3Call call;
        call.key = key_;
        call.query = {{"uploadId", upload_.upload_id()}};
        if (!marker.empty())
            call.query.emplace_back("part-number-marker", marker);
        S3Answer answer = client.call(call, deadline);
        // Some servers do not name the upload in a 404.
        if (answer.kind == Kind::not_found)
            answer.kind = Kind::unknown_upload;
        if (answer.kind != Kind::ok)
            return settle(task, std::move(answer));
        const auto page = wire::s3::read_part_page(answer.response.body);
        if (!page.ok())
            return settle(task, {Kind::refused, {}, page.error().sentence(), {}});
        all.insert(all.end(), page->parts.begin(), page->parts.end());
        if (!page->is_truncated)
            break;
        marker = std::to_string(page->next);
    }
    upload_.listed(task, all);
    return {};
}

S3Call UploadJob::new_object() const {
    S3Call call;
    call.key = key_;
    call.headers.add("Content-Type", file_.path.ends_with(".flv") ? "video/x-flv" : "video/mp4");
    if (!options_.storage_class.empty())
        call.headers.add("x-amz-storage-class", options_.storage_class);
    return call;
}

S3Answer UploadJob::create(S3Client& client, const Task& task, io::Deadline deadline) {
    S3Call call = new_object();
    call.method = "POST";
    call.query = {{"uploads", ""}};
    S3Answer answer = client.call(call, deadline);
    if (answer.kind != Kind::ok)
        return settle(task, std::move(answer));
    auto id = wire::s3::read_upload_id(answer.response.body);
    if (!id.ok())
        return settle(task, {Kind::refused, {}, id.error().sentence(), {}});
    // Without the note the next process would send all parts again.
    const auto noted = write_note({key_, *id, part_bytes_, {}}, deadline);
    upload_.created(task, *std::move(id));
    return noted.ok() ? S3Answer() : S3Answer{Kind::refused, {}, noted.error().sentence(), {}};
}

Result<UploadJob::Hashes> UploadJob::hash(std::uint64_t offset, std::uint64_t bytes, io::Deadline deadline) const {
    // The other owner is a worker that still runs after this has stopped waiting.
    const auto hashing = std::make_shared<Hashing>(
        Hashing{TRY(RunningHash::create(RunningHash::Kind::md5)), TRY(RunningHash::create(RunningHash::Kind::sha256))});
    for (std::uint64_t done = 0; done < bytes;) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kHashBytes, bytes - done));
        const std::size_t read = TRY(io::off_loop(
            [file = noted_, hashing, at = offset + done, count] { return hash_piece(*file, *hashing, at, count); }, deadline));
        if (read < count)
            return Error(Errc::not_found, "the file has become shorter");
        done += read;
    }
    return Hashes{TRY(hashing->md5.finish()), engine::crypto::hex_text(TRY(hashing->sha256.finish()))};
}

S3Answer UploadJob::send(S3Client& client, const Task& task, io::Deadline deadline) {
    auto hashes = hash(task.offset, task.bytes, deadline);
    if (!hashes.ok()) {
        const bool is_gone = hashes.code() == Errc::not_found;
        upload_.failed(task);
        if (is_gone)
            upload_.cancel();
        if (hashes.code() == Errc::cancelled)
            return {Kind::ended, {}, {}, {}};
        return is_gone ? S3Answer() : S3Answer{Kind::refused, {}, hashes.error().sentence(), {}};
    }
    upload_.hashed(task, hashes->md5);
    if (task.step == Step::hash)
        return {};
    const bool is_part = task.step == Step::part;
    if (is_part && !upload_.is_missing(task)) {
        upload_.part_done(task, engine::crypto::hex_text(hashes->md5));
        return {};
    }
    S3Call call = new_object();
    if (is_part) {
        call.headers = {};
        call.query = {{"partNumber", std::to_string(task.part)}, {"uploadId", upload_.upload_id()}};
    }
    call.method = "PUT";
    call.headers.add("Content-MD5", base64(hashes->md5));
    call.payload_hash = hashes->sha256;
    if (task.bytes > 0)
        call.long_body = {
            task.bytes, [file = noted_, &task](io::Stream& stream, io::Deadline limit) -> Result<void> {
                for (std::uint64_t done = 0; done < task.bytes;) {
                    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kSendBytes, task.bytes - done));
                    const auto bytes =
                        TRY(io::off_loop([file, at = task.offset + done, count] { return file->read(at, count); }, limit));
                    if (bytes.size() < count)
                        return Error(Errc::not_found, "the file has become shorter");
                    const std::array parts{io::as_part(bytes)};
                    TRY(stream.write_all(parts, limit));
                    done += count;
                }
                return {};
            }};
    S3Answer answer = client.call(call, deadline);
    if (is_part && answer.kind == Kind::not_found)
        answer.kind = Kind::unknown_upload;
    std::string etag = answer.kind == Kind::ok ? etag_in(answer.response) : std::string();
    if (etag.empty())
        return settle(task,
                      answer.kind == Kind::ok ? S3Answer{Kind::refused, {}, "the answer has no ETag", {}} : std::move(answer));
    is_part ? upload_.part_done(task, std::move(etag)) : upload_.put_done(task, std::move(etag));
    return {};
}

S3Answer UploadJob::complete(S3Client& client, const Task& task, io::Deadline deadline) {
    S3Call call;
    call.method = "POST";
    call.key = key_;
    call.query = {{"uploadId", upload_.upload_id()}};
    call.body = upload_.completion();
    S3Answer answer = client.call(call, deadline);
    if (answer.kind == Kind::not_found)
        answer.kind = Kind::unknown_upload;
    if (answer.kind != Kind::ok)
        return settle(task, std::move(answer));
    auto etag = wire::s3::read_completed(answer.response.body);
    if (!etag.ok() && etag.code() == Errc::denied)
        return settle(task, {Kind::trouble, engine::s3::Trouble::slow_down, etag.error().sentence(), {}});
    if (!etag.ok())
        return settle(task, {Kind::refused, {}, etag.error().sentence(), {}});
    upload_.completed(task, *std::move(etag));
    return {};
}

S3Answer UploadJob::abort(S3Client& client, const Task& task, io::Deadline deadline) {
    S3Call call;
    call.method = "DELETE";
    call.key = key_;
    call.query = {{"uploadId", upload_.upload_id()}};
    S3Answer answer = client.call(call, deadline);
    if (answer.kind != Kind::ok && answer.kind != Kind::not_found)
        return settle(task, std::move(answer));
    upload_.aborted(task);
    return {};
}

Result<void> UploadJob::write_note(NoteText note, io::Deadline deadline) const {
    return io::off_loop([file = noted_, note = std::move(note)] { return file->write(note); }, deadline);
}

Result<void> UploadJob::note_done(io::Deadline deadline) { return write_note({key_, {}, 0, upload_.etag()}, deadline); }

Result<void> UploadJob::remove_note(io::Deadline deadline) {
    return io::off_loop([file = noted_] { file->remove_note(); }, deadline);
}

}  // namespace live::service::upload
