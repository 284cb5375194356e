// Where a catalog is imported from: tables, and their rows one after the other.
//
// Thread-safety: none. Ownership: a source owns its files, connection and transaction; everything
// read from one source belongs to one state of the catalog.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "base/text.h"

namespace varve {

// A value as the source has it. Text and bytes are borrowed until the visitor returns.
struct SourceValue {
  enum class Kind : uint8_t {
    kNull,
    kText,   // the text of a value of the column's type
    kBytes,  // bytes: a blob as it is, or the UTF-8 of a text
    kInteger,
    kReal,
  };
  Kind kind = Kind::kNull;
  std::string_view text;  // kText, kBytes
  int64_t integer = 0;
  double real = 0;
};

struct SourceColumn {
  std::string name;
  // The SQL type, as declared or found out from the values. May be empty for the columns of
  // DuckLake's own tables, whose types are known.
  std::string declared_type;
  // Whether a declaration (schema.sql, the database's own) names the column: it is then really
  // there and not a slip of the pen in a header.
  bool declared = false;
  bool not_null = false;
};

struct SourceTable {
  std::string name;    // "ducklake_table"
  std::string origin;  // what messages call it: "ducklake_table.csv"
  std::vector<SourceColumn> columns;
  std::vector<std::string> primary_key;  // column names
};

using RowVisitor =
    absl::FunctionRef<absl::Status(std::span<const SourceValue> values, uint64_t line)>;

class CatalogSource {
 public:
  virtual ~CatalogSource() = default;

  // What messages call the source: "csv:/srv/dump".
  virtual const std::string& name() const = 0;
  // The tables whose names begin with ducklake_, in a fixed order.
  virtual const std::vector<SourceTable>& tables() const = 0;
  // Calls the visitor with every row of a table: a value for each of its columns, in order, and the
  // line or row number (from 1). Errors: those of reading, which name origin and line, and the
  // first one the visitor returns.
  virtual absl::Status Read(const SourceTable& table, RowVisitor visitor) = 0;

  // What the number of a row is called: "line", "row".
  virtual std::string_view line_noun() const = 0;
  virtual BlobText blob_text() const { return BlobText::kHex; }
  // For a progress display; 0: unknown.
  virtual uint64_t total_bytes() const { return 0; }
  virtual uint64_t bytes_read() const { return 0; }
};

// Opens "csv:DIR", "sqlite:FILE" or "postgres:CONNINFO[?schema=NAME]".
// Errors: InvalidArgument for a spec of no such form, else what the source's opening says.
absl::StatusOr<std::unique_ptr<CatalogSource>> OpenSource(std::string_view spec);

// A spec taken apart; shared with export targets.
struct InterchangeSpec {
  enum class Kind : uint8_t { kCsv, kSqlite, kPostgres };
  Kind kind = Kind::kCsv;
  std::string location;  // directory, file or libpq conninfo
  std::string schema;    // kPostgres: may be empty
};
absl::StatusOr<InterchangeSpec> ParseInterchangeSpec(std::string_view spec);

// Whether a table of a source belongs to the catalog.
bool IsCatalogTableName(std::string_view table);

}  // namespace varve
