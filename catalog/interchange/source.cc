#include "catalog/interchange/source.h"

#include "base/status.h"
#include "base/strings.h"
#include "catalog/interchange/csv/csv_source.h"
#include "catalog/interchange/postgres/postgres_source.h"
#include "catalog/interchange/sqlite/sqlite_source.h"

namespace varve {

absl::StatusOr<InterchangeSpec> ParseInterchangeSpec(std::string_view spec) {
  const size_t colon = spec.find(':');
  const std::string_view scheme = spec.substr(0, colon);
  InterchangeSpec parsed;
  parsed.location = colon == std::string_view::npos ? "" : std::string(spec.substr(colon + 1));
  if (EqualsIgnoreCase(scheme, "csv")) {
    parsed.kind = InterchangeSpec::Kind::kCsv;
  } else if (EqualsIgnoreCase(scheme, "sqlite")) {
    parsed.kind = InterchangeSpec::Kind::kSqlite;
  } else if (EqualsIgnoreCase(scheme, "postgres") || EqualsIgnoreCase(scheme, "postgresql")) {
    parsed.kind = InterchangeSpec::Kind::kPostgres;
    for (const std::string_view marker : {"?schema=", "&schema="}) {
      const size_t at = parsed.location.rfind(marker);
      if (at != std::string::npos) {
        parsed.schema = parsed.location.substr(at + marker.size());
        parsed.location.resize(at);
        break;
      }
    }
    if (parsed.location.starts_with("//")) {
      parsed.location = StrCat("postgresql:", parsed.location);  // libpq takes URIs too
    }
  } else {
    return absl::InvalidArgumentError(
        StrCat("'", spec, "': expected csv:DIR, sqlite:FILE or postgres:CONNINFO[?schema=NAME]",
               spec.starts_with("duckdb:")
                   ? "; in DuckDB use EXPORT DATABASE 'DIR' (FORMAT csv), then csv:DIR"
                   : ""));
  }
  if (parsed.location.empty() && parsed.kind != InterchangeSpec::Kind::kPostgres) {
    return absl::InvalidArgumentError(
        StrCat("'", spec, "': expected a path behind the colon, found nothing"));
  }
  return parsed;
}

absl::StatusOr<std::unique_ptr<CatalogSource>> OpenSource(std::string_view spec) {
  VARVE_ASSIGN_OR_RETURN(const InterchangeSpec parsed, ParseInterchangeSpec(spec));
  switch (parsed.kind) {
    case InterchangeSpec::Kind::kCsv: return CsvSource::Open(parsed.location);
    case InterchangeSpec::Kind::kSqlite: return SqliteSource::Open(parsed.location);
    case InterchangeSpec::Kind::kPostgres:
      return PostgresSource::Open(parsed.location, parsed.schema);
  }
  return absl::InternalError("no such kind of source");
}

bool IsCatalogTableName(std::string_view table) {
  return StartsWithIgnoreCase(table, "ducklake_");
}

}  // namespace varve
