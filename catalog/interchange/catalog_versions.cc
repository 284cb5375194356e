#include "catalog/interchange/catalog_versions.h"

#include <array>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "base/strings.h"

namespace varve {
namespace {

struct AddedName {
  RelationId relation;
  std::string_view column;  // empty: the relation itself
  std::string_view since;
};

// What came after the first version accepted here, besides whole relations that entities.proto
// dates. 0.4 and 1.0 have the same tables.
constexpr auto kAdded = std::to_array<AddedName>({
    {kSchemaVersions, "", "0.3"},
    {kFileColumnStats, "extra_stats", "0.3"},
    {kTableColumnStats, "extra_stats", "0.3"},
    {kNameMapping, "is_partition", "0.3"},
    {kSnapshotChanges, "author", "0.3"},
    {kSnapshotChanges, "commit_message", "0.3"},
    {kSnapshotChanges, "commit_extra_info", "0.3"},
    {kColumn, "default_value_type", "0.4"},
    {kColumn, "default_value_dialect", "0.4"},
    {kDataFile, "partial_max", "0.4"},
    {kDeleteFile, "partial_max", "0.4"},
    {kSchemaVersions, "table_id", "0.4"},
});

constexpr auto kRetired = std::to_array<RetiredColumn>({
    {kDataFile, "partial_file_info", "varchar", "mapping_id", "0.4"},
});

constexpr std::string_view kStage = "-dev";

int ReleaseNumber(std::string_view text) {
  return text == "0.3" ? 3 : text == "0.4" ? 4 : text == "1.0" ? 10 : 0;
}

}  // namespace

bool CatalogVersion::Has(std::string_view since) const {
  const int needed = ReleaseNumber(since);
  return is_stage ? needed < release : needed <= release;
}

absl::StatusOr<CatalogVersion> ParseCatalogVersion(std::string_view text,
                                                   std::string_view source_name) {
  CatalogVersion version{.text = std::string(text)};
  std::string_view release = text;
  if (const size_t stage = text.find(kStage); stage != std::string_view::npos) {
    const std::string_view number = text.substr(stage + kStage.size());
    version.is_stage = true;
    release = number.empty() || number.find_first_not_of("0123456789") != std::string_view::npos
                  ? std::string_view()
                  : text.substr(0, stage);
  }
  version.release = ReleaseNumber(release);
  if (version.release == 0) {
    return absl::FailedPreconditionError(
        StrCat(source_name, ": the catalog's version is '", text,
               "', which this program does not know; it takes 0.3, 0.4 and 1.0 and their stages "
               "(0.4-dev1). Older ones: let DuckLake migrate them first "
               "(AUTOMATIC_MIGRATION TRUE); newer ones: use a newer varve"));
  }
  return version;
}

std::string_view RelationSince(const RelationSchema& relation) {
  return relation.since.empty() ? ColumnSince(relation, "") : std::string_view(relation.since);
}

std::string_view ColumnSince(const RelationSchema& relation, std::string_view column) {
  for (const AddedName& added : kAdded) {
    if (added.relation == relation.id && EqualsIgnoreCase(added.column, column)) {
      return added.since;
    }
  }
  return {};
}

const RetiredColumn* FindRetiredColumn(const RelationSchema& relation, std::string_view column) {
  for (const RetiredColumn& retired : kRetired) {
    if (retired.relation == relation.id && EqualsIgnoreCase(retired.name, column)) {
      return &retired;
    }
  }
  return nullptr;
}

}  // namespace varve
