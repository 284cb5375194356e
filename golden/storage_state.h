// The states of storage in which every scenario must give the same rows.
//
// kStorageStates is the matrix: the runner brings the catalog into a state after every block of a
// scenario and once more at the end, and compares. A new state is a new row there.
//
// Thread-safety: none.
#pragma once

#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "catalog/catalog.h"

namespace varve::golden {

// A catalog on disk and how it is open at the moment.
struct OpenCatalog {
  std::string path;
  std::unique_ptr<Catalog> writer;  // null: not open for writing
  std::unique_ptr<Catalog> reader;  // open read-only; null: none
  // Open read-only beside the writer, and kept: it catches up. null: none.
  std::unique_ptr<Catalog> follower;
  int entered = 0;  // how many times a state was

  // The one a state reads with.
  const Catalog& reading() const {
    return follower != nullptr ? *follower : reader != nullptr ? *reader : *writer;
  }
};

struct StorageState {
  std::string_view name;  // a C++ identifier: part of the test's name
  std::string_view says;
  // Whether entering closes the catalog: views cannot be held over it.
  bool closes;
  // Brings the catalog into the state. Requires: open for writing.
  absl::Status (*enter)(OpenCatalog* catalog);
  // Blocks are committed by transactions where these have the operations, instead of as rows.
  bool native = false;
  // Readings without intervals find packs that may be read clean.
  bool reads_clean = false;
};

std::span<const StorageState> StorageStates();

// What a failed test prints of its parameter.
void PrintTo(const StorageState& state, std::ostream* out);

// Leaves any state: the catalog is open for writing, and nothing else is open but a follower.
absl::Status MakeWritable(OpenCatalog* catalog);

}  // namespace varve::golden
