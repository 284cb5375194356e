#include "catalog/interchange/target.h"

#include "base/status.h"
#include "catalog/interchange/csv/csv_target.h"
#include "catalog/interchange/postgres/postgres_target.h"
#include "catalog/interchange/source.h"
#include "catalog/interchange/sqlite/sqlite_target.h"

namespace varve {

absl::StatusOr<std::unique_ptr<CatalogTarget>> OpenTarget(std::string_view spec,
                                                          std::string_view catalog_version) {
  VARVE_ASSIGN_OR_RETURN(const InterchangeSpec parsed, ParseInterchangeSpec(spec));
  switch (parsed.kind) {
    case InterchangeSpec::Kind::kCsv: return CsvTarget::Open(parsed.location);
    case InterchangeSpec::Kind::kSqlite: return SqliteTarget::Open(parsed.location);
    case InterchangeSpec::Kind::kPostgres:
      return PostgresTarget::Open(parsed.location, parsed.schema, catalog_version);
  }
  return absl::InternalError("no such kind of target");
}

}  // namespace varve
