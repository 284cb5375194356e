#include "golden/storage_state.h"

#include <array>
#include <ostream>

#include "base/status.h"

namespace varve::golden {
namespace {

absl::Status OpenWriter(OpenCatalog* catalog) {
  VARVE_ASSIGN_OR_RETURN(catalog->writer, Catalog::Open(catalog->path));
  return absl::OkStatus();
}

absl::Status OpenReader(OpenCatalog* catalog) {
  VARVE_ASSIGN_OR_RETURN(catalog->reader, Catalog::Open(catalog->path, {.read_only = true}));
  return absl::OkStatus();
}

absl::Status Reopen(OpenCatalog* catalog) {
  catalog->writer.reset();
  return OpenWriter(catalog);
}

absl::Status ReopenReadOnly(OpenCatalog* catalog) {
  catalog->writer.reset();
  return OpenReader(catalog);
}

absl::Status LeaveAsItIs(OpenCatalog* /*catalog*/) {
  return absl::OkStatus();
}

constexpr auto kStorageStates = std::to_array<StorageState>({
    {"Written", "as it is open", /*closes=*/false, LeaveAsItIs},
    {"Reopened", "closed and opened again", /*closes=*/true, Reopen},
    {"ReadOnly", "closed and opened read-only", /*closes=*/true, ReopenReadOnly},
    {"ReadOnlyBesideWriter", "opened read-only beside its writer", /*closes=*/false, OpenReader},
});

}  // namespace

std::span<const StorageState> StorageStates() {
  return kStorageStates;
}

void PrintTo(const StorageState& state, std::ostream* out) {
  *out << state.name;
}

absl::Status MakeWritable(OpenCatalog* catalog) {
  catalog->reader.reset();
  return catalog->writer != nullptr ? absl::OkStatus() : OpenWriter(catalog);
}

}  // namespace varve::golden
