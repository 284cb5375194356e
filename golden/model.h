// A naive model of the catalog: all rows there ever were, with their begins and ends, in a map.
//
// It is fed the same change sets as the catalog and answers the same questions by applying the rule
// of visibility to every row, one after the other. It shares no code with the catalog's storage,
// keys, indexes or read paths, so that both being wrong in the same way is unlikely. It is slow and
// meant to be.
//
// Thread-safety: none. Ownership: a value type; a copy shares nothing but relation schemas.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/row.h"
#include "catalog/change_set.h"
#include "catalog/relation.h"
#include "catalog/relation_directory.h"

namespace varve::golden {

// A row with the interval it lives on. Rows without begin and end: 0 and kNoEnd.
struct ModelRow {
  Row values;
  SnapshotId begin = 0;
  SnapshotId end = kNoEnd;
};

struct ModelRelation {
  RelationRef schema;
  // By a number that grows with every row added: in order of insertion.
  std::map<uint64_t, ModelRow> rows;
};

class Model {
 public:
  // The bootstrap rows of DuckLake 1.0 as Catalog::Init writes them (DuckLake 1.0 specification,
  // "initialization"), except the metadata row created_by, which names the program.
  static absl::StatusOr<Model> Bootstrap(std::string_view snapshot_time, std::string_view data_path,
                                         std::string_view schema_uuid);

  // Built-in relations by id, then dynamic ones in order of creation.
  const std::list<ModelRelation>& relations() const { return relations_; }
  const ModelRelation* Find(std::string_view name) const;  // nullptr: none

  // Errors: a relation or row that a change names is not there.
  absl::Status Apply(const ChangeSet& changes);

  // Takes the descriptions of dynamic relations, with the ids chosen at commit, from the catalog's
  // directory. Errors: the directory has not got one of them.
  absl::Status Rebind(const RelationDirectory& directory);

  // The single steps of Apply, for whoever composes a change set.
  absl::Status CreateRelation(RelationSchema schema);
  absl::Status DropRelation(std::string_view name);
  ModelRow& Add(std::string_view relation, Row values);
  ModelRelation* FindMutable(std::string_view name);

  // The rows visible at `snapshot`, in key order.
  std::vector<ModelRow> Visible(const ModelRelation& relation, SnapshotId snapshot) const;
  // All rows, in key order. Rows of child relations carry their parent's interval, from its first
  // begin to its last end; without a parent [kNoEnd, kNoEnd).
  std::vector<ModelRow> All(const ModelRelation& relation) const;

  // The ids of the snapshots that exist, ascending.
  std::vector<SnapshotId> Snapshots() const;

 private:
  absl::Status ApplyChange(const RowChange& change);
  const ModelRelation* ParentOf(const ModelRelation& relation) const;  // nullptr: has none

  uint64_t next_row_ = 0;
  std::list<ModelRelation> relations_;
};

// Whether the relation's handle columns have these values in the row.
bool HasHandle(const RelationSchema& relation, const Row& row, std::span<const Datum> key);

// Sets begin and end of a row from its begin and end columns, where the relation has them.
void TakeInterval(const RelationSchema& relation, ModelRow* row);

// A row of the relation from the text of its columns; columns that are not named are NULL.
// Errors: an unknown column, a text that is no value of the column's type.
struct NamedText {
  std::string_view column;
  std::optional<std::string> text;
};
absl::StatusOr<Row> MakeRow(const RelationSchema& relation, const std::vector<NamedText>& columns);
absl::Status SetColumn(const RelationSchema& relation, const NamedText& column, Row* row);

}  // namespace varve::golden
