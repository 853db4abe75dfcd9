#include "engine/s3/file_upload.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "engine/crypto/md5.hpp"
#include "engine/crypto/running_hash.hpp"

namespace live::engine::s3 {

std::uint64_t part_bytes_for(std::uint64_t file_bytes, std::uint64_t wanted) {
    constexpr std::uint64_t kStep = 1U << 20;
    const std::uint64_t least = (file_bytes + kPartsMax - 1) / kPartsMax;
    return std::max({wanted, kPartBytesMin, (least + kStep - 1) / kStep * kStep});
}

FileUpload::FileUpload(const Plan& plan, std::string upload_id)
    : plan_(plan),
      upload_id_(std::move(upload_id)),
      parts_(std::max<std::size_t>(1, (plan.bytes + plan.part_bytes - 1) / plan.part_bytes)),
      phase_(upload_id_.empty() ? Phase::look : Phase::list) {
    CHECK(plan.parallel > 0 && plan.part_bytes > 0);
}

std::uint64_t FileUpload::bytes_of(std::uint32_t part) const {
    const std::uint64_t offset = (part - 1) * plan_.part_bytes;
    return std::min(plan_.part_bytes, plan_.bytes - offset);
}

bool FileUpload::is_due() const {
    if (end_ != End::none || under_way_ >= plan_.parallel)
        return false;
    if (phase_ == Phase::abort && under_way_ > 0)
        return false;  // parts that arrive afterwards would stay
    if (phase_ != Phase::parts && phase_ != Phase::check)
        return !is_alone_under_way_;
    return std::ranges::find(parts_, Part::State::open, &Part::state) != parts_.end();
}

std::optional<FileUpload::Task> FileUpload::next_part(Step step) {
    const auto found = std::ranges::find(parts_, Part::State::open, &Part::state);
    found->state = Part::State::busy;
    const auto part = static_cast<std::uint32_t>(found - parts_.begin() + 1);
    return Task{step, part, (part - 1) * plan_.part_bytes, bytes_of(part), round_};
}

std::optional<FileUpload::Task> FileUpload::next() {
    if (!is_due())
        return std::nullopt;
    ++under_way_;
    is_alone_under_way_ = true;
    switch (phase_) {
        case Phase::check: return next_part(Step::hash);
        case Phase::parts: return next_part(Step::part);
        case Phase::put: return Task{Step::put, 1, 0, plan_.bytes, round_};
        case Phase::list: return Task{Step::list, 0, 0, 0, round_};
        case Phase::create: return Task{Step::create, 0, 0, 0, round_};
        case Phase::complete: return Task{Step::complete, 0, 0, 0, round_};
        case Phase::abort: return Task{Step::abort, 0, 0, 0, round_};
        case Phase::look: break;
    }
    return Task{Step::look, 0, 0, 0, round_};
}

// Whether the result counts.
bool FileUpload::take(const Task& task) {
    CHECK(under_way_ > 0);
    --under_way_;
    return task.round == round_ && end_ == End::none;
}

void FileUpload::enter(Phase phase) {
    phase_ = phase;
    is_alone_under_way_ = false;
    ++round_;
    const bool sends = phase == Phase::parts || phase == Phase::check;
    for (Part& part : parts_)
        if (sends && (part.state == Part::State::busy || (phase == Phase::check && part.md5.empty())))
            part.state = Part::State::open;
}

// Nothing is there: sends the file.
void FileUpload::begin() {
    for (Part& part : parts_)
        part = {Part::State::open, std::move(part.md5), {}, false};
    answered_etag_.clear();
    misses_ = 0;
    found_.reset();
    enter(parts_.size() == 1 ? Phase::put : upload_id_.empty() ? Phase::create : Phase::parts);
}

bool FileUpload::is_ours(const Object& object) const {
    if (object.bytes != plan_.bytes)
        return false;
    if (!object.has_content_etag || (!answered_etag_.empty() && object.etag == answered_etag_))
        return true;
    if (parts_.size() == 1)
        return object.etag == crypto::hex_text(parts_.front().md5);
    std::vector<std::uint8_t> all;
    for (const Part& part : parts_)
        all.insert(all.end(), part.md5.begin(), part.md5.end());
    const auto hash = crypto::md5(all);
    return hash.ok() && object.etag == crypto::hex_text(*hash) + "-" + std::to_string(parts_.size());
}

void FileUpload::decide(const Object& object) {
    end_ = is_ours(object) ? End::done : End::conflict;
    etag_ = object.etag;
}

void FileUpload::looked(const Task& task, const std::optional<Object>& object) {
    if (!take(task))
        return;
    if (!object) {
        const bool is_unconfirmed = !answered_etag_.empty() && ++misses_ < kMissesMax;
        is_unconfirmed ? enter(Phase::look) : begin();
        return;
    }
    const bool is_hashed = std::ranges::none_of(parts_, [](const Part& part) { return part.md5.empty(); });
    if (is_hashed || object->bytes != plan_.bytes || is_ours(*object)) {
        decide(*object);
        return;
    }
    found_ = object;
    for (Part& part : parts_)
        part.state = part.md5.empty() ? Part::State::open : Part::State::done;
    enter(Phase::check);
}

void FileUpload::hashed(const Task& task, const std::vector<std::uint8_t>& md5) {
    if (task.step != Step::hash) {
        parts_[task.part - 1].md5 = md5;
        return;
    }
    if (!take(task))
        return;
    Part& part = parts_[task.part - 1];
    part.md5 = md5;
    part.state = Part::State::done;
    if (std::ranges::all_of(parts_, [](const Part& one) { return one.state == Part::State::done; }))
        decide(*found_);
}

void FileUpload::listed(const Task& task, const std::vector<wire::s3::ListedPart>& parts) {
    if (!take(task))
        return;
    for (const wire::s3::ListedPart& known : parts) {
        if (known.number > parts_.size() || known.bytes != bytes_of(known.number))
            continue;
        parts_[known.number - 1].etag = known.etag;
        parts_[known.number - 1].is_listed = true;
    }
    const bool are_sent = std::ranges::all_of(parts_, [](const Part& part) { return part.state == Part::State::done; });
    enter(are_sent ? Phase::complete : Phase::parts);
}

bool FileUpload::is_missing(const Task& task) const {
    const Part& part = parts_[task.part - 1];
    return !part.is_listed || part.etag != crypto::hex_text(part.md5);
}

void FileUpload::created(const Task& task, std::string upload_id) {
    if (!take(task))
        return;
    upload_id_ = std::move(upload_id);
    enter(Phase::parts);
}

void FileUpload::put_done(const Task& task, std::string etag) {
    if (!take(task))
        return;
    answered_etag_ = std::move(etag);
    enter(Phase::look);
}

void FileUpload::part_done(const Task& task, std::string etag) {
    if (!take(task))
        return;
    Part& part = parts_[task.part - 1];
    part.state = Part::State::done;
    part.etag = std::move(etag);
    if (std::ranges::all_of(parts_, [](const Part& one) { return one.state == Part::State::done; }))
        enter(Phase::complete);
}

std::string FileUpload::completion() const {
    std::vector<std::string> etags;
    for (const Part& part : parts_)
        etags.push_back(part.etag);
    return wire::s3::completion_text(etags);
}

void FileUpload::completed(const Task& task, std::string etag) {
    if (!take(task))
        return;
    answered_etag_ = std::move(etag);
    upload_id_.clear();
    enter(Phase::look);
}

void FileUpload::aborted(const Task& task) {
    if (take(task)) {
        upload_id_.clear();
        end_ = End::gone;
    }
}

void FileUpload::unknown_upload(const Task& task) {
    if (!take(task))
        return;
    upload_id_.clear();
    if (phase_ == Phase::abort)
        end_ = End::gone;
    else
        enter(Phase::look);  // it may be complete
}

void FileUpload::failed(const Task& task) {
    if (!take(task))
        return;
    if (phase_ == Phase::parts || phase_ == Phase::check)
        parts_[task.part - 1].state = Part::State::open;
    else if (phase_ == Phase::put || phase_ == Phase::complete)
        enter(phase_ == Phase::put ? Phase::look : Phase::list);
    else
        enter(phase_);
}

void FileUpload::cancel() {
    if (end_ != End::none || phase_ == Phase::abort)
        return;
    enter(Phase::abort);
    if (upload_id_.empty())
        end_ = End::gone;
}

std::uint64_t FileUpload::sent_bytes() const {
    if (end_ == End::done)
        return plan_.bytes;
    std::uint64_t bytes = 0;
    for (std::uint32_t part = 1; part <= parts_.size(); ++part)
        if (phase_ != Phase::check && parts_[part - 1].state == Part::State::done)
            bytes += bytes_of(part);
    return bytes;
}

}  // namespace live::engine::s3
