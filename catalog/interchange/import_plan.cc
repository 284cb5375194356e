#include "catalog/interchange/import_plan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/relation_directory.h"

namespace varve {
namespace {

const SourceTable* FindTable(const CatalogSource& source, std::string_view name) {
  for (const SourceTable& table : source.tables()) {
    if (EqualsIgnoreCase(table.name, name)) {
      return &table;
    }
  }
  return nullptr;
}

std::optional<size_t> FindColumn(const SourceTable& table, std::string_view name) {
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (EqualsIgnoreCase(table.columns[i].name, name)) {
      return i;
    }
  }
  return std::nullopt;
}

// The setting `version` of the whole lake.
absl::StatusOr<CatalogVersion> ReadVersion(CatalogSource& source) {
  const std::string& table_name = BuiltinRelationById(kMetadata)->name;
  const SourceTable* metadata = FindTable(source, table_name);
  if (metadata == nullptr) {
    return absl::InvalidArgumentError(
        StrCat(source.name(), " is no DuckLake catalog: it has no table ", table_name));
  }
  const std::optional<size_t> key = FindColumn(*metadata, "key");
  const std::optional<size_t> value = FindColumn(*metadata, "value");
  if (!key.has_value() || !value.has_value()) {
    return absl::InvalidArgumentError(StrCat(metadata->origin,
                                             ": expected columns key and value, found no ",
                                             key.has_value() ? "value" : "key"));
  }
  const std::optional<size_t> scope = FindColumn(*metadata, "scope");
  std::vector<std::string> versions;
  VARVE_RETURN_IF_ERROR(source.Read(*metadata, [&](std::span<const SourceValue> row, uint64_t) {
    const bool is_global = !scope.has_value() || row[*scope].kind == SourceValue::Kind::kNull;
    if (is_global && row[*key].text == "version") {
      versions.emplace_back(row[*value].text);
    }
    return absl::OkStatus();
  }));
  std::sort(versions.begin(), versions.end());
  versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
  if (versions.size() != 1) {
    return absl::InvalidArgumentError(
        StrCat(metadata->origin, ": expected one row with key 'version', found ",
               versions.empty() ? "none (a global setting has a NULL scope: \\N, or an empty field "
                                  "in a DuckDB export, which is told by its load.sql)"
                                : StrJoin(versions, " and ")));
  }
  return ParseCatalogVersion(versions[0], source.name());
}

ColumnSchema ToColumnSchema(const SourceColumn& column) {
  ColumnSchema schema;
  schema.name = column.name;
  schema.type = TypeFromDeclaration(column.declared_type);
  schema.nullable = !column.not_null;
  if (!EqualsIgnoreCase(column.declared_type, TypeName(schema.type))) {
    schema.declared_type = column.declared_type;
  }
  return schema;
}

absl::StatusOr<TablePlan> PlanBuiltin(const RelationSchema& relation, const SourceTable& table,
                                      const CatalogVersion& version) {
  TablePlan plan{.table = &table};
  std::vector<bool> absent(relation.columns.num_columns(), false);
  for (size_t i = 0; i < relation.columns.num_columns(); ++i) {
    const std::string& name = relation.columns.column(i).name;
    plan.source_columns.push_back(FindColumn(table, name));
    if (!plan.source_columns.back().has_value()) {
      if (version.Has(ColumnSince(relation, name))) {
        return absl::InvalidArgumentError(StrCat(table.origin, ": column ", name,
                                                 " is missing; catalogs of version ", version.text,
                                                 " have it"));
      }
      absent[i] = true;
    }
  }
  std::vector<ColumnSchema> extra;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    SourceColumn column = table.columns[i];
    if (relation.columns.Find(column.name).has_value()) {
      continue;
    }
    if (const RetiredColumn* retired = FindRetiredColumn(relation, column.name);
        retired != nullptr && !version.Has(retired->until)) {
      column.declared_type = column.declared ? column.declared_type : std::string(retired->type);
      column.declared = true;
    }
    if (!column.declared) {
      std::vector<std::string_view> known;
      for (const ColumnSchema& other : relation.columns.columns()) {
        known.push_back(other.name);
      }
      const std::string_view nearest = NearestName(column.name, known);
      return absl::InvalidArgumentError(
          StrCat(table.origin, " line 1: unknown column '", column.name, "'",
                 nearest.empty() ? std::string() : StrCat(", did you mean ", nearest, "?"), "; ",
                 relation.name, " of version ", version.text,
                 " has no such column (declare it in schema.sql to keep it)"));
    }
    extra.push_back(ToColumnSchema(column));
    plan.source_columns.emplace_back(i);
  }
  const bool has_absent = std::find(absent.begin(), absent.end(), true) != absent.end();
  plan.is_as_built_in = extra.empty() && !has_absent;
  plan.relation = extra.empty() ? relation : WithExtraColumns(relation, std::move(extra));
  if (has_absent) {
    absent.resize(plan.relation.columns.num_columns(), false);
    plan.relation.absent_columns = std::move(absent);
  }
  return plan;
}

absl::StatusOr<TablePlan> PlanDynamic(const SourceTable& table) {
  TablePlan plan{.table = &table};
  std::vector<ColumnSchema> columns;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    columns.push_back(ToColumnSchema(table.columns[i]));
    // Not every system says so of the columns of a primary key.
    columns.back().nullable &= std::none_of(
        table.primary_key.begin(), table.primary_key.end(),
        [&](const std::string& name) { return EqualsIgnoreCase(name, columns.back().name); });
    plan.source_columns.emplace_back(i);
  }
  VARVE_ASSIGN_OR_RETURN(plan.relation,
                         MakeDynamicRelation(table.name, std::move(columns), table.primary_key));
  return plan;
}

}  // namespace

absl::StatusOr<ImportPlan> PlanImport(CatalogSource& source) {
  ImportPlan plan;
  VARVE_ASSIGN_OR_RETURN(plan.version, ReadVersion(source));
  for (const RelationRef& relation : BuiltinRelations()) {
    const SourceTable* table = FindTable(source, relation->name);
    if (table != nullptr) {
      VARVE_ASSIGN_OR_RETURN(TablePlan planned, PlanBuiltin(*relation, *table, plan.version));
      plan.tables.push_back(std::move(planned));
      continue;
    }
    if (plan.version.Has(RelationSince(*relation))) {
      return absl::InvalidArgumentError(StrCat(source.name(), ": table ", relation->name,
                                               " is missing; catalogs of version ",
                                               plan.version.text, " have it"));
    }
    RelationSchema absent = *relation;
    absent.absent = true;
    plan.absent.push_back(std::move(absent));
  }
  for (const SourceTable& table : source.tables()) {
    const bool is_builtin =
        std::any_of(plan.tables.begin(), plan.tables.end(),
                    [&](const TablePlan& planned) { return planned.table == &table; });
    if (!is_builtin) {
      VARVE_ASSIGN_OR_RETURN(TablePlan planned, PlanDynamic(table));
      plan.tables.push_back(std::move(planned));
    }
  }
  return plan;
}

}  // namespace varve
