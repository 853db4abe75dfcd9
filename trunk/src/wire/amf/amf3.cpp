#include "wire/amf/amf3.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace live::wire::amf {

namespace {

// AMF 3, 3.1 "Overview".
enum Marker : std::uint8_t {
    kUndefined = 0x00,
    kNull = 0x01,
    kFalse = 0x02,
    kTrue = 0x03,
    kInteger = 0x04,
    kDouble = 0x05,
    kString = 0x06,
    kXmlDocument = 0x07,
    kDate = 0x08,
    kArray = 0x09,
    kObject = 0x0A,
    kXml = 0x0B,
    kByteArray = 0x0C,
};

constexpr std::size_t kKeyBytesMax = 65'535;  // The longest key of a Value.

// Reads one tree with an explicit stack. An object reference is resolved by re-reading the object from its start without adding
// to the tables; the budget bounds the cost.
class Reader {
public:
    Reader(ByteReader& in, Budget& budget, std::size_t depth) : in_(in), budget_(budget), depth_(depth) {}

    Result<Value> read();

private:
    struct Traits {
        std::string class_name;
        std::vector<std::string> names;
        bool dynamic = false;
    };
    struct Open {
        Value value;
        std::string key;                    // of the member being read
        Traits traits;                      // object
        std::size_t sealed_next = 0;        // object: next index into traits.names
        std::uint32_t items = 0;            // array: length of the dense part
        std::uint32_t items_next = 0;       // array: next index of the dense part
        bool keys_done = false;             // array: the associative part has ended
        std::optional<std::size_t> target;  // its index in targets_
        std::optional<ByteReader> resume;   // where to continue after it, when entered through a reference
    };
    struct Target {
        ByteReader start;  // at the marker
        bool complete;
    };

    Result<std::optional<Value>> begin_value();
    Result<std::optional<Value>> begin_referable(std::uint8_t marker, ByteReader start);
    Result<std::optional<Value>> begin_replay(std::size_t index);
    Result<void> begin_object(Open& open, std::uint32_t header);
    Result<std::optional<Value>> advance();
    Result<std::optional<Value>> advance_object(Open& top);
    Result<std::optional<Value>> advance_array(Open& top);
    Result<void> store(Value value);
    Value close();

    Result<Traits> read_traits(std::uint32_t header);
    Result<std::uint32_t> u29();
    Result<std::string> string();
    Result<std::string> text(std::size_t bytes);

    ByteReader& in_;
    Budget& budget_;
    std::size_t depth_;
    std::vector<Open> open_;
    std::vector<std::string> strings_;  // AMF 3, 2.2: the three tables
    std::vector<Traits> traits_;
    std::vector<Target> targets_;
    std::size_t replays_ = 0;
    std::optional<ByteReader> resume_;  // for the next container to open
};

Result<Value> Reader::read() {
    for (;;) {
        std::optional<Value> done = TRY(begin_value());
        if (!done)
            done = TRY(advance());
        while (done) {
            if (open_.empty())
                return std::move(*done);
            TRY(store(std::move(*done)));
            done = TRY(advance());
        }
    }
}

Result<void> Reader::store(Value value) {
    Open& parent = open_.back();
    TRY(budget_.check_members(parent.value.members().size() + 1));
    if (parent.key.size() > kKeyBytesMax)
        return Error(Errc::limit, "AMF3 key of " + std::to_string(parent.key.size()) + " bytes");
    parent.value.append(std::move(parent.key), std::move(value));
    return {};
}

Result<std::optional<Value>> Reader::begin_value() {
    const ByteReader start = in_;
    TRY(budget_.spend_value());
    const auto marker = TRY(in_.u8());
    switch (marker) {
        case kUndefined: return std::optional(Value::undefined());
        case kNull: return std::optional(Value::null());
        case kFalse: return std::optional(Value(false));
        case kTrue: return std::optional(Value(true));
        case kInteger: {
            // AMF 3, 3.6: 29 bits, two's complement.
            const auto bits = static_cast<std::int32_t>(TRY(u29()));
            return std::optional(Value(bits >= 1 << 28 ? bits - (1 << 29) : bits));
        }
        case kDouble: return std::optional(Value(TRY(in_.f64be())));
        case kString: return std::optional(Value(TRY(string())));
        case kXmlDocument:
        case kDate:
        case kArray:
        case kObject:
        case kXml:
        case kByteArray: return begin_referable(marker, start);
        default: return Error(Errc::unsupported, "AMF3 marker " + std::to_string(marker) + " is not read here");
    }
}

Result<std::optional<Value>> Reader::begin_referable(std::uint8_t marker, ByteReader start) {
    const auto header = TRY(u29());
    if ((header & 1) == 0)
        return begin_replay(header >> 1);
    const std::uint32_t length = header >> 1;
    const bool container = marker == kArray || marker == kObject;
    std::optional<std::size_t> target;
    if (replays_ == 0) {
        target = targets_.size();
        targets_.push_back({start, !container});
    }
    switch (marker) {
        case kDate: return std::optional(Value::date(TRY(in_.f64be())));
        case kXml:
        case kXmlDocument: return std::optional(Value::xml(TRY(text(length))));
        case kByteArray: TRY(in_.skip(length)); return std::optional(Value::unsupported());
        default: break;
    }
    TRY(budget_.check_depth(depth_ + open_.size()));
    Open open;
    open.target = target;
    open.resume = std::exchange(resume_, std::nullopt);
    if (marker == kArray) {
        TRY(budget_.check_members(length));
        open.items = length;
        open.value = Value::strict_array();
    } else {
        TRY(begin_object(open, header));
    }
    open_.push_back(std::move(open));
    return std::optional<Value>();
}

// A target never starts with a reference, so begin_value calls this only once.
Result<std::optional<Value>> Reader::begin_replay(std::size_t index) {
    if (index >= targets_.size())
        return Error(Errc::malformed, "AMF3 reference " + std::to_string(index) + " of " + std::to_string(targets_.size()));
    if (!targets_[index].complete)
        return Error(Errc::malformed, "AMF3 reference into an object that is still open");
    const ByteReader after = in_;
    in_ = targets_[index].start;
    resume_ = after;
    ++replays_;
    auto leaf = TRY(begin_value());
    if (leaf) {
        --replays_;
        resume_.reset();
        in_ = after;
    }
    return leaf;
}

Result<void> Reader::begin_object(Open& open, std::uint32_t header) {
    open.traits = TRY(read_traits(header));
    for (const std::string& name : open.traits.names)
        TRY(budget_.spend_text(name.size()));
    TRY(budget_.spend_text(open.traits.class_name.size()));
    open.value = Value::typed_object(open.traits.class_name);
    return {};
}

// AMF 3, 3.12 "Object Type": the second bit is set if the traits follow inline, and clear for a reference.
Result<Reader::Traits> Reader::read_traits(std::uint32_t header) {
    if ((header & 2) == 0) {
        const std::size_t index = header >> 2;
        if (index >= traits_.size())
            return Error(Errc::malformed,
                         "AMF3 trait reference " + std::to_string(index) + " of " + std::to_string(traits_.size()));
        return traits_[index];
    }
    if ((header & 4) != 0)
        return Error(Errc::unsupported, "AMF3 externalizable class");
    Traits traits;
    traits.dynamic = (header & 8) != 0;
    const std::size_t count = header >> 4;
    TRY(budget_.check_members(count));
    traits.class_name = TRY(string());
    for (std::size_t i = 0; i < count; ++i) {
        TRY(budget_.spend_value());  // Empty names use no text budget, so they are counted as values.
        traits.names.push_back(TRY(string()));
    }
    if (replays_ == 0)
        traits_.push_back(traits);
    return traits;
}

Result<std::optional<Value>> Reader::advance() {
    Open& top = open_.back();
    return top.value.is(Kind::object) ? advance_object(top) : advance_array(top);
}

Result<std::optional<Value>> Reader::advance_object(Open& top) {
    if (top.sealed_next < top.traits.names.size()) {
        top.key = top.traits.names[top.sealed_next++];
        return std::optional<Value>();
    }
    if (!top.traits.dynamic)
        return std::optional(close());
    top.key = TRY(string());
    return top.key.empty() ? std::optional(close()) : std::optional<Value>();
}

// AMF 3, 3.11 "Array Type": members with keys come first, terminated by an empty key; then the dense part.
Result<std::optional<Value>> Reader::advance_array(Open& top) {
    if (!top.keys_done) {
        top.key = TRY(string());
        if (!top.key.empty()) {
            if (top.value.is(Kind::strict_array))
                top.value = Value::ecma_array();
            return std::optional<Value>();
        }
        top.keys_done = true;
    }
    if (top.items_next == top.items)
        return std::optional(close());
    top.key = top.value.is(Kind::ecma_array) ? std::to_string(top.items_next) : std::string();
    ++top.items_next;
    return std::optional<Value>();
}

Value Reader::close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    if (done.target)
        targets_[*done.target].complete = true;
    if (done.resume) {
        --replays_;
        in_ = *done.resume;
    }
    return std::move(done.value);
}

// AMF 3, 1.3.1: seven bits per byte while the top bit is set, and all eight bits of the fourth byte.
Result<std::uint32_t> Reader::u29() {
    std::uint32_t value = 0;
    for (int i = 0; i < 3; ++i) {
        const auto byte = TRY(in_.u8());
        value = value << 7 | (byte & 0x7F);
        if ((byte & 0x80) == 0)
            return value;
    }
    return value << 8 | TRY(in_.u8());
}

Result<std::string> Reader::string() {
    const auto header = TRY(u29());
    if ((header & 1) == 0) {
        const std::size_t index = header >> 1;
        if (index >= strings_.size())
            return Error(Errc::malformed,
                         "AMF3 string reference " + std::to_string(index) + " of " + std::to_string(strings_.size()));
        TRY(budget_.spend_text(strings_[index].size()));
        return strings_[index];
    }
    std::string value = TRY(text(header >> 1));
    if (!value.empty() && replays_ == 0)
        strings_.push_back(value);
    return value;
}

Result<std::string> Reader::text(std::size_t bytes) {
    TRY(budget_.spend_text(bytes));
    return std::string(as_text(TRY(in_.take(bytes))));
}

}  // namespace

Result<Value> read_amf3(ByteReader& in, const Limits& limits) {
    Budget budget(limits);
    return read_amf3(in, budget, 0);
}

Result<Value> read_amf3(ByteReader& in, Budget& budget, std::size_t depth) { return Reader(in, budget, depth).read(); }

}  // namespace live::wire::amf
