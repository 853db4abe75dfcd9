// Finds out the codec of an elementary stream by its bytes, for program streams without a map and for devices whose map names
// another codec than they send.
#pragma once

#include <optional>

#include "base/bytes/bytes.hpp"
#include "wire/ps/program_map.hpp"

namespace live::wire::ps {

// The NAL units of an access unit that are examined: parameter sets are at its beginning.
inline constexpr std::size_t kGuessedUnitsMax = 8;

// H.264 or HEVC by the parameter sets at the beginning of an access unit; nullopt without parameter sets.
std::optional<StreamFormat> guess_video(Bytes unit);

// AAC or MPEG audio if whole frames of it begin at the start of the payload and fill it; nullopt for anything else.
std::optional<StreamFormat> guess_audio(Bytes payload);

// Quiet samples of G.711: how many more look like mu-law than like A-law; negative for A-law.
int law_balance(Bytes payload);

}  // namespace live::wire::ps
