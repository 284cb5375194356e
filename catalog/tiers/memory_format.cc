#include "catalog/tiers/memory_format.h"

#include <utility>

#include "base/coding.h"

namespace varve {
namespace {

// The columns that are cells: those of the payload, then the end.
std::vector<size_t> CellColumns(const RelationSchema& relation) {
  std::vector<size_t> columns;
  for (size_t i = 0; i < relation.columns.num_columns(); ++i) {
    if (relation.in_payload[i]) {
      columns.push_back(i);
    }
  }
  if (relation.end_column.has_value()) {
    columns.push_back(*relation.end_column);
  }
  return columns;
}

// What the row store holds is taken as it is: the rules of columns are the business of commits.
std::shared_ptr<const Schema> SchemaOfCells(const RelationSchema& relation) {
  std::vector<ColumnSchema> columns;
  for (const size_t column : CellColumns(relation)) {
    columns.push_back(relation.columns.column(column));
    columns.back().nullable = true;
  }
  return std::make_shared<const Schema>(std::move(columns));
}

}  // namespace

void AppendVersionKey(std::string_view handle, SnapshotId begin, std::string* out) {
  out->append(handle);
  PutBigEndian(out, begin);
}

std::string_view HandleOfVersionKey(std::string_view key) {
  return key.substr(0, key.size() - sizeof(SnapshotId));
}

SnapshotId BeginOfVersionKey(std::string_view key) {
  return LoadBigEndian<SnapshotId>(key.data() + key.size() - sizeof(SnapshotId));
}

MemoryFormat::MemoryFormat(RelationRef relation)
    : relation_(std::move(relation)),
      cell_of_column_(relation_->columns.num_columns()),
      decoder_(relation_, CellColumns(*relation_)),
      schema_(SchemaOfCells(*relation_)) {
  for (size_t cell = 0; cell < decoder_.columns().size(); ++cell) {
    cell_of_column_[decoder_.columns()[cell]] = cell;
  }
  if (relation_->end_column.has_value()) {
    end_cell_ = cell_of_column_[*relation_->end_column];
  }
}

std::optional<size_t> MemoryFormat::CellOf(size_t column) const {
  return cell_of_column_[column];
}

absl::Status MemoryFormat::Decode(std::string_view handle, SnapshotId begin, SnapshotId end,
                                  std::string_view payload, DecodedHandle* scratch,
                                  std::span<Datum> cells) const {
  return decoder_.Decode(handle, begin, end, payload, scratch, cells);
}

}  // namespace varve
