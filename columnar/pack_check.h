// Whether the packs of a columnar file are as they were written: every checksum, in one pass along
// the file. Nothing is decoded.
//
// Thread-safety: free functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "columnar/columnar_file.h"

namespace varve {

struct DamagedPack {
  uint32_t relation = 0;
  std::string column;  // its name
  size_t pack = 0;
  std::string what;  // "its checksum does not match"
};

// Reads all packs of these tables of the file, in the order in which they lie there, with about a
// MiB of memory whatever their size. A pack that cannot be read is damaged, too. `on_bytes`, if it
// is not empty, is called with the bytes that every step has read; an error of it ends the check,
// and is returned.
absl::StatusOr<std::vector<DamagedPack>> CheckPacks(
    const ColumnarFile& file, std::span<const ColumnarTable* const> tables,
    const std::function<absl::Status(uint64_t bytes)>& on_bytes);

}  // namespace varve
