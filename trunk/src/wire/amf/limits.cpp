#include "wire/amf/limits.hpp"

#include <string>

namespace live::wire::amf {

Result<void> Budget::spend_value() {
    if (++values_ > limits_.values)
        return Error(Errc::limit, "more than " + std::to_string(limits_.values) + " AMF values");
    return {};
}

Result<void> Budget::spend_text(std::size_t bytes) {
    if (bytes > limits_.string_bytes)
        return Error(Errc::limit, "AMF string of " + std::to_string(bytes) + " bytes, at most " +
                                      std::to_string(limits_.string_bytes) + " are read");
    text_bytes_ += bytes;
    if (text_bytes_ > limits_.text_bytes_total)
        return Error(Errc::limit, "more than " + std::to_string(limits_.text_bytes_total) + " bytes of AMF strings");
    return {};
}

Result<void> Budget::check_members(std::size_t count) const {
    if (count > limits_.properties)
        return Error(Errc::limit, "more than " + std::to_string(limits_.properties) + " members in one AMF object or array");
    return {};
}

Result<void> Budget::check_depth(std::size_t open) const {
    if (open >= limits_.depth)
        return Error(Errc::limit, "AMF nested deeper than " + std::to_string(limits_.depth));
    return {};
}

}  // namespace live::wire::amf
