// The encodings a pack can have, by the number that stands in the file.
//
// Thread-safety: constants only.
#pragma once

#include <cstdint>

namespace varve {

enum class PackEncoding : uint8_t {
  kPlain = 0,
  kConstant = 1,
  kRunLength = 2,
  kDelta = 3,
  kFrameOfReference = 4,
  kDictionary = 5,
};

}  // namespace varve
