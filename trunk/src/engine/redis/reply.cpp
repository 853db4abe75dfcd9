#include "engine/redis/reply.hpp"

#include <hiredis/hiredis.h>
#include <hiredis/read.h>

#include <optional>
#include <utility>

namespace live::engine::redis {

// hiredis calls back for each value as soon as it is complete, with its list and its index there. The lists exist by then, with
// all their values, so that a pointer to a value remains valid until the reply is complete.
struct ReplyReader::Building {
    redisReader* reader = nullptr;
    redisReplyObjectFunctions functions{};
    Reply root{};
    std::size_t values = 0;
    std::size_t bytes = 0;  // since the last whole reply
};

namespace {

using Building = ReplyReader::Building;

Reply* place_of(const redisReadTask* task) {
    if (task->parent == nullptr)
        return &static_cast<Building*>(task->privdata)->root;
    return &static_cast<Reply*>(task->parent->obj)->items[static_cast<std::size_t>(task->idx)];
}

std::optional<Reply::Kind> kind_of(int type) {
    switch (type) {
        case REDIS_REPLY_STRING: return Reply::Kind::text;
        case REDIS_REPLY_STATUS: return Reply::Kind::status;
        case REDIS_REPLY_ERROR: return Reply::Kind::error;
        default: return std::nullopt;
    }
}

// nullptr ends the reader: it takes it for a lack of memory. New versions have no bound for lists in lists, and take the newer
// protocol's maps, sets and pushes for lists.
template <class Count>
void* make_list(const redisReadTask* task, Count count) {
    std::size_t& values = static_cast<Building*>(task->privdata)->values;
    std::size_t depth = 1;
    for (const redisReadTask* parent = task->parent; parent != nullptr; parent = parent->parent)
        ++depth;
    if (task->type != REDIS_REPLY_ARRAY || depth > ReplyReader::kDepthMax)
        return nullptr;
    if (count < Count{} || static_cast<std::size_t>(count) > ReplyReader::kValuesMax - values)
        return nullptr;
    values += static_cast<std::size_t>(count);
    Reply* place = place_of(task);
    place->kind = Reply::Kind::list;
    place->items.resize(static_cast<std::size_t>(count));
    return place;
}

// The count is an int in old versions. Types of the newer protocol are refused: we have not requested it.
template <class Functions>
void set_functions(Functions& functions) {
    functions.createString = [](const redisReadTask* task, char* text, std::size_t length) -> void* {
        const auto kind = kind_of(task->type);
        if (!kind)
            return nullptr;
        Reply* place = place_of(task);
        place->kind = *kind;
        place->text.assign(text, length);
        return place;
    };
    functions.createArray = [](const redisReadTask* task, auto count) -> void* { return make_list(task, count); };
    functions.createInteger = [](const redisReadTask* task, long long number) -> void* {
        Reply* place = place_of(task);
        place->kind = Reply::Kind::number;
        place->number = number;
        return place;
    };
    functions.createNil = [](const redisReadTask* task) -> void* { return place_of(task); };
    if constexpr (requires { functions.createDouble; })
        functions.createDouble = [](auto...) -> void* { return nullptr; };
    if constexpr (requires { functions.createBool; })
        functions.createBool = [](auto...) -> void* { return nullptr; };
    functions.freeObject = [](void*) {};
}

}  // namespace

ReplyReader::ReplyReader() : building_(std::make_unique<Building>()) {
    set_functions(building_->functions);
    building_->reader = ::redisReaderCreateWithFunctions(&building_->functions);
    CHECK(building_->reader != nullptr);
    building_->reader->privdata = building_.get();
}

ReplyReader::~ReplyReader() { ::redisReaderFree(building_->reader); }

Result<void> ReplyReader::feed(Bytes bytes) {
    building_->bytes += bytes.size();
    if (building_->bytes > kReplyBytesMax)
        return Error(Errc::limit, "a reply of the registry is too long");
    if (::redisReaderFeed(building_->reader, as_text(bytes).data(), bytes.size()) != REDIS_OK)
        return Error(Errc::malformed, "the registry does not speak its protocol");
    return {};
}

Result<std::optional<Reply>> ReplyReader::next() {
    void* whole = nullptr;
    if (::redisReaderGetReply(building_->reader, &whole) != REDIS_OK)
        return Error(Errc::malformed, std::string("a reply of the registry is broken: ") + building_->reader->errstr);
    if (whole == nullptr)
        return std::optional<Reply>();
    building_->values = 0;
    building_->bytes = building_->reader->len - building_->reader->pos;
    return std::optional(std::exchange(building_->root, {}));
}

std::string command_of(std::span<const std::string> words) {
    std::vector<const char*> texts;
    std::vector<std::size_t> lengths;
    for (const std::string& word : words) {
        texts.push_back(word.data());
        lengths.push_back(word.size());
    }
    char* made = nullptr;
    const auto length = ::redisFormatCommandArgv(&made, static_cast<int>(words.size()), texts.data(), lengths.data());
    CHECK(length >= 0);
    std::string command(made, static_cast<std::size_t>(length));
    ::redisFreeCommand(made);
    return command;
}

}  // namespace live::engine::redis
