#include "wire/amf/amf0.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wire/amf/amf3.hpp"

namespace live::wire::amf {

namespace {

// AMF 0, 2.1 "Types Overview".
enum Marker : std::uint8_t {
    kNumber = 0x00,
    kBoolean = 0x01,
    kString = 0x02,
    kObject = 0x03,
    kMovieClip = 0x04,
    kNull = 0x05,
    kUndefined = 0x06,
    kReference = 0x07,
    kEcmaArray = 0x08,
    kObjectEnd = 0x09,
    kStrictArray = 0x0A,
    kDate = 0x0B,
    kLongString = 0x0C,
    kUnsupported = 0x0D,
    kRecordSet = 0x0E,
    kXmlDocument = 0x0F,
    kTypedObject = 0x10,
    kAvmPlus = 0x11,
};

// Reads one tree with an explicit stack. A reference is resolved by re-reading the referenced object from its start; the budget
// bounds the cost.
class Reader {
public:
    Reader(ByteReader& in, const Limits& limits) : in_(in), budget_(limits) {}

    Result<Value> read();

private:
    struct Open {
        Value value;
        std::string key;                    // of the member being read
        std::uint32_t items_left = 0;       // strict arrays only
        std::optional<std::size_t> target;  // its index in targets_
        std::optional<ByteReader> resume;   // where to continue after it, when entered through a reference
    };
    struct Target {
        ByteReader start;  // at the marker
        bool complete;
    };

    // Returns a scalar value, or nullopt after opening a container.
    Result<std::optional<Value>> begin_value();
    Result<std::optional<Value>> begin_container(std::uint8_t marker, ByteReader start);
    // Advances to the next member of the innermost container; returns the container when it has no more.
    Result<std::optional<Value>> advance();
    Value close();
    Result<void> go_to_reference();
    Result<std::string> text(std::size_t bytes);

    ByteReader& in_;
    Budget budget_;
    std::vector<Open> open_;
    std::vector<Target> targets_;       // AMF 0, 2.9 "Reference Type": objects and arrays in order of their starts
    std::size_t replays_ = 0;           // open containers entered through a reference
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
            Open& parent = open_.back();
            TRY(budget_.check_members(parent.value.members().size() + 1));
            parent.value.append(std::move(parent.key), std::move(*done));
            done = TRY(advance());
        }
    }
}

// tidy-long: flat switch over the markers
Result<std::optional<Value>> Reader::begin_value() {
    const ByteReader start = in_;
    const auto marker = TRY(in_.u8());
    if (marker != kReference)
        TRY(budget_.spend_value());
    switch (marker) {
        case kNumber: return std::optional(Value(TRY(in_.f64be())));
        case kBoolean: return std::optional(Value(TRY(in_.u8()) != 0));
        case kString: return std::optional(Value(TRY(text(TRY(in_.u16be())))));
        case kLongString: return std::optional(Value(TRY(text(TRY(in_.u32be())))));
        case kXmlDocument: return std::optional(Value::xml(TRY(text(TRY(in_.u32be())))));
        case kNull: return std::optional(Value::null());
        case kUndefined: return std::optional(Value::undefined());
        case kUnsupported: return std::optional(Value::unsupported());
        case kDate: {
            const auto milliseconds = TRY(in_.f64be());
            TRY(in_.skip(2));  // The reserved time zone, "should be 0".
            return std::optional(Value::date(milliseconds));
        }
        case kAvmPlus: return std::optional(TRY(read_amf3(in_, budget_, open_.size())));
        case kObject:
        case kEcmaArray:
        case kStrictArray:
        case kTypedObject: return begin_container(marker, start);
        case kReference: TRY(go_to_reference()); return begin_value();  // Recurses once: a target is never a reference.
        case kObjectEnd: return Error(Errc::malformed, "AMF0 object end where a value is wanted");
        case kMovieClip:
        case kRecordSet: return Error(Errc::unsupported, "AMF0 marker " + std::to_string(marker) + " is reserved");
        default: return Error(Errc::malformed, "AMF0 marker " + std::to_string(marker) + " is unknown");
    }
}

Result<std::optional<Value>> Reader::begin_container(std::uint8_t marker, ByteReader start) {
    TRY(budget_.check_depth(open_.size()));
    Open open;
    if (marker == kObject) {
        open.value = Value::object();
    } else if (marker == kTypedObject) {
        open.value = Value::typed_object(TRY(text(TRY(in_.u16be()))));
    } else if (marker == kEcmaArray) {
        open.value = Value::ecma_array();
        TRY(in_.skip(4));  // Only a hint: encoders write 0 or a wrong count. The end marker is authoritative.
    } else {
        open.value = Value::strict_array();
        open.items_left = TRY(in_.u32be());
        TRY(budget_.check_members(open.items_left));
    }
    open.resume = std::exchange(resume_, std::nullopt);
    if (open.resume)
        ++replays_;
    if (replays_ == 0) {
        open.target = targets_.size();
        targets_.push_back({start, false});
    }
    open_.push_back(std::move(open));
    return std::optional<Value>();
}

Result<std::optional<Value>> Reader::advance() {
    Open& top = open_.back();
    if (top.value.is(Kind::strict_array)) {
        if (top.items_left == 0)
            return std::optional(close());
        --top.items_left;
        return std::optional<Value>();
    }
    const auto key_bytes = TRY(in_.u16be());
    if (key_bytes == 0 && TRY(in_.peek_u8()) == kObjectEnd) {
        TRY(in_.skip(1));
        return std::optional(close());
    }
    top.key = TRY(text(key_bytes));
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

Result<void> Reader::go_to_reference() {
    const auto index = TRY(in_.u16be());
    if (index >= targets_.size())
        return Error(Errc::malformed, "AMF0 reference " + std::to_string(index) + " of " + std::to_string(targets_.size()));
    if (!targets_[index].complete)
        return Error(Errc::malformed, "AMF0 reference into an object that is still open");
    resume_ = in_;
    in_ = targets_[index].start;
    return {};
}

Result<std::string> Reader::text(std::size_t bytes) {
    TRY(budget_.spend_text(bytes));
    return std::string(as_text(TRY(in_.take(bytes))));
}

// AMF 0, 2.4 "String Type" and 2.14 "Long String Type".
void write_text(ByteWriter& out, std::string_view text) {
    if (text.size() <= 0xFFFF)
        out.u8(kString).u16be(static_cast<std::uint16_t>(text.size())).text(text);
    else
        out.u8(kLongString).u32be(static_cast<std::uint32_t>(text.size())).text(text);
}

void write_key(ByteWriter& out, std::string_view key) { out.u16be(static_cast<std::uint16_t>(key.size())).text(key); }

// Marker and header before a container's first member.
void write_head(ByteWriter& out, const Value& value) {
    if (value.is(Kind::ecma_array)) {
        out.u8(kEcmaArray).u32be(static_cast<std::uint32_t>(value.members().size()));
    } else if (value.is(Kind::strict_array)) {
        out.u8(kStrictArray).u32be(static_cast<std::uint32_t>(value.members().size()));
    } else if (value.class_name().empty()) {
        out.u8(kObject);
    } else {
        out.u8(kTypedObject);
        write_key(out, value.class_name());
    }
}

void write_scalar(ByteWriter& out, const Value& value) {
    switch (value.kind()) {
        case Kind::number: out.u8(kNumber).f64be(*value.number()); break;
        case Kind::boolean: out.u8(kBoolean).u8(*value.boolean() ? 1 : 0); break;
        case Kind::string: write_text(out, *value.string()); break;
        case Kind::date: out.u8(kDate).f64be(*value.date_ms()).u16be(0); break;
        case Kind::xml:
            out.u8(kXmlDocument).u32be(static_cast<std::uint32_t>(value.xml_text()->size())).text(*value.xml_text());
            break;
        case Kind::null: out.u8(kNull); break;
        case Kind::undefined: out.u8(kUndefined); break;
        default: out.u8(kUnsupported); break;
    }
}

}  // namespace

Result<Value> read_amf0(ByteReader& in, const Limits& limits) { return Reader(in, limits).read(); }

void write_amf0(ByteWriter& out, const Value& value) {
    struct Open {
        const Value* container;
        std::size_t next;
    };
    if (!value.is_container())
        return write_scalar(out, value);
    write_head(out, value);
    std::vector<Open> open{{&value, 0}};
    while (!open.empty()) {
        Open& top = open.back();
        const bool has_keys = !top.container->is(Kind::strict_array);
        if (top.next == top.container->members().size()) {
            if (has_keys)
                out.u16be(0).u8(kObjectEnd);
            open.pop_back();
            continue;
        }
        const Value::Member& member = top.container->members()[top.next++];
        if (has_keys)
            write_key(out, member.key);
        if (member.value.is_container()) {
            write_head(out, member.value);
            open.push_back({&member.value, 0});
        } else {
            write_scalar(out, member.value);
        }
    }
}

}  // namespace live::wire::amf
