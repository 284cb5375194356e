#include "catalog/inspect/listing.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/inspect/object_names.h"
#include "catalog/inspect/row_reader.h"

namespace varve {
namespace {

absl::StatusOr<int64_t> CountRows(const ReadView& view, const RelationRef& relation) {
  int64_t count = 0;
  VARVE_RETURN_IF_ERROR(ForEachRow(view, relation, {}, {}, [&](const RowReader&) { ++count; }));
  return count;
}

struct TableTotals {
  int64_t files = 0;
  int64_t rows = 0;
  int64_t bytes = 0;
  int64_t columns = 0;
};

using TotalsById = absl::flat_hash_map<int64_t, TableTotals>;

absl::Status AddFiles(const ReadView& view, TotalsById* totals) {
  VARVE_RETURN_IF_ERROR(ForEachRow(view, kDataFile, {"table_id", "record_count", "file_size_bytes"},
                                   {}, [&](const RowReader& row) {
                                     TableTotals& table = (*totals)[row.Int(0)];
                                     ++table.files;
                                     table.rows += row.Int(1);
                                     table.bytes += row.Int(2);
                                   }));
  return ForEachRow(view, kDeleteFile, {"table_id", "delete_count", "file_size_bytes"}, {},
                    [&](const RowReader& row) {
                      TableTotals& table = (*totals)[row.Int(0)];
                      table.rows -= row.Int(1);
                      table.bytes += row.Int(2);
                    });
}

absl::Status AddInlinedRows(const ReadView& view, TotalsById* totals) {
  std::vector<std::pair<int64_t, RelationRef>> inlined;
  VARVE_RETURN_IF_ERROR(ForEachRow(
      view, kInlinedDataTables, {"table_id", "table_name"}, {}, [&](const RowReader& row) {
        if (RelationRef relation = view.relations().FindByName(row.Text(1)); relation != nullptr) {
          inlined.emplace_back(row.Int(0), std::move(relation));
        }
      }));
  for (const auto& [table_id, relation] : inlined) {
    VARVE_ASSIGN_OR_RETURN(const int64_t rows, CountRows(view, relation));
    (*totals)[table_id].rows += rows;
  }
  return absl::OkStatus();
}

// Inlined deletes stay when a rewrite has replaced the file they were made against; such ones count
// no more.
absl::Status SubtractInlinedDeletes(const ReadView& view, TotalsById* totals) {
  const RelationRef files = view.relations().FindById(kDataFile);
  for (auto& [table_id, table] : *totals) {
    const RelationRef relation =
        view.relations().FindByName(StrCat("ducklake_inlined_delete_", table_id));
    if (relation == nullptr) {
      continue;
    }
    absl::flat_hash_map<int64_t, int64_t> deletes;
    VARVE_RETURN_IF_ERROR(ForEachRow(view, relation, {"file_id"}, {},
                                     [&](const RowReader& row) { ++deletes[row.Int(0)]; }));
    for (const auto& [file_id, count] : deletes) {
      VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> file,
                             view.GetByUnique(*files, file_id));
      table.rows -= file.has_value() ? count : 0;
    }
  }
  return absl::OkStatus();
}

// The id of the schema a listing is narrowed to; nullopt: all.
absl::StatusOr<std::optional<int64_t>> SchemaFilter(const ObjectNames& names,
                                                    std::string_view schema) {
  if (schema.empty()) {
    return std::nullopt;
  }
  VARVE_ASSIGN_OR_RETURN(const SchemaName* found, names.FindSchema(schema));
  return found->id;
}

template <typename Listing>
void SortByName(std::vector<Listing>* listings) {
  std::stable_sort(listings->begin(), listings->end(), [](const Listing& a, const Listing& b) {
    return std::tie(a.schema, a.name) < std::tie(b.schema, b.name);
  });
}

}  // namespace

absl::StatusOr<std::vector<SchemaListing>> ListSchemas(const ReadView& view,
                                                       std::string_view schema) {
  VARVE_ASSIGN_OR_RETURN(const ObjectNames names, ObjectNames::Load(view));
  VARVE_ASSIGN_OR_RETURN(const std::optional<int64_t> schema_id, SchemaFilter(names, schema));
  absl::flat_hash_map<int64_t, int64_t> tables;
  for (const TableName& table : names.tables()) {
    ++tables[table.schema_id];
  }
  absl::flat_hash_map<int64_t, int64_t> views;
  VARVE_RETURN_IF_ERROR(ForEachRow(view, kView, {"schema_id"}, {},
                                   [&](const RowReader& row) { ++views[row.Int(0)]; }));
  std::vector<SchemaListing> listings;
  for (const SchemaName& named : names.schemas()) {
    if (schema_id.has_value() && named.id != *schema_id) {
      continue;
    }
    listings.push_back({.name = named.name,
                        .path = named.path,
                        .tables = tables[named.id],
                        .views = views[named.id]});
  }
  return listings;
}

absl::StatusOr<std::vector<TableListing>> ListTables(const ReadView& view,
                                                     std::string_view schema) {
  VARVE_ASSIGN_OR_RETURN(const ObjectNames names, ObjectNames::Load(view));
  VARVE_ASSIGN_OR_RETURN(const std::optional<int64_t> schema_id, SchemaFilter(names, schema));
  TotalsById totals;
  for (const TableName& table : names.tables()) {
    totals[table.id] = {};
  }
  VARVE_RETURN_IF_ERROR(AddFiles(view, &totals));
  VARVE_RETURN_IF_ERROR(AddInlinedRows(view, &totals));
  VARVE_RETURN_IF_ERROR(SubtractInlinedDeletes(view, &totals));
  VARVE_RETURN_IF_ERROR(ForEachRow(
      view, kColumn, {"table_id", "parent_column"}, {},
      [&](const RowReader& row) { totals[row.Int(0)].columns += row.IsNull(1) ? 1 : 0; }));
  std::vector<TableListing> listings;
  for (const TableName& table : names.tables()) {
    if (schema_id.has_value() && table.schema_id != *schema_id) {
      continue;
    }
    const TableTotals& total = totals[table.id];
    listings.push_back({.schema = table.schema,
                        .name = table.name,
                        .columns = total.columns,
                        .files = total.files,
                        .rows = total.rows,
                        .bytes = total.bytes});
  }
  return listings;
}

absl::StatusOr<std::vector<ViewListing>> ListViews(const ReadView& view, std::string_view schema) {
  VARVE_ASSIGN_OR_RETURN(const ObjectNames names, ObjectNames::Load(view));
  VARVE_ASSIGN_OR_RETURN(const std::optional<int64_t> schema_id, SchemaFilter(names, schema));
  std::vector<ViewListing> listings;
  VARVE_RETURN_IF_ERROR(ForEachRow(view, kView,
                                   {"schema_id", "view_name", "column_aliases", "dialect", "sql"},
                                   {}, [&](const RowReader& row) {
                                     if (schema_id.has_value() && row.Int(0) != *schema_id) {
                                       return;
                                     }
                                     ViewListing listing{.schema = names.SchemaNameOf(row.Int(0)),
                                                         .name = std::string(row.Text(1)),
                                                         .dialect = std::string(row.Text(3)),
                                                         .sql = std::string(row.Text(4))};
                                     if (!row.Text(2).empty()) {
                                       listing.column_aliases = row.Text(2);
                                     }
                                     listings.push_back(std::move(listing));
                                   }));
  SortByName(&listings);
  return listings;
}

absl::StatusOr<std::vector<MacroListing>> ListMacros(const ReadView& view,
                                                     std::string_view schema) {
  VARVE_ASSIGN_OR_RETURN(const ObjectNames names, ObjectNames::Load(view));
  VARVE_ASSIGN_OR_RETURN(const std::optional<int64_t> schema_id, SchemaFilter(names, schema));
  struct MacroName {
    std::string schema;
    std::string name;
  };
  absl::flat_hash_map<int64_t, MacroName> macros;
  VARVE_RETURN_IF_ERROR(ForEachRow(
      view, kMacro, {"macro_id", "schema_id", "macro_name"}, {}, [&](const RowReader& row) {
        if (!schema_id.has_value() || row.Int(1) == *schema_id) {
          macros[row.Int(0)] = {.schema = names.SchemaNameOf(row.Int(1)),
                                .name = std::string(row.Text(2))};
        }
      }));

  // Parameters come in key order: by macro, implementation and position.
  std::map<std::pair<int64_t, int64_t>, std::vector<std::string>> parameters;
  VARVE_RETURN_IF_ERROR(
      ForEachRow(view, kMacroParameters,
                 {"macro_id", "impl_id", "parameter_name", "parameter_type", "default_value",
                  "default_value_type"},
                 {}, [&](const RowReader& row) {
                   std::string text(row.Text(2));
                   if (!row.Text(3).empty() && row.Text(3) != "unknown") {
                     StrAppend(&text, " ", row.Text(3));
                   }
                   // Without a default it is NULL of type unknown.
                   if (!row.IsNull(4) && (row.Text(4) != "NULL" || row.Text(5) != "unknown")) {
                     StrAppend(&text, " := ", row.Text(4));
                   }
                   parameters[{row.Int(0), row.Int(1)}].push_back(std::move(text));
                 }));

  std::vector<MacroListing> listings;
  VARVE_RETURN_IF_ERROR(ForEachRow(
      view, kMacroImpl, {"macro_id", "impl_id", "type", "dialect", "sql"}, {},
      [&](const RowReader& row) {
        const auto macro = macros.find(row.Int(0));
        if (macro == macros.end()) {
          return;
        }
        listings.push_back({.schema = macro->second.schema,
                            .name = macro->second.name,
                            .kind = std::string(row.Text(2)),
                            .parameters = StrJoin(parameters[{row.Int(0), row.Int(1)}], ", "),
                            .dialect = std::string(row.Text(3)),
                            .sql = std::string(row.Text(4))});
      }));
  SortByName(&listings);
  return listings;
}

}  // namespace varve
