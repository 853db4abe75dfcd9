#include "base/bytes/byte_reader.hpp"

namespace live {

Error ByteReader::short_by(std::size_t wanted) const {
    return {Errc::need_more, "wanted " + std::to_string(wanted) + " bytes at offset " + std::to_string(at_) + " of " +
                                 std::to_string(input_.size())};
}

}  // namespace live
