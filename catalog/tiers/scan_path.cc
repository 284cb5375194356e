#include "catalog/tiers/scan_path.h"

#include <algorithm>
#include <string>

#include "base/strings.h"
#include "catalog/store/row_store.h"
#include "catalog/tiers/columnar_format.h"
#include "catalog/tiers/columnar_set.h"
#include "catalog/tiers/memory_set.h"

namespace varve {
namespace {

// Why the path asked for cannot answer; empty: it can.
std::string WhyNot(const StoreState& state, const RelationSchema& relation, ScanPath path) {
  if (state.memory == nullptr) {
    return "there are no MemRowSets (yet)";
  }
  const RelationColumns* const columns = state.columnar->Find(relation.id);
  if (columns != nullptr && !columns->damage.ok()) {
    return StrCat("a columnar file is damaged (", MessageOf(columns->damage), ")");
  }
  if (!state.columnar->IsComplete(relation.id)) {
    return path == ScanPath::kMemory ? "it has rows older than what is in memory"
                                     : "it has rows that no columnar file has; rebuild it";
  }
  if (path == ScanPath::kMemory && columns != nullptr && columns->has_files()) {
    return "rows of it were flushed from memory";
  }
  return "";
}

// Whether a pack of the relation lies in the range whole, or none touches it.
bool IsWide(const RelationColumns* columns, std::string_view handle_prefix) {
  if (handle_prefix.empty() || columns == nullptr || !columns->has_files()) {
    return true;
  }
  const HandleRange range = HandleRange::OfPrefix(handle_prefix);
  bool touched = false;
  const auto has_whole_pack = [&](const ColumnarPart& part) {
    const ColumnarTable& table = *part.table;
    const size_t first = SeekPack(table, range.lower);
    for (size_t pack = first; pack < table.num_packs() && pack < first + 2; ++pack) {
      if (!range.IsBelowUpper(FirstHandle(table, pack))) {
        return false;
      }
      touched = true;
      const ColumnarTable::HandleBound last = table.last_handle_bound(pack);
      if (range.Contains(FirstHandle(table, pack)) &&
          range.IsBelowUpper(EncodedHandle(table.schema().handle, last.handle))) {
        return true;
      }
    }
    return false;
  };
  for (const ColumnarPart& part : columns->l1) {
    if (has_whole_pack(part)) {
      return true;
    }
  }
  for (const ColumnarSegment& segment : columns->segments) {
    if (Intersection(segment.range, range).empty()) {
      continue;
    }
    if ((segment.live.has_value() && has_whole_pack(*segment.live)) ||
        (segment.ended.has_value() && has_whole_pack(*segment.ended))) {
      return true;
    }
  }
  return !touched;
}

// Whether rows have been changed so often in memory that the row store, which has their newest
// images alone, is faster than walking along all changes.
bool HasLongChains(const StoreState& state, RelationId relation) {
  constexpr size_t kChangesPerRow = 4;
  for (const MemorySet* set = state.memory.get(); set != nullptr; set = set->older.get()) {
    const RelationMemory* const memory = set->Find(relation);
    if (memory != nullptr &&
        memory->rows->num_mutations() > kChangesPerRow * memory->rows->num_rows()) {
      return true;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<bool> IsAnsweredByTiers(const ReadView& view, const RelationSchema& relation,
                                       const ScanOptions& options, std::string_view handle_prefix) {
  if (options.path == ScanPath::kRow) {
    return false;
  }
  const StoreState& state = *view.state();
  std::string why_not = WhyNot(state, relation, options.path);
  // Compactions leave out what no retained snapshot holds, the row store has it until it is
  // excised.
  if (why_not.empty() && options.rows == ScanRows::kAllVersions &&
      !state.columnar->manifest().files().empty()) {
    why_not = "all versions are asked for, which the row store alone has";
  }
  if (options.path == ScanPath::kAuto) {
    return why_not.empty() && !HasLongChains(state, relation.id) &&
           IsWide(state.columnar->Find(relation.id), handle_prefix);
  }
  if (!why_not.empty()) {
    return absl::FailedPreconditionError(StrCat(
        relation.name, " cannot be scanned by ",
        options.path == ScanPath::kMemory ? "--path=memory" : "--path=columnar", ": ", why_not));
  }
  return true;
}

}  // namespace varve
