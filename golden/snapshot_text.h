// The rows of every relation at one snapshot as text: what expectations are written in.
//
//   ducklake_schema: schema_id, schema_uuid, begin_snapshot, …
//     0, 00000000-0000-4000-8000-000000000000, 0, NULL, 'main', 'main/', true
//
// One line a row, in key order; relations in order of their ids; relations without rows are left
// out. Values stand in the canonical text of base/text.h. Values of text types stand in single
// quotes (inside them ' is doubled and \ and control characters are escaped), so that no text can
// be taken for NULL, a number, or the end of its value or line.
//
// Thread-safety: value types and functions without state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/read_view.h"
#include "golden/model.h"

namespace varve::golden {

struct RelationText {
  std::string name;
  std::string columns;            // "schema_id, schema_uuid, …"
  std::vector<std::string> rows;  // one a line, without indentation

  friend bool operator==(const RelationText&, const RelationText&) = default;
};
using SnapshotText = std::vector<RelationText>;

// How a row is written.
enum class RowForm : uint8_t {
  kValues,           // what expectations hold
  kWithInterval,     // and the interval the row lives on, "@[3, 7)"
  kWithoutInterval,  // without the columns of its begin and end: what a clean read gives
};

// What readings did with packs of columnar files.
struct PackCounts {
  uint64_t clean = 0;   // read without handle, version and end
  uint64_t normal = 0;  // read with them
};

// The rows a view shows of a relation, or all versions it holds. What is not shown is not asked for
// either. Adds to `counts`, unless it is null.
absl::StatusOr<RelationText> ReadRelation(const ReadView& view, const RelationRef& relation,
                                          ScanRows rows, RowForm form,
                                          PackCounts* counts = nullptr);
absl::StatusOr<SnapshotText> ReadSnapshot(const ReadView& view, RowForm form,
                                          PackCounts* counts = nullptr);

// The same of the model. `snapshot` nullopt: all versions.
SnapshotText ModelText(const Model& model, std::optional<SnapshotId> snapshot, RowForm form);

std::string FormatSnapshot(const SnapshotText& snapshot);
// Reads what FormatSnapshot wrote.
absl::StatusOr<SnapshotText> ParseSnapshotText(std::string_view text);

// The same with every end_snapshot NULL: what is seen at a snapshot while it is the latest, when
// nothing has ended yet that is visible there.
SnapshotText WithoutEnds(SnapshotText snapshot);

// The relations of `then` that differ from `now`, those without rows in `then` included.
SnapshotText DifferentRelations(const SnapshotText& now, const SnapshotText& then);
// `now` with these relations instead: the inverse.
SnapshotText Overlay(const SnapshotText& now, const SnapshotText& different);

// Where two snapshots differ first, with the rows on both sides, for a person to read. Empty when
// they do not. The order of the relations does not matter.
std::string FirstDifference(const SnapshotText& expected, const SnapshotText& actual);

// One value: NULL, or its canonical text, quoted where its type is a text type.
std::string ValueText(const Type& type, const Datum& value);

}  // namespace varve::golden
