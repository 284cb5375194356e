// The encodings a pack can have, by the number that stands in the file.
//
// Thread-safety: constants and a pure function.
#pragma once

#include <cstdint>
#include <string_view>

namespace varve {

enum class PackEncoding : uint8_t {
  kPlain = 0,
  kConstant = 1,
  kRunLength = 2,
  kDelta = 3,
  kFrameOfReference = 4,
  kDictionary = 5,
  kFrames = 6,
  kDeltaFrames = 7,
  kKeyTuples = 8,
};

// "plain", "constant", "run-length", "delta", "frame of reference", "dictionary", "frames", "delta
// frames", "key tuples".
std::string_view PackEncodingName(PackEncoding encoding);

}  // namespace varve
