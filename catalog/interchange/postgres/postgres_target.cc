#include "catalog/interchange/postgres/postgres_target.h"

#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/interchange/declared_types.h"
#include "catalog/interchange/sql_lexer.h"

namespace varve {
namespace {

constexpr size_t kSendBytes = size_t{256} << 10;
constexpr std::string_view kHexDigits = "0123456789abcdef";

void AppendCopyBytes(std::string_view bytes, std::string* out) {
  out->append("\\\\x");  // the backslash of \x, escaped
  for (const char c : bytes) {
    out->push_back(kHexDigits[static_cast<uint8_t>(c) >> 4]);
    out->push_back(kHexDigits[static_cast<uint8_t>(c) & 15]);
  }
}

// PostgreSQL's own types take the era behind everything: 0044-03-15 10:00:00 BC.
void RespellEra(std::string* text) {
  constexpr std::string_view kEra = " (BC)";
  if (const size_t at = text->find(kEra); at != std::string::npos) {
    text->erase(at, kEra.size());
    text->append(" BC");
  }
}

}  // namespace

void AppendCopyText(std::string_view text, std::string* out) {
  for (const char c : text) {
    switch (c) {
      case '\\': out->append("\\\\"); break;
      case '\b': out->append("\\b"); break;
      case '\f': out->append("\\f"); break;
      case '\n': out->append("\\n"); break;
      case '\r': out->append("\\r"); break;
      case '\t': out->append("\\t"); break;
      case '\v': out->append("\\v"); break;
      default: out->push_back(c); break;
    }
  }
}

absl::StatusOr<std::unique_ptr<CatalogTarget>> PostgresTarget::Open(
    const std::string& conninfo, const std::string& schema, std::string_view catalog_version) {
  VARVE_ASSIGN_OR_RETURN(std::unique_ptr<PostgresConnection> connection,
                         PostgresConnection::Connect(conninfo));
  std::unique_ptr<PostgresTarget> target(new PostgresTarget(std::move(connection),
                                                            schema.empty() ? "public" : schema,
                                                            catalog_version.starts_with("0.3")));
  PostgresConnection& database = *target->connection_;
  VARVE_RETURN_IF_ERROR(database.Query("BEGIN").status());
  VARVE_ASSIGN_OR_RETURN(
      const PostgresResult existing,
      database.Query("SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n "
                     "ON n.oid = c.relnamespace WHERE n.nspname = $1 AND (c.relname = $2 OR "
                     "pg_catalog.starts_with(c.relname::pg_catalog.text, 'ducklake_')) "
                     "ORDER BY 1 LIMIT 1",
                     {target->schema_, std::string(kDeclaredTypesTable)}));
  if (existing.rows() > 0) {
    return absl::AlreadyExistsError(StrCat("PostgreSQL ", database.Describe(), ", schema ",
                                           target->schema_, " has a table ", existing.text(0, 0),
                                           " already; name another schema"));
  }
  VARVE_RETURN_IF_ERROR(
      database.Query(StrCat("CREATE SCHEMA IF NOT EXISTS ", QuoteSqlName(target->schema_)))
          .status());
  return std::unique_ptr<CatalogTarget>(std::move(target));
}

absl::Status PostgresTarget::CreateTable(const std::string& name,
                                         const std::vector<std::string>& columns) {
  const std::string qualified = StrCat(QuoteSqlName(schema_), ".", QuoteSqlName(name));
  VARVE_RETURN_IF_ERROR(
      connection_->Query(StrCat("CREATE TABLE ", qualified, " (", StrJoin(columns, ", "), ")"))
          .status());
  VARVE_RETURN_IF_ERROR(connection_->BeginCopyIn(StrCat("COPY ", qualified, " FROM STDIN")));
  table_ = name;
  in_table_ = true;
  return absl::OkStatus();
}

absl::Status PostgresTarget::BeginTable(const TargetTable& table) {
  VARVE_RETURN_IF_ERROR(FinishTable());
  types_.clear();
  storages_.clear();
  std::vector<std::string> columns;
  for (const TargetColumn& column : table.columns) {
    const StorageType storage = PostgresStorage(column, plain_inlined_types_);
    columns.push_back(StrCat(QuoteSqlName(column.name), " ", storage.sql_type,
                             column.not_null ? " NOT NULL" : ""));
    if (MustRememberType(column, storage.sql_type)) {
      remembered_.push_back({table.name, column.name, column.SqlType()});
    }
    types_.push_back(column.type);
    storages_.push_back(storage);
  }
  if (!table.primary_key.empty()) {
    std::vector<std::string> names;
    for (const std::string& name : table.primary_key) {
      names.push_back(QuoteSqlName(name));
    }
    columns.push_back(StrCat("PRIMARY KEY (", StrJoin(names, ", "), ")"));
  }
  return CreateTable(table.name, columns);
}

absl::Status PostgresTarget::AddRow(std::span<const Datum> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) {
      buffer_.push_back('\t');
    }
    if (values[i].is_null()) {
      buffer_.append("\\N");
    } else if (storages_[i].form == StorageForm::kBytes) {
      AppendCopyBytes(values[i].bytes(), &buffer_);
    } else if (types_[i].physical() == PhysicalType::kBytes) {
      AppendCopyText(values[i].bytes(), &buffer_);
    } else {
      text_.clear();
      AppendText(types_[i], values[i], &text_);
      if (storages_[i].sql_type.starts_with("date") ||
          storages_[i].sql_type.starts_with("timestamp")) {
        RespellEra(&text_);
      }
      AppendCopyText(text_, &buffer_);
    }
  }
  buffer_.push_back('\n');
  if (buffer_.size() < kSendBytes) {
    return absl::OkStatus();
  }
  absl::Status status = connection_->SendCopyData(buffer_);
  buffer_.clear();
  return status;
}

absl::Status PostgresTarget::FinishTable() {
  if (!std::exchange(in_table_, false)) {
    return absl::OkStatus();
  }
  VARVE_RETURN_IF_ERROR(connection_->SendCopyData(buffer_));
  buffer_.clear();
  absl::Status status = connection_->EndCopyIn();
  return status.ok()
             ? status
             : absl::Status(status.code(), StrCat("table ", table_, ": ", MessageOf(status)));
}

absl::Status PostgresTarget::WriteRememberedTypes() {
  if (remembered_.empty()) {
    return absl::OkStatus();
  }
  VARVE_RETURN_IF_ERROR(
      CreateTable(std::string(kDeclaredTypesTable),
                  {"table_name character varying", "column_name character varying",
                   "declared_type character varying"}));
  for (const std::vector<std::string>& row : remembered_) {
    for (size_t i = 0; i < row.size(); ++i) {
      AppendCopyText(row[i], &buffer_);
      buffer_.push_back(i + 1 == row.size() ? '\n' : '\t');
    }
  }
  return FinishTable();
}

absl::Status PostgresTarget::Finish() {
  VARVE_RETURN_IF_ERROR(FinishTable());
  VARVE_RETURN_IF_ERROR(WriteRememberedTypes());
  return connection_->Query("COMMIT").status();
}

}  // namespace varve
