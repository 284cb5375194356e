#include "catalog/interchange/postgres/postgres_source.h"

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/interchange/declared_types.h"
#include "catalog/interchange/sql_lexer.h"

namespace varve {
namespace {

int HexValue(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

bool DecodeHexBytes(std::string_view text, char* out, size_t* size) {
  if (!text.starts_with("\\x") || text.size() % 2 != 0) {
    return false;
  }
  *size = (text.size() - 2) / 2;
  for (size_t i = 0; i < *size; ++i) {
    const int high = HexValue(text[2 + 2 * i]);
    const int low = HexValue(text[3 + 2 * i]);
    if (high < 0 || low < 0) {
      return false;
    }
    out[i] = static_cast<char>(high << 4 | low);
  }
  return true;
}

void ParseCopyLine(std::string* line, std::vector<SourceValue>* values) {
  values->clear();
  char* const data = line->data();
  size_t end = line->size();
  if (end > 0 && data[end - 1] == '\n') {
    --end;
  }
  // Undoing escapes never makes text longer: `out` follows `in` in the same memory.
  size_t out = 0;
  size_t field = 0;
  bool is_null = false;
  for (size_t in = 0; in <= end; ++in) {
    if (in == end || data[in] == '\t') {
      values->push_back({.kind = is_null ? SourceValue::Kind::kNull : SourceValue::Kind::kText,
                         .text = std::string_view(data + field, out - field)});
      field = out;
      is_null = false;
      continue;
    }
    if (data[in] != '\\' || in + 1 == end) {
      data[out++] = data[in];
      continue;
    }
    const char escaped = data[++in];
    switch (escaped) {
      case 'N': is_null = out == field; break;
      case 'b': data[out++] = '\b'; break;
      case 'f': data[out++] = '\f'; break;
      case 'n': data[out++] = '\n'; break;
      case 'r': data[out++] = '\r'; break;
      case 't': data[out++] = '\t'; break;
      case 'v': data[out++] = '\v'; break;
      default: data[out++] = escaped; break;
    }
  }
}

absl::StatusOr<std::unique_ptr<CatalogSource>> PostgresSource::Open(const std::string& conninfo,
                                                                    const std::string& schema) {
  VARVE_ASSIGN_OR_RETURN(std::unique_ptr<PostgresConnection> connection,
                         PostgresConnection::Connect(conninfo));
  std::unique_ptr<PostgresSource> source(new PostgresSource(std::move(connection)));
  VARVE_RETURN_IF_ERROR(
      source->connection_->Query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").status());
  VARVE_RETURN_IF_ERROR(source->FindSchema(schema));
  VARVE_RETURN_IF_ERROR(source->ListTables());
  return std::unique_ptr<CatalogSource>(std::move(source));
}

absl::Status PostgresSource::FindSchema(std::string schema) {
  const std::string database = connection_->Describe();
  if (schema.empty()) {
    VARVE_ASSIGN_OR_RETURN(
        const PostgresResult found,
        connection_->Query("SELECT n.nspname FROM pg_catalog.pg_class c "
                           "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
                           "WHERE c.relname = 'ducklake_metadata' ORDER BY 1"));
    if (found.rows() == 0) {
      return absl::InvalidArgumentError(
          StrCat("PostgreSQL ", database,
                 " holds no DuckLake catalog: no schema of it has a table "
                 "ducklake_metadata"));
    }
    if (found.rows() > 1) {
      std::vector<std::string> names;
      names.reserve(static_cast<size_t>(found.rows()));
      for (int row = 0; row < found.rows(); ++row) {
        names.emplace_back(found.text(row, 0));
      }
      return absl::InvalidArgumentError(StrCat("PostgreSQL ", database, " holds ", found.rows(),
                                               " DuckLake catalogs, in the schemas ",
                                               StrJoin(names, ", "), ": add ?schema=NAME"));
    }
    schema = std::string(found.text(0, 0));
  } else {
    VARVE_ASSIGN_OR_RETURN(
        const PostgresResult found,
        connection_->Query("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1", {schema}));
    if (found.rows() == 0) {
      return absl::NotFoundError(StrCat("PostgreSQL ", database, " has no schema '", schema, "'"));
    }
  }
  schema_ = std::move(schema);
  name_ = StrCat("postgres:", database, ", schema ", schema_);
  return absl::OkStatus();
}

absl::Status PostgresSource::ListTables() {
  DeclaredTypes declared_types;
  VARVE_ASSIGN_OR_RETURN(
      const PostgresResult has_types,
      connection_->Query("SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n "
                         "ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2",
                         {schema_, std::string(kDeclaredTypesTable)}));
  if (has_types.rows() > 0) {
    VARVE_ASSIGN_OR_RETURN(
        const PostgresResult types,
        connection_->Query(StrCat("SELECT table_name, column_name, declared_type FROM ",
                                  QuoteSqlName(schema_), ".", kDeclaredTypesTable)));
    for (int row = 0; row < types.rows(); ++row) {
      declared_types.Add(types.text(row, 0), types.text(row, 1), types.text(row, 2));
    }
  }
  // One row a column; the last field is the column's place in the primary key, NULL outside it.
  VARVE_ASSIGN_OR_RETURN(
      const PostgresResult columns,
      connection_->Query(
          "SELECT c.relname, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), "
          "a.attnotnull, a.atttypid = 'pg_catalog.bytea'::pg_catalog.regtype, "
          "pg_catalog.array_position(i.indkey::pg_catalog.int2[], a.attnum) "
          "FROM pg_catalog.pg_class c "
          "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
          "JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid "
          "LEFT JOIN pg_catalog.pg_index i ON i.indrelid = c.oid AND i.indisprimary "
          "WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'f', 'v', 'm') "
          "AND pg_catalog.starts_with(c.relname::pg_catalog.text, 'ducklake_') "
          "AND a.attnum > 0 AND NOT a.attisdropped "
          "ORDER BY c.relname COLLATE \"C\", a.attnum",
          {schema_}));
  std::vector<std::pair<int, std::string>> key;
  for (int row = 0; row < columns.rows(); ++row) {
    const std::string table(columns.text(row, 0));
    if (tables_.empty() || tables_.back().name != table) {
      tables_.push_back({.name = table, .origin = table});
      is_bytea_.emplace_back();
    }
    SourceColumn column{.name = std::string(columns.text(row, 1)),
                        .declared_type = std::string(columns.text(row, 2)),
                        .declared = true,
                        .not_null = columns.text(row, 3) == "t"};
    if (const std::string_view type = declared_types.Find(table, column.name); !type.empty()) {
      column.declared_type = std::string(type);
    }
    if (!columns.is_null(row, 5)) {
      // Columns come in the table's order; the key's own order is restored behind the last one.
      key.emplace_back(std::stoi(std::string(columns.text(row, 5))), column.name);
    }
    is_bytea_.back().push_back(columns.text(row, 4) == "t");
    tables_.back().columns.push_back(std::move(column));
    const bool last_column = row + 1 == columns.rows() || columns.text(row + 1, 0) != table;
    if (last_column) {
      std::sort(key.begin(), key.end());
      for (auto& [place, name] : key) {
        tables_.back().primary_key.push_back(std::move(name));
      }
      key.clear();
    }
  }
  return absl::OkStatus();
}

absl::Status PostgresSource::Read(const SourceTable& table, RowVisitor visitor) {
  const std::vector<bool>& is_bytea = is_bytea_[static_cast<size_t>(&table - tables_.data())];
  std::vector<std::string> names;
  for (const SourceColumn& column : table.columns) {
    names.push_back(QuoteSqlName(column.name));
  }
  const std::string sql =
      StrCat("COPY (SELECT ", StrJoin(names, ", "), " FROM ", QuoteSqlName(schema_), ".",
             QuoteSqlName(table.name), ") TO STDOUT");
  std::string line;
  std::vector<SourceValue> values;
  uint64_t row = 0;
  return connection_->CopyOut(sql, [&](std::string_view copied) {
    ++row;
    bytes_read_ += copied.size();
    line.assign(copied);
    ParseCopyLine(&line, &values);
    if (values.size() != table.columns.size()) {
      return absl::InternalError(StrCat(table.name, " row ", row, ": expected ",
                                        table.columns.size(), " fields from COPY, found ",
                                        values.size()));
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (!is_bytea[i] || values[i].kind == SourceValue::Kind::kNull) {
        continue;
      }
      // In place: the bytes are shorter than their text.
      char* const out = line.data() + (values[i].text.data() - line.data());
      size_t size = 0;
      if (!DecodeHexBytes(values[i].text, out, &size)) {
        return absl::InternalError(StrCat(table.name, " row ", row, ", column ",
                                          table.columns[i].name,
                                          ": expected a bytea in hex format"));
      }
      values[i] = {.kind = SourceValue::Kind::kBytes, .text = std::string_view(out, size)};
    }
    return visitor(values, row);
  });
}

}  // namespace varve
