// The rules that Verify checks: their names, severities and what they mean.
//
// A rule's name is stable: scripts match on it. docs/verify-rules.md explains each one; a test
// keeps that table and this one the same.
//
// Thread-safety: immutable data.
#pragma once

#include <span>
#include <string_view>

#include "catalog/verify/verify.h"

namespace varve {

enum class Rule : uint8_t {
  // The row store.
  kCorruption,
  kUnknownRelation,
  kKeyMismatch,
  kRepeatedKey,
  kUnexpectedInterval,
  kEmptyLifetime,
  kOverlappingIntervals,
  kBeyondLastSnapshot,
  kCsnBeyondLast,
  kLastSnapshotMismatch,
  kIndexMissing,
  kIndexMismatch,
  kIndexDangling,
  kMissingValue,
  kNegativeCount,
  // The time axis and the settings.
  kSnapshotTimeOrder,
  kSchemaVersionOrder,
  kSchemaVersionCause,
  kNextIdOrder,
  kSnapshotWithoutChanges,
  kChangesWithoutSnapshot,
  kChangesMalformed,
  kSchemaVersionsMismatch,
  kMetadataMissing,
  kMetadataScope,
  // Identifiers.
  kCatalogIdShared,
  kCatalogIdBeyondNext,
  kFileIdShared,
  kFileIdBeyondNext,
  kScheduledFileInUse,
  kIdReused,
  kRowIdBeyondNext,
  // Objects.
  kOutsideParent,
  kOrphan,
  kDanglingReference,
  kNameRepeated,
  kTableWithoutColumns,
  kColumnOrderRepeated,
  kFileOrderRepeated,
  kPathNotADirectory,
  kUnknownTransform,
  kUnknownFormat,
  kInlinedTableMissing,
  kInlinedTableUnregistered,
  // Files and statistics.
  kDeleteFilesOverlap,
  kDeleteCountAboveRecords,
  kPartialMaxOutOfRange,
  kTableStatsMissing,
  kStatsCountAboveRecords,
  kBoundNotOfType,
  kBoundsReversed,
  kTableBoundsTooNarrow,
  // The columnar tier.
  kColumnarManifest,
  kColumnarDamaged,
  kColumnarFileMissing,
  kPackStatisticsWrong,
  kPackStatisticsMissing,
  kColumnarRowRepeated,
  kColumnarRowMissing,
  kColumnarRowUnknown,
  kColumnarRowDiffers,
};

struct RuleInfo {
  Rule rule;
  std::string_view name;
  // Of a finding that does not say otherwise: kRepeatedKey is a note where keys may repeat.
  Severity severity;
};

// Every rule, in the order of the enum.
std::span<const RuleInfo> AllRules();

const RuleInfo& InfoOf(Rule rule);

}  // namespace varve
