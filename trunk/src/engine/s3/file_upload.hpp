// FileUpload: the decisions about one file that becomes one object: in parts or in one piece, what is tried again, what an
// earlier process has sent already, and when the object is there. Dry: it gives tasks, up to `parallel` at a time, and takes
// their results in any order. It never replaces an object that has other bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "wire/s3/answers.hpp"

namespace live::engine::s3 {

inline constexpr std::uint64_t kPartBytesMin = 5U << 20;
inline constexpr std::uint64_t kPartsMax = 10'000;
inline constexpr std::uint64_t kObjectBytesMax = 5ULL << 40;

// The size of the parts of a file: as wanted, or as large as kPartsMax demands.
std::uint64_t part_bytes_for(std::uint64_t file_bytes, std::uint64_t wanted);

// An object as a server describes it.
struct Object {
    std::uint64_t bytes = 0;
    std::string etag;              // without quotes
    bool has_content_etag = true;  // false with keys of KMS or the client's: the ETag is no MD5
};

class FileUpload {
public:
    struct Plan {
        std::uint64_t bytes = 0;
        std::uint64_t part_bytes = 0;  // of part_bytes_for()
        std::uint32_t parallel = 1;
    };
    enum class Step : std::uint8_t {
        look,      // HEAD of the object: looked()
        hash,      // computes the MD5 of a part: hashed()
        list,      // the parts that the server has: listed()
        create,    // begins an upload in parts: created()
        put,       // sends the file in one piece: put_done()
        part,      // hashed(), and sends it if is_missing(): part_done()
        complete,  // completion(), then completed()
        abort,     // gives the upload in parts up: aborted()
    };
    struct Task {
        Step step = Step::look;
        std::uint32_t part = 0;  // from 1; of put and hash too
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
        std::uint32_t round = 0;  // results of an earlier round are ignored
    };
    // conflict: another object has this name. gone: the file was removed, and nothing of it is left.
    enum class End : std::uint8_t { none, done, conflict, gone };

    static constexpr std::uint32_t kMissesMax = 3;

    // `upload_id`: of an earlier process; otherwise empty.
    FileUpload(const Plan& plan, std::string upload_id);

    // nullopt: nothing to begin now.
    std::optional<Task> next();
    // Whether next() has a task.
    bool is_due() const;

    // The results. Each task has one of its own, unknown_upload() or failed().
    // An object that is not found although the server has confirmed it is looked for kMissesMax times; then all is sent again.
    void looked(const Task& task, const std::optional<Object>& object);
    bool is_unconfirmed() const { return misses_ > 0; }
    void hashed(const Task& task, const std::vector<std::uint8_t>& md5);
    void listed(const Task& task, const std::vector<wire::s3::ListedPart>& parts);
    void created(const Task& task, std::string upload_id);
    void put_done(const Task& task, std::string etag);
    void part_done(const Task& task, std::string etag);
    void completed(const Task& task, std::string etag);
    void aborted(const Task& task);
    // The server has no upload of this id.
    void unknown_upload(const Task& task);
    // There was no answer, or the task is to be repeated. Whether it had an effect is unknown.
    void failed(const Task& task);

    // The server does not have this part yet. After hashed().
    bool is_missing(const Task& task) const;
    // The body of the complete task.
    std::string completion() const;
    // The MD5 that the part was found to have, for the Content-MD5 field.
    const std::vector<std::uint8_t>& md5_of(const Task& task) const { return parts_[task.part - 1].md5; }
    // The file is gone: gives up.
    void cancel();

    End end() const { return end_; }
    const std::string& upload_id() const { return upload_id_; }
    // The object's ETag, once it is there.
    const std::string& etag() const { return etag_; }
    std::uint64_t sent_bytes() const;
    std::size_t parts() const { return parts_.size(); }
    std::uint32_t under_way() const { return under_way_; }

private:
    enum class Phase : std::uint8_t { look, check, list, create, put, parts, complete, abort };
    struct Part {
        enum class State : std::uint8_t { open, busy, done };
        State state = State::open;
        std::vector<std::uint8_t> md5;
        std::string etag;
        bool is_listed = false;
    };

    bool take(const Task& task);
    void enter(Phase phase);
    void begin();
    void decide(const Object& object);
    bool is_ours(const Object& object) const;
    std::uint64_t bytes_of(std::uint32_t part) const;
    std::optional<Task> next_part(Step step);

    const Plan plan_;
    std::string upload_id_;
    std::vector<Part> parts_;
    Phase phase_;
    End end_ = End::none;
    std::uint32_t round_ = 0;
    std::uint32_t under_way_ = 0;
    bool is_alone_under_way_ = false;  // the one task of a phase other than parts and check
    std::optional<Object> found_;      // to be compared with the hashes
    std::string answered_etag_;
    std::uint32_t misses_ = 0;
    std::string etag_;
};

}  // namespace live::engine::s3
