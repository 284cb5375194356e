#include "catalog/verify/rules.h"

namespace varve {
namespace {

constexpr Severity kErr = Severity::kError;
constexpr Severity kNote = Severity::kNote;

constexpr RuleInfo kRules[] = {
    {Rule::kCorruption, "corruption", kErr},
    {Rule::kUnknownRelation, "unknown-relation", kErr},
    {Rule::kKeyMismatch, "key-mismatch", kErr},
    {Rule::kRepeatedKey, "repeated-key", kErr},
    {Rule::kUnexpectedInterval, "unexpected-interval", kErr},
    {Rule::kEmptyLifetime, "empty-interval", kErr},
    {Rule::kOverlappingIntervals, "overlapping-intervals", kErr},
    {Rule::kBeyondLastSnapshot, "beyond-last-snapshot", kErr},
    {Rule::kCsnBeyondLast, "csn-beyond-last", kErr},
    {Rule::kLastSnapshotMismatch, "last-snapshot-mismatch", kErr},
    {Rule::kIndexMissing, "index-missing", kErr},
    {Rule::kIndexMismatch, "index-mismatch", kErr},
    {Rule::kIndexDangling, "index-dangling", kErr},
    {Rule::kMissingValue, "missing-value", kErr},
    {Rule::kNegativeCount, "negative-count", kErr},
    {Rule::kSnapshotTimeOrder, "snapshot-time-order", kNote},
    {Rule::kSchemaVersionOrder, "schema-version-order", kErr},
    {Rule::kSchemaVersionCause, "schema-version-cause", kErr},
    {Rule::kNextIdOrder, "next-id-order", kErr},
    {Rule::kSnapshotWithoutChanges, "snapshot-without-changes", kErr},
    {Rule::kChangesWithoutSnapshot, "changes-without-snapshot", kErr},
    {Rule::kChangesMalformed, "changes-malformed", kErr},
    {Rule::kSchemaVersionsMismatch, "schema-versions-mismatch", kErr},
    {Rule::kMetadataMissing, "metadata-missing", kErr},
    {Rule::kMetadataScope, "metadata-scope", kErr},
    {Rule::kCatalogIdShared, "catalog-id-shared", kErr},
    {Rule::kCatalogIdBeyondNext, "catalog-id-beyond-next", kErr},
    {Rule::kFileIdShared, "file-id-shared", kErr},
    {Rule::kFileIdBeyondNext, "file-id-beyond-next", kErr},
    {Rule::kScheduledFileInUse, "scheduled-file-in-use", kErr},
    {Rule::kIdReused, "id-reused", kErr},
    {Rule::kRowIdBeyondNext, "row-id-beyond-next", kErr},
    {Rule::kOutsideParent, "outside-parent", kErr},
    {Rule::kOrphan, "orphan", kNote},
    {Rule::kDanglingReference, "dangling-reference", kErr},
    {Rule::kNameRepeated, "name-repeated", kErr},
    {Rule::kTableWithoutColumns, "table-without-columns", kErr},
    {Rule::kColumnOrderRepeated, "column-order-repeated", kErr},
    {Rule::kFileOrderRepeated, "file-order-repeated", kNote},
    {Rule::kPathNotADirectory, "path-not-a-directory", kErr},
    {Rule::kUnknownTransform, "unknown-transform", kErr},
    {Rule::kUnknownFormat, "unknown-format", kErr},
    {Rule::kInlinedTableMissing, "inlined-table-missing", kErr},
    {Rule::kInlinedTableUnregistered, "inlined-table-unregistered", kNote},
    {Rule::kDeleteFilesOverlap, "delete-files-overlap", kErr},
    {Rule::kDeleteCountAboveRecords, "delete-count-above-records", kErr},
    {Rule::kPartialMaxOutOfRange, "partial-max-out-of-range", kErr},
    {Rule::kTableStatsMissing, "table-stats-missing", kErr},
    {Rule::kStatsCountAboveRecords, "stats-count-above-records", kErr},
    {Rule::kBoundNotOfType, "bound-not-of-type", kErr},
    {Rule::kBoundsReversed, "bounds-reversed", kErr},
    {Rule::kTableBoundsTooNarrow, "table-bounds-too-narrow", kErr},
    {Rule::kColumnarManifest, "columnar-manifest", kErr},
    {Rule::kColumnarDamaged, "columnar-damaged", kErr},
    {Rule::kColumnarFileMissing, "columnar-file-missing", kNote},
    {Rule::kPackStatisticsWrong, "pack-statistics-wrong", kErr},
    {Rule::kPackStatisticsMissing, "pack-statistics-missing", kNote},
    {Rule::kColumnarRowRepeated, "columnar-row-repeated", kErr},
    {Rule::kColumnarRowMissing, "columnar-row-missing", kErr},
    {Rule::kColumnarRowUnknown, "columnar-row-unknown", kErr},
    {Rule::kColumnarRowDiffers, "columnar-row-differs", kErr},
};

constexpr bool InOrder() {
  size_t i = 0;
  for (const RuleInfo& info : kRules) {
    if (static_cast<size_t>(info.rule) != i++) {
      return false;
    }
  }
  return i == static_cast<size_t>(Rule::kColumnarRowDiffers) + 1;
}
static_assert(InOrder(), "kRules lists every rule in the order of the enum");

}  // namespace

std::span<const RuleInfo> AllRules() {
  return kRules;
}

const RuleInfo& InfoOf(Rule rule) {
  return kRules[static_cast<size_t>(rule)];
}

}  // namespace varve
