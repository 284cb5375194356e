// ListColumns of catalog/listing.h.

#include <algorithm>
#include <map>
#include <tuple>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/inspect/listing.h"
#include "catalog/inspect/object_names.h"
#include "catalog/inspect/row_reader.h"

namespace varve {
namespace {

struct Column {
  int64_t order = 0;
  int64_t id = 0;
  std::string name;
  std::string type;
  std::optional<bool> nullable;
  std::optional<std::string> default_value;
};

// One table's columns by the id of their parent; -1: top level.
using ColumnsByParent = std::map<int64_t, std::vector<Column>>;
constexpr int64_t kTopLevel = -1;

absl::StatusOr<ColumnsByParent> ReadColumns(const ReadView& view, int64_t table_id) {
  ColumnsByParent columns;
  VARVE_RETURN_IF_ERROR(
      ForEachRow(view, kColumn,
                 {"column_order", "column_id", "column_name", "column_type", "nulls_allowed",
                  "default_value", "default_value_type", "parent_column"},
                 {.key_prefix = {Datum::Int64(table_id)}}, [&](const RowReader& row) {
                   Column column{.order = row.Int(0),
                                 .id = row.Int(1),
                                 .name = std::string(row.Text(2)),
                                 .type = std::string(row.Text(3))};
                   if (!row.IsNull(4)) {
                     column.nullable = row.Bool(4);
                   }
                   // A column without a default has the literal NULL for one.
                   if (!row.IsNull(5) && (row.Text(5) != "NULL" || row.Text(6) == "expression")) {
                     column.default_value = row.Text(5);
                   }
                   columns[row.Int(7, kTopLevel)].push_back(std::move(column));
                 }));
  for (auto& [parent, children] : columns) {
    std::sort(children.begin(), children.end(), [](const Column& a, const Column& b) {
      return std::tie(a.order, a.id) < std::tie(b.order, b.id);
    });
  }
  return columns;
}

const std::vector<Column>& ChildrenOf(const ColumnsByParent& columns, int64_t parent) {
  static const auto& none = *new std::vector<Column>();
  const auto it = columns.find(parent);
  return it == columns.end() ? none : it->second;
}

// The type with what it is made of: "struct(street varchar, zip int32)", "varchar[]",
// "map(varchar, int32)".
std::string ComposedType(const ColumnsByParent& columns, const Column& column) {
  const std::vector<Column>& children = ChildrenOf(columns, column.id);
  if (children.empty()) {
    return column.type;
  }
  std::vector<std::string> parts;
  for (const Column& child : children) {
    const std::string type = ComposedType(columns, child);
    parts.push_back(column.type == "struct" ? StrCat(QuotedIfNeeded(child.name), " ", type) : type);
  }
  if (column.type == "list" && parts.size() == 1) {
    return StrCat(parts[0], "[]");
  }
  return StrCat(column.type, "(", StrJoin(parts, ", "), ")");
}

void AppendColumns(const ColumnsByParent& columns, int64_t parent, std::string_view path,
                   const TableName& table, std::vector<ColumnListing>* out) {
  for (const Column& column : ChildrenOf(columns, parent)) {
    const std::string name = path.empty() ? column.name : StrCat(path, ".", column.name);
    out->push_back({.schema = table.schema,
                    .table = table.name,
                    .name = name,
                    .type = ComposedType(columns, column),
                    .nullable = column.nullable,
                    .default_value = column.default_value});
    AppendColumns(columns, column.id, name, table, out);
  }
}

}  // namespace

absl::StatusOr<std::vector<ColumnListing>> ListColumns(const ReadView& view,
                                                       std::string_view name) {
  VARVE_ASSIGN_OR_RETURN(const ObjectNames names, ObjectNames::Load(view));
  VARVE_ASSIGN_OR_RETURN(const std::vector<const TableName*> tables, names.SelectTables(name));
  std::vector<ColumnListing> listings;
  for (const TableName* table : tables) {
    VARVE_ASSIGN_OR_RETURN(const ColumnsByParent columns, ReadColumns(view, table->id));
    AppendColumns(columns, kTopLevel, "", *table, &listings);
  }
  return listings;
}

}  // namespace varve
