// How the values of a column are stored in SQLite and in PostgreSQL: as DuckLake stores them there
// (its metadata managers for the two), so that its clients can open an exported catalog.
#pragma once

#include <cstdint>
#include <string>

#include "catalog/interchange/target.h"

namespace varve {

enum class StorageForm : uint8_t {
  kInteger,
  kText,   // canonical text
  kBytes,  // bytes: of a blob, or the UTF-8 of a text
};

struct StorageType {
  std::string sql_type;
  StorageForm form = StorageForm::kText;
};

// SQLite: BIGINT, BLOB and VARCHAR only, booleans as 0 and 1.
StorageType SqliteStorage(const TargetColumn& column);

// PostgreSQL. `plain_inlined_types`: the lake is of version 0.3, where inlined texts, dates and
// times have types of their own; later ones keep inlined texts as bytea, dates and timestamps as
// text.
StorageType PostgresStorage(const TargetColumn& column, bool plain_inlined_types);

// Whether reading the column back, with nothing but `sql_type` known, would give another type or
// another spelling of it, so that it has to be written down beside (see declared_types.h).
bool MustRememberType(const TargetColumn& column, std::string_view sql_type);

}  // namespace varve
