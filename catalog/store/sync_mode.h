// How a commit becomes durable.
#pragma once

#include <cstdint>

namespace varve {

enum class SyncMode : uint8_t {
  kAlways,    // synced before it is acknowledged
  kInterval,  // synced within an interval: a power cut loses what came since the last one
  kOff,       // handed to the system, synced when it likes: a crash of the process loses nothing
};

}  // namespace varve
