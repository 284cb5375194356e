#include "columnar/encoding/pack_encoding.h"

namespace varve {

std::string_view PackEncodingName(PackEncoding encoding) {
  switch (encoding) {
    case PackEncoding::kPlain: return "plain";
    case PackEncoding::kConstant: return "constant";
    case PackEncoding::kRunLength: return "run-length";
    case PackEncoding::kDelta: return "delta";
    case PackEncoding::kFrameOfReference: return "frame of reference";
    case PackEncoding::kDictionary: return "dictionary";
    case PackEncoding::kFrames: return "frames";
    case PackEncoding::kDeltaFrames: return "delta frames";
    case PackEncoding::kKeyTuples: return "key tuples";
  }
  return "unknown";
}

}  // namespace varve
