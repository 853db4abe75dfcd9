// The uploader against a naive model of a server: requests that are lost before or after their effect, uploads that the server
// forgets, an uploader that is killed, in thousands of seeds.
#include "engine/s3/file_upload.hpp"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "base/bytes/bytes.hpp"
#include "engine/crypto/md5.hpp"
#include "engine/crypto/running_hash.hpp"

namespace live::engine::s3 {
namespace {

using Step = FileUpload::Step;
using Task = FileUpload::Task;
using End = FileUpload::End;

std::vector<std::uint8_t> md5_of(const std::string& text) {
    const auto hash = MUST(crypto::md5(as_bytes(text)));
    return {hash.begin(), hash.end()};
}
std::string etag_of(const std::string& text) { return crypto::hex_text(md5_of(text)); }

// One object of a bucket.
struct ModelServer {
    std::optional<std::string> object;
    std::string etag;
    int written = 0;
    std::map<std::string, std::map<std::uint32_t, std::string>> uploads;
    int ids = 0;
    int parts_received = 0;
    bool hides_etags = false;

    void write(std::string bytes, std::string tag) {
        object = std::move(bytes);
        etag = hides_etags ? "opaque" + std::to_string(ids) : std::move(tag);
        ++written;
    }
    void complete(const std::string& id) {
        std::string all, hashes;
        for (const auto& [number, bytes] : uploads.at(id)) {
            all += bytes;
            hashes += as_text(md5_of(bytes));
        }
        write(all, etag_of(hashes) + "-" + std::to_string(uploads.at(id).size()));
        uploads.erase(id);
    }
};

struct Chances {
    int lost_before = 0, lost_after = 0, forgotten = 0, killed = 0;  // of 1,000
};

class Simulation {
public:
    Simulation(std::uint32_t seed, std::string file, std::uint64_t part_bytes, Chances chances)
        : random_(seed), file_(std::move(file)), part_bytes_(part_bytes), chances_(chances) {
        start();
    }

    End run(int steps_max = 20'000) {
        for (int i = 0; i < steps_max && upload_->end() == End::none; ++i)
            step();
        return upload_->end();
    }
    ModelServer server;
    FileUpload& upload() { return *upload_; }
    int kills = 0;

private:
    bool happens(int chance) { return static_cast<int>(random_() % 1'000) < chance; }
    void start() {
        upload_ = std::make_unique<FileUpload>(FileUpload::Plan{file_.size(), part_bytes_, 3}, saved_);
        under_way_.clear();
    }
    void step() {
        if (happens(chances_.killed)) {
            ++kills;
            // Requests under way may still have their effect.
            for (const Task& task : under_way_)
                if (happens(500))
                    act(task, false);
            start();
            return;
        }
        if (happens(chances_.forgotten))
            server.uploads.clear();
        while (random_() % 4 != 0) {
            const auto task = upload_->next();
            if (!task)
                break;
            under_way_.push_back(*task);
        }
        ASSERT_TRUE(!under_way_.empty() || upload_->is_due()) << "nothing is under way and nothing is due";
        if (under_way_.empty())
            return;
        const auto at = static_cast<std::ptrdiff_t>(random_() % under_way_.size());
        const Task task = under_way_[static_cast<std::size_t>(at)];
        under_way_.erase(under_way_.begin() + at);
        if (task.step == Step::hash) {
            upload_->hashed(task, md5_of(file_.substr(task.offset, task.bytes)));
        } else if (happens(chances_.lost_before)) {
            upload_->failed(task);
        } else if (happens(chances_.lost_after)) {
            act(task, false);
            upload_->failed(task);
        } else {
            act(task, true);
        }
    }

    // `answers`: the uploader gets the result. A task of an earlier round goes to the upload that it was made for.
    void act(const Task& task, bool answers) {
        const std::string id = upload_->upload_id();
        const bool is_known = server.uploads.contains(id);
        const std::string bytes = file_.substr(task.offset, task.bytes);
        switch (task.step) {
            case Step::hash: return;
            case Step::look: {
                std::optional<Object> object;
                if (server.object)
                    object = {server.object->size(), server.etag, !server.hides_etags};
                if (answers)
                    upload_->looked(task, object);
                return;
            }
            case Step::put:
                upload_->hashed(task, md5_of(bytes));
                server.write(bytes, etag_of(bytes));
                if (answers)
                    upload_->put_done(task, server.etag);
                return;
            case Step::create: {
                const std::string made = "id" + std::to_string(++server.ids);
                server.uploads[made];
                if (!answers)
                    return;
                saved_ = made;
                upload_->created(task, made);
                return;
            }
            default: break;
        }
        if (!is_known) {
            if (answers)
                upload_->unknown_upload(task);
            return;
        }
        if (task.step == Step::list) {
            std::vector<wire::s3::ListedPart> parts;
            for (const auto& [number, part] : server.uploads[id])
                parts.push_back({number, etag_of(part), part.size()});
            if (answers)
                upload_->listed(task, parts);
        } else if (task.step == Step::part) {
            upload_->hashed(task, md5_of(bytes));
            if (upload_->is_missing(task)) {
                server.uploads[id][task.part] = bytes;
                ++server.parts_received;
            }
            if (answers)
                upload_->part_done(task, etag_of(bytes));
        } else if (task.step == Step::complete) {
            ASSERT_EQ(server.uploads[id].size(), upload_->parts());
            server.complete(id);
            if (answers)
                upload_->completed(task, server.etag);
        } else {
            server.uploads.erase(id);
            if (answers)
                upload_->aborted(task);
        }
    }

    std::mt19937 random_;
    const std::string file_;
    const std::uint64_t part_bytes_;
    const Chances chances_;
    std::string saved_;  // beside the file
    std::unique_ptr<FileUpload> upload_;
    std::vector<Task> under_way_;
};

std::string file_of(std::uint32_t seed, std::size_t bytes) {
    std::mt19937 random(seed);
    std::string text(bytes, ' ');
    for (char& letter : text)
        letter = static_cast<char>(random());
    return text;
}

TEST(FileUpload, SendsASmallFileInOnePieceAndALargeOneInParts) {
    for (const std::size_t bytes : {0U, 1U, 10U, 11U, 95U}) {
        const std::string file = file_of(1, bytes);
        Simulation simulation(1, file, 10, {});
        EXPECT_EQ(simulation.run(), End::done);
        EXPECT_EQ(simulation.server.object, file);
        EXPECT_EQ(simulation.server.written, 1);
        EXPECT_EQ(simulation.server.ids, bytes > 10 ? 1 : 0);
        EXPECT_EQ(simulation.upload().etag(), simulation.server.etag);
        EXPECT_EQ(simulation.upload().sent_bytes(), bytes);
        EXPECT_TRUE(simulation.server.uploads.empty());
    }
}

TEST(FileUpload, MakesOneWholeObjectWhateverIsLost) {
    int kills = 0;
    for (std::uint32_t seed = 0; seed < 3'000; ++seed) {
        const std::string file = file_of(seed, seed % 120);
        Simulation simulation(seed, file, 10, {.lost_before = 150, .lost_after = 150, .forgotten = 3, .killed = 10});
        simulation.server.hides_etags = seed % 7 == 0;
        ASSERT_EQ(simulation.run(), End::done) << "seed " << seed;
        ASSERT_EQ(simulation.server.object, file) << "seed " << seed;
        ASSERT_EQ(simulation.server.written, 1) << "seed " << seed;
        kills += simulation.kills;
    }
    EXPECT_GT(kills, 500);
}

TEST(FileUpload, SendsPartsOnceWhenAKilledProcessGoesOn) {
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        const std::string file = file_of(seed, 200);
        Simulation simulation(seed, file, 10, {.killed = 20});
        ASSERT_EQ(simulation.run(), End::done) << "seed " << seed;
        // Those under way at a kill may be sent again, and all of an upload whose id was not saved.
        ASSERT_LE(simulation.server.parts_received, 20 + 3 * simulation.kills) << "seed " << seed;
    }
}

TEST(FileUpload, NeverReplacesAnotherObject) {
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        const std::string file = file_of(seed, 35), other = file_of(seed + 1, seed % 2 == 0 ? 35 : 34);
        Simulation simulation(seed, file, seed % 3 == 0 ? 100 : 10, {.lost_before = 100, .killed = 10});
        simulation.server.write(other, etag_of(other));
        ASSERT_EQ(simulation.run(), End::conflict) << "seed " << seed;
        ASSERT_EQ(simulation.server.object, other) << "seed " << seed;
        ASSERT_TRUE(simulation.server.uploads.empty()) << "seed " << seed;
    }
}

TEST(FileUpload, FindsItsOwnObjectWithoutSending) {
    const std::string file = file_of(5, 35);
    for (const std::uint64_t part_bytes : {10U, 100U}) {
        Simulation first(1, file, part_bytes, {});
        EXPECT_EQ(first.run(), End::done);
        Simulation again(2, file, part_bytes, {});
        again.server = first.server;
        EXPECT_EQ(again.run(), End::done);
        EXPECT_EQ(again.server.written, 1);
        EXPECT_EQ(again.server.parts_received, first.server.parts_received);
    }
}

TEST(FileUpload, LooksAgainForAnObjectThatWasConfirmed) {
    FileUpload upload({4, 10, 2}, "");
    upload.looked(*upload.next(), std::nullopt);
    const Task put = *upload.next();
    upload.hashed(put, md5_of("abcd"));
    upload.put_done(put, etag_of("abcd"));
    for (std::uint32_t miss = 1; miss < FileUpload::kMissesMax; ++miss) {
        upload.looked(*upload.next(), std::nullopt);
        EXPECT_TRUE(upload.is_unconfirmed());
    }
    upload.looked(*upload.next(), std::nullopt);
    EXPECT_FALSE(upload.is_unconfirmed());
    EXPECT_EQ(upload.next()->step, Step::put);
}

TEST(FileUpload, GivesUpAFileThatIsGone) {
    FileUpload upload({35, 10, 2}, "");
    upload.looked(*upload.next(), std::nullopt);
    upload.created(*upload.next(), "id");
    const Task first = *upload.next(), second = *upload.next();
    EXPECT_FALSE(upload.next()) << "two at a time";
    upload.failed(first);
    upload.cancel();
    EXPECT_FALSE(upload.next()) << "a part under way would stay on the server";
    upload.hashed(second, md5_of("x"));
    upload.part_done(second, "etag");
    const Task abort = *upload.next();
    EXPECT_EQ(abort.step, Step::abort);
    EXPECT_EQ(upload.upload_id(), "id");
    upload.aborted(abort);
    EXPECT_EQ(upload.end(), End::gone);
    FileUpload early({35, 10, 2}, "");
    early.cancel();
    EXPECT_EQ(early.end(), End::gone);
}

TEST(FileUpload, MakesPartsThatAServerAccepts) {
    EXPECT_EQ(part_bytes_for(1, 0), kPartBytesMin);
    EXPECT_EQ(part_bytes_for(1, 16U << 20), 16U << 20);
    for (const std::uint64_t bytes : {kObjectBytesMax / 50, kObjectBytesMax / 5, kObjectBytesMax}) {
        const std::uint64_t part = part_bytes_for(bytes, kPartBytesMin);
        EXPECT_LE((bytes + part - 1) / part, kPartsMax);
        EXPECT_EQ(part % (1U << 20), 0U);
    }
}

}  // namespace
}  // namespace live::engine::s3
