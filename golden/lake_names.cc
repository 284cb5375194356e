#include "golden/lake_names.h"

#include "base/status.h"
#include "base/strings.h"

namespace varve::golden {

ObjectTerms TermsOf(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kTable: return {"table", "ducklake_table", "table_id", "table_name"};
    case ObjectKind::kView: return {"view", "ducklake_view", "view_id", "view_name"};
    case ObjectKind::kMacro: return {"macro", "ducklake_macro", "macro_id", "macro_name"};
    case ObjectKind::kColumn: break;
  }
  return {"column", "ducklake_column", "column_id", "column_name"};
}

absl::StatusOr<LakeRow> FindSchema(const LakeEdit& lake, std::string_view name) {
  return lake.One("ducklake_schema", {{"schema_name", std::string(name)}},
                  StrCat("schema ", QuoteName(name)));
}

absl::StatusOr<LakeRow> FindObject(const LakeEdit& lake, ObjectKind kind, const ObjectName& name) {
  const ObjectTerms terms = TermsOf(kind);
  VARVE_ASSIGN_OR_RETURN(LakeRow schema, FindSchema(lake, name.schema));
  return lake.One(terms.relation,
                  {{"schema_id", schema.Text("schema_id")}, {terms.name_column, name.name}},
                  StrCat(terms.word, " ", QuoteName(name)));
}

absl::StatusOr<int64_t> FindTableId(const LakeEdit& lake, const ObjectName& name) {
  VARVE_ASSIGN_OR_RETURN(LakeRow table, FindObject(lake, ObjectKind::kTable, name));
  return table.Id("table_id");
}

absl::StatusOr<LakeRow> FindColumn(const LakeEdit& lake, const ColumnPath& column) {
  VARVE_ASSIGN_OR_RETURN(int64_t table_id, FindTableId(lake, column.table));
  Literal parent;
  LakeRow found;
  for (const std::string& name : column.path) {
    VARVE_ASSIGN_OR_RETURN(
        found,
        lake.One("ducklake_column",
                 {{"table_id", Num(table_id)}, {"parent_column", parent}, {"column_name", name}},
                 StrCat("column ", QuoteName(name), " in table ", QuoteName(column.table))));
    parent = found.Text("column_id");
  }
  return found;
}

absl::StatusOr<LakeRow> FindDataFile(const LakeEdit& lake, std::string_view label) {
  return lake.One("ducklake_data_file", {{"path", StrCat(label, ".parquet")}},
                  StrCat("data file ", label));
}

std::string QuoteName(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    quoted.append(c == '"' ? 2 : 1, c);
  }
  return quoted + "\"";
}

std::string QuoteName(const ObjectName& name) {
  return StrCat(QuoteName(name.schema), ".", QuoteName(name.name));
}

}  // namespace varve::golden
