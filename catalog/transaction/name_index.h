// The names of the live objects of a catalog state: schemas, and the tables, views and macros in
// them. What uniqueness of names and look-ups by name rest on.
//
// Tables and views share one namespace of a schema, macros have another (as in DuckDB). Names are
// case-insensitive.
//
// Thread-safety: immutable once built, shared by the states it belongs to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "catalog/read_view.h"

namespace varve {

enum class NameSpace : uint8_t { kSchema, kTableOrView, kMacro };

// What has a name.
struct NamedObject {
  RelationId relation = 0;  // kSchema, kTable, kView or kMacro
  int64_t id = 0;
};

class NameIndex {
 public:
  using Object = NamedObject;

  // Reads the names of the state's latest snapshot. Of several objects with one name, which a
  // catalog made elsewhere may hold, one is found.
  static absl::StatusOr<std::shared_ptr<const NameIndex>> Load(const ReadView& current);

  // `schema_id` is 0 for schemas.
  std::optional<Object> Find(NameSpace space, int64_t schema_id, std::string_view name) const;
  // The name most like it, for messages; empty when none is near.
  std::string Nearest(NameSpace space, int64_t schema_id, std::string_view name) const;
  // What lies in a schema: tables and views by name, then macros.
  std::vector<Object> ObjectsIn(int64_t schema_id) const;

 private:
  struct Entry {
    NamedObject object;
    std::string name;  // as written
  };
  absl::Status Add(const ReadView& view, RelationId relation);
  template <typename Visit>
  void ForEach(NameSpace space, int64_t schema_id, const Visit& visit) const;

  // By namespace, schema and folded name.
  absl::btree_map<std::string, Entry> entries_;
};

}  // namespace varve
