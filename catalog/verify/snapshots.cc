#include <algorithm>
#include <array>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/verify/checks.h"

namespace varve {
namespace {

// What a snapshot says it did, as far as the schema version depends on it.
struct ChangesMade {
  bool schema = false;  // schemas, tables or views were created, altered or dropped
  bool macros = false;
};

// The words of changes_made that DuckLake 1.0 reads; it refuses a catalog with any other.
constexpr std::array kSchemaTokens = {"created_schema", "dropped_schema", "created_table",
                                      "dropped_table",  "altered_table",  "created_view",
                                      "dropped_view",   "altered_view"};
constexpr std::array kMacroTokens = {"created_scalar_macro", "created_table_macro",
                                     "dropped_scalar_macro", "dropped_table_macro"};
constexpr std::array kDataTokens = {"inserted_into_table", "deleted_from_table", "inlined_insert",
                                    "inlined_delete",      "inline_flush",       "flushed_inlined",
                                    "compacted_table",     "merge_adjacent",     "rewrite_delete"};

template <typename Tokens>
bool IsOneOf(std::string_view token, const Tokens& tokens) {
  return std::any_of(tokens.begin(), tokens.end(), [&](std::string_view candidate) {
    return EqualsIgnoreCase(token, candidate);
  });
}

// Parses `token:value,token:value`, where values may be quoted names. Returns what is wrong, or "".
std::string ParseChangesMade(std::string_view text, ChangesMade* changes) {
  while (!text.empty()) {
    const size_t colon = text.find(':');
    const std::string_view token = text.substr(0, colon);
    if (colon == std::string_view::npos) {
      return StrCat("'", token, "' has no ':' and value");
    }
    if (IsOneOf(token, kSchemaTokens)) {
      changes->schema = true;
    } else if (IsOneOf(token, kMacroTokens)) {
      changes->macros = true;
    } else if (!IsOneOf(token, kDataTokens)) {
      return StrCat("'", token, "' is no kind of change DuckLake 1.0 knows");
    }
    size_t end = colon + 1;
    bool quoted = false;
    while (end < text.size() && (quoted || text[end] != ',')) {
      quoted = quoted != (text[end] == '"');
      ++end;
    }
    if (end == colon + 1) {
      return StrCat("'", token, "' has no value");
    }
    if (quoted) {
      return StrCat("the name after '", token, "' has no closing quote");
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return "";
}

struct SnapshotRow {
  SnapshotId id = 0;
  std::optional<int64_t> time;
  std::optional<int64_t> schema_version;
  std::optional<int64_t> next_catalog_id;
  std::optional<int64_t> next_file_id;
};

void CheckNextId(VerifyRun* run, std::string_view column, const std::string& relation,
                 const std::string& key, std::optional<int64_t> before,
                 std::optional<int64_t> after) {
  if (before.has_value() && after.has_value() && *after < *before) {
    run->Report(Rule::kNextIdOrder, relation, key,
                StrCat(column, " is ", *after, ", the snapshot before has ", *before,
                       "; it may only grow"));
  }
}

// The schema version moves by one with a snapshot that changes schemas, tables, views or macros,
// and stays with any other. Where snapshots between the two have expired, it may have moved once
// for each of them. Whether macros count has differed between versions of the client: either is
// taken.
void CheckSchemaVersionStep(VerifyRun* run, const std::string& relation, const std::string& key,
                            const SnapshotRow& before, const SnapshotRow& after,
                            const std::optional<ChangesMade>& changes) {
  if (!before.schema_version.has_value() || !after.schema_version.has_value()) {
    return;
  }
  const int64_t rise = *after.schema_version - *before.schema_version;
  const auto snapshots = static_cast<int64_t>(after.id - before.id);
  if (rise < 0 || rise > snapshots) {
    run->Report(Rule::kSchemaVersionOrder, relation, key,
                StrCat("schema_version is ", *after.schema_version, ", snapshot ", before.id,
                       " has ", *before.schema_version, "; it rises by at most one a snapshot"));
    return;
  }
  if (snapshots != 1 || !changes.has_value() || (changes->macros && !changes->schema)) {
    return;
  }
  if ((rise == 1) != changes->schema) {
    run->Report(Rule::kSchemaVersionCause, relation, key,
                changes->schema
                    ? "the snapshot changed the schema, but schema_version did not rise"
                    : "schema_version rose, but changes_made has no change of the schema");
  }
}

void CheckStep(VerifyRun* run, const std::string& relation, const std::string& key,
               const SnapshotRow& before, const SnapshotRow& after,
               const std::optional<ChangesMade>& changes) {
  // A note: clients do not keep times apart, and look-ups by time have no tie-break.
  if (before.time.has_value() && after.time.has_value() && *after.time <= *before.time) {
    run->Report(Rule::kSnapshotTimeOrder, relation, key,
                StrCat("snapshot_time is not after that of snapshot ", before.id,
                       "; a look-up by time may find either"));
  }
  CheckNextId(run, "next_catalog_id", relation, key, before.next_catalog_id, after.next_catalog_id);
  CheckNextId(run, "next_file_id", relation, key, before.next_file_id, after.next_file_id);
  CheckSchemaVersionStep(run, relation, key, before, after, changes);
}

// Moves `changes` to the row of snapshot `id`; reports rows that are passed by. Returns what the
// row says, nullopt when there is none or it cannot be read.
absl::StatusOr<std::optional<ChangesMade>> TakeChanges(VerifyRun* run, const SnapshotRow& snapshot,
                                                       const RowCursor& snapshots,
                                                       RowCursor* changes) {
  while (changes->valid() && changes->begin() < snapshot.id) {
    run->Report(Rule::kChangesWithoutSnapshot, changes->relation_name(), changes->Key(),
                "there is no such snapshot");
    VARVE_RETURN_IF_ERROR(changes->Next());
  }
  if (!changes->valid() || changes->begin() != snapshot.id) {
    run->Report(Rule::kSnapshotWithoutChanges, snapshots.relation_name(), snapshots.Key(),
                "ducklake_snapshot_changes has no row for the snapshot");
    return std::nullopt;
  }
  std::optional<ChangesMade> made;
  if (const std::optional<std::string_view> text = changes->Text(1); text.has_value()) {
    made.emplace();
    if (std::string problem = ParseChangesMade(*text, &*made); !problem.empty()) {
      run->Report(Rule::kChangesMalformed, changes->relation_name(), changes->Key(),
                  StrCat("changes_made: ", problem));
      made.reset();
    }
  }
  VARVE_RETURN_IF_ERROR(changes->Next());
  return made;
}

bool IsDirectory(std::string_view path) {
  return path.ends_with('/') || path.ends_with('\\');
}

}  // namespace

absl::Status CheckSnapshots(VerifyRun* run) {
  VARVE_ASSIGN_OR_RETURN(RowCursor snapshots,
                         OpenBuiltin(*run, kSnapshot,
                                     {"snapshot_id", "snapshot_time", "schema_version",
                                      "next_catalog_id", "next_file_id"}));
  VARVE_ASSIGN_OR_RETURN(RowCursor changes,
                         OpenBuiltin(*run, kSnapshotChanges, {"snapshot_id", "changes_made"}));
  std::optional<SnapshotRow> before;
  while (snapshots.valid()) {
    const SnapshotRow row{.id = snapshots.begin(),
                          .time = snapshots.Int(1),
                          .schema_version = snapshots.Int(2),
                          .next_catalog_id = snapshots.Int(3),
                          .next_file_id = snapshots.Int(4)};
    VARVE_ASSIGN_OR_RETURN(const std::optional<ChangesMade> made,
                           TakeChanges(run, row, snapshots, &changes));
    if (before.has_value()) {
      CheckStep(run, snapshots.relation_name(), snapshots.Key(), *before, row, made);
    }
    before = row;
    VARVE_RETURN_IF_ERROR(snapshots.Next());
  }
  for (; changes.valid();) {
    run->Report(Rule::kChangesWithoutSnapshot, changes.relation_name(), changes.Key(),
                "there is no such snapshot");
    VARVE_RETURN_IF_ERROR(changes.Next());
  }
  return absl::OkStatus();
}

absl::Status CheckSchemaVersions(VerifyRun* run) {
  VARVE_ASSIGN_OR_RETURN(
      RowCursor rows,
      OpenBuiltin(*run, kSchemaVersions, {"table_id", "schema_version", "begin_snapshot"}));
  const RelationRef snapshots = run->view().relations().FindById(kSnapshot);
  const size_t version_column = *snapshots->columns.Find("schema_version");
  // Rows of a snapshot that has expired cannot be checked. That every row names a table that exists
  // is not asked: older clients kept the rows of tables that had expired.
  while (rows.valid()) {
    const Datum key[] = {Datum::Int64(static_cast<int64_t>(rows.begin()))};
    VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> snapshot,
                           run->view().Get(*snapshots, key));
    const std::optional<int64_t> version = rows.Int(1);
    if (snapshot.has_value() && version.has_value()) {
      const Datum& expected = snapshot->values[version_column];
      if (!expected.is_null() && expected.int64_value() != *version) {
        run->Report(Rule::kSchemaVersionsMismatch, rows.relation_name(), rows.Key(),
                    StrCat("schema_version ", *version, " is said to begin at snapshot ",
                           rows.begin(), ", which has schema_version ", expected.int64_value()));
      }
    }
    VARVE_RETURN_IF_ERROR(rows.Next());
  }
  return absl::OkStatus();
}

absl::Status CheckMetadata(VerifyRun* run) {
  VARVE_ASSIGN_OR_RETURN(RowCursor rows,
                         OpenBuiltin(*run, kMetadata, {"key", "value", "scope", "scope_id"}));
  const std::string relation = rows.relation_name();
  bool has_version = false;
  bool has_data_path = false;
  while (rows.valid()) {
    const std::string_view key = rows.Text(0).value_or("");
    const std::optional<std::string_view> scope = rows.Text(2);
    has_version = has_version || (key == "version" && !scope.has_value());
    if (key == "data_path" && !scope.has_value()) {
      has_data_path = true;
      if (!IsDirectory(rows.Text(1).value_or(""))) {
        run->Report(Rule::kPathNotADirectory, relation, rows.Key(),
                    StrCat("data_path '", rows.Text(1).value_or(""), "' does not end in '/'"));
      }
    }
    // Settings of tables and schemas that are gone may stay; only the form is checked.
    if (scope.has_value() && *scope != "schema" && *scope != "table") {
      run->Report(Rule::kMetadataScope, relation, rows.Key(),
                  StrCat("scope '", *scope, "' is neither NULL, 'schema' nor 'table'"));
    } else if (scope.has_value() != rows.Int(3).has_value()) {
      run->Report(
          Rule::kMetadataScope, relation, rows.Key(),
          scope.has_value() ? "scope is set, scope_id is NULL" : "scope is NULL, scope_id is set");
    }
    VARVE_RETURN_IF_ERROR(rows.Next());
  }
  for (const auto& [present, key] :
       {std::pair(has_version, "version"), std::pair(has_data_path, "data_path")}) {
    if (!present) {
      run->Report(Rule::kMetadataMissing, relation, StrCat("key=", key),
                  StrCat("the setting '", key, "' is missing; a client cannot attach"));
    }
  }
  return absl::OkStatus();
}

}  // namespace varve
