// Damage to a file, as a disk does it.
//
// Thread-safety: a free function.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace varve {

// Flips a bit of the byte at `offset`. Requires: the file is longer.
inline void FlipByte(const std::string& path, uint64_t offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  const char byte = static_cast<char>(file.get() ^ 0x10);
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(byte);
}

}  // namespace varve
