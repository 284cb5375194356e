#include "catalog/retention/reclaimable.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/key_codec.h"
#include "base/strings.h"
#include "catalog/payload_codec.h"
#include "catalog/retention/reclaim_walk.h"

namespace varve {
namespace {

constexpr uint64_t kProgressEvery = 8'192;

// Something with several versions and rows that belong to it.
struct Parent {
  RelationId relation = 0;
  bool of_table = false;  // its payload names a table it hangs on
  std::vector<RelationId> children;
};

// What becomes of the things of one relation: by id, the sets by which no version remains.
using Fates = absl::flat_hash_map<int64_t, ReclaimMask>;

class ParentWalk {
 public:
  ParentWalk(ReclaimWalk* walk, const Parent& parent)
      : walk_(walk), parent_(parent), relation_(walk->relation(parent.relation)) {}

  absl::Status Run() {
    VARVE_RETURN_IF_ERROR(FindFates());
    if (parent_.relation == kPartitionInfo) {
      VARVE_RETURN_IF_ERROR(KeepNamedByFiles());
    }
    for (const RelationId child : parent_.children) {
      VARVE_RETURN_IF_ERROR(EmitChildren(walk_->relation(child)));
    }
    return ForEach([&](const StoredVersion& version, int64_t id, ReclaimMask own,
                       std::optional<int64_t> /*table*/) {
      const auto newest = newest_.find(id);
      const bool is_newest = newest != newest_.end() && newest->second == version.begin;
      return walk_->Emit(relation_, version, is_newest ? Without(own, Kept(id)) : own);
    });
  }

 private:
  // Calls `visit(version, id, own mask, table)` for every version.
  template <typename Visit>
  absl::Status ForEach(const Visit& visit) {
    std::optional<RowDecoder> decoder;
    if (parent_.of_table) {
      decoder.emplace(relation_, std::vector<size_t>{*relation_->columns.Find("table_id")});
    }
    DecodedHandle handle;
    DecodedHandle scratch;
    Datum table;
    return walk_->ForEachVersion(
        relation_, VersionSet::kBoth, "", [&](const StoredVersion& version) -> absl::Status {
          VARVE_RETURN_IF_ERROR(DecodeHandle(*relation_, version.handle, &handle));
          ReclaimMask own = walk_->Of(version.begin, version.end);
          std::optional<int64_t> table_id;
          if (decoder.has_value()) {
            VARVE_RETURN_IF_ERROR(decoder->Decode(version.handle, version.begin, version.end,
                                                  version.payload, &scratch, {&table, 1}));
            if (!table.is_null()) {
              table_id = table.int64_value();
              own = Either(own, walk_->TableGone(*table_id));
            }
          }
          return visit(version, handle.key[0].int64_value(), own, table_id);
        });
  }

  absl::Status FindFates() {
    return ForEach([&](const StoredVersion& version, int64_t id, ReclaimMask own,
                       std::optional<int64_t> table) {
      const auto [it, first] = fates_.emplace(id, own);
      it->second = Both(it->second, own);
      const auto [newest, added] = newest_.emplace(id, version.begin);
      newest->second = std::max(newest->second, version.begin);
      if (table.has_value()) {
        table_of_[id] = *table;
      }
      return absl::OkStatus();
    });
  }

  // A partitioning of a table that stays, while a data file that stays was written by it.
  absl::Status KeepNamedByFiles() {
    absl::flat_hash_map<int64_t, std::vector<int64_t>> candidates;  // by table
    for (const auto& [id, fate] : fates_) {
      const auto table = table_of_.find(id);
      if (table != table_of_.end() && Without(fate, walk_->TableGone(table->second)) != 0) {
        candidates[table->second].push_back(id);
      }
    }
    const RelationRef files = walk_->relation(kDataFile);
    const RowDecoder decoder(files, {*files->columns.Find("partition_id")});
    DecodedHandle scratch;
    Datum partition;
    for (const auto& [table, ids] : candidates) {
      const ReclaimMask gone = walk_->TableGone(table);
      VersionCursor cursor(walk_->state(), files, VersionSet::kBoth, KeyOfInt(table));
      VARVE_RETURN_IF_ERROR(cursor.Start());
      // Mostly the first files answer it.
      const auto open = [&, &ids = ids] {
        return std::any_of(ids.begin(), ids.end(),
                           [&](int64_t id) { return Kept(id) != Without(fates_[id], gone); });
      };
      while (cursor.valid() && open()) {
        walk_->Note();
        const StoredVersion& file = cursor.version();
        const ReclaimMask stays =
            Without(walk_->all(), Either(walk_->Of(file.begin, file.end), gone));
        if (stays != 0) {
          VARVE_RETURN_IF_ERROR(decoder.Decode(file.handle, file.begin, file.end, file.payload,
                                               &scratch, {&partition, 1}));
          if (!partition.is_null() &&
              std::find(ids.begin(), ids.end(), partition.int64_value()) != ids.end()) {
            const int64_t id = partition.int64_value();
            kept_[id] = Both(Either(Kept(id), stays), fates_[id]);
          }
        }
        VARVE_RETURN_IF_ERROR(cursor.Next());
      }
    }
    for (const auto& [id, kept] : kept_) {
      fates_[id] = Without(fates_[id], kept);
    }
    return absl::OkStatus();
  }

  absl::Status EmitChildren(const RelationRef& child) {
    DecodedHandle handle;
    return walk_->ForEachVersion(
        child, VersionSet::kLive, "", [&](const StoredVersion& version) -> absl::Status {
          VARVE_RETURN_IF_ERROR(DecodeHandle(*child, version.handle, &handle));
          if (handle.key[0].is_null()) {
            return absl::OkStatus();
          }
          const auto fate = fates_.find(handle.key[0].int64_value());
          return walk_->Emit(child, version, fate == fates_.end() ? walk_->all() : fate->second);
        });
  }

  ReclaimMask Kept(int64_t id) const {
    const auto it = kept_.find(id);
    return it == kept_.end() ? ReclaimMask{0} : it->second;
  }

  ReclaimWalk* walk_;
  const Parent& parent_;
  RelationRef relation_;
  Fates fates_;
  absl::flat_hash_map<int64_t, SnapshotId> newest_;  // begin of the newest version
  absl::flat_hash_map<int64_t, int64_t> table_of_;
  Fates kept_;  // the sets by which the newest version stays after all
};

absl::Status WalkParents(ReclaimWalk* walk) {
  const Parent parents[] = {
      {.relation = kPartitionInfo, .of_table = true, .children = {kPartitionColumn}},
      {.relation = kSortInfo, .of_table = true, .children = {kSortExpression}},
      {.relation = kMacro, .children = {kMacroImpl, kMacroParameters}},
  };
  for (const Parent& parent : parents) {
    VARVE_RETURN_IF_ERROR(ParentWalk(walk, parent).Run());
  }
  return absl::OkStatus();
}

// Relations in which an ended version stands for itself.
absl::Status WalkEnded(ReclaimWalk* walk, RelationId id) {
  const RelationRef relation = walk->relation(id);
  return walk->ForEachVersion(relation, VersionSet::kEnded, "", [&](const StoredVersion& version) {
    return walk->Emit(relation, version, walk->Of(version.begin, version.end));
  });
}

// A snapshot and its changes go together: clients and verify expect one row of each.
absl::Status WalkSnapshots(ReclaimWalk* walk) {
  const RelationRef snapshots = walk->relation(kSnapshot);
  const RelationRef changes = walk->relation(kSnapshotChanges);
  VersionCursor of_changes(walk->state(), changes, VersionSet::kLive, "");
  VARVE_RETURN_IF_ERROR(of_changes.Start());
  // Changes of snapshots up to this one, which is the next to go if `exists`.
  const auto emit_changes = [&](SnapshotId snapshot, bool exists) -> absl::Status {
    while (of_changes.valid() && of_changes.version().begin <= snapshot) {
      const StoredVersion& row = of_changes.version();
      VARVE_RETURN_IF_ERROR(
          walk->Emit(changes, row, walk->OfSnapshot(row.begin), exists && row.begin == snapshot));
      VARVE_RETURN_IF_ERROR(of_changes.Next());
    }
    return absl::OkStatus();
  };
  const auto emit = [&](const StoredVersion& version) -> absl::Status {
    VARVE_RETURN_IF_ERROR(emit_changes(version.begin, /*exists=*/true));
    return walk->Emit(snapshots, version, walk->OfSnapshot(version.begin));
  };
  VARVE_RETURN_IF_ERROR(walk->ForEachVersion(snapshots, VersionSet::kLive, "", emit));
  return emit_changes(kMaxSnapshotId, /*exists=*/false);
}

}  // namespace

absl::Status ReclaimWalk::LoadTables() {
  const RelationRef tables = relation(kTable);
  DecodedHandle handle;
  absl::flat_hash_map<int64_t, ReclaimMask> fates;
  const auto note = [&](const StoredVersion& version) -> absl::Status {
    VARVE_RETURN_IF_ERROR(DecodeHandle(*tables, version.handle, &handle));
    const ReclaimMask own = Of(version.begin, version.end);
    const auto [it, first] = fates.emplace(handle.key[0].int64_value(), own);
    it->second = Both(it->second, own);
    return absl::OkStatus();
  };
  VARVE_RETURN_IF_ERROR(ForEachVersion(tables, VersionSet::kBoth, "", note));
  for (const auto& [table, fate] : fates) {
    if (fate != 0) {
      gone_.emplace(table, fate);
      gone_tables_.push_back(table);
    }
  }
  std::sort(gone_tables_.begin(), gone_tables_.end());
  return absl::OkStatus();
}

ReclaimMask ReclaimWalk::TableGone(std::string_view handle) const {
  if (gone_.empty()) {
    return 0;
  }
  std::string scratch;
  Datum table;
  return ReadKey(&handle, PhysicalType::kInt64, &scratch, &table) && !table.is_null()
             ? TableGone(table.int64_value())
             : ReclaimMask{0};
}

void ReclaimWalk::Note() {
  if (++versions_ % kProgressEvery != 0) {
    return;
  }
  if (request_.on_progress != nullptr) {
    request_.on_progress(versions_);
  }
  stopped_ = stopped_ || (request_.stop != nullptr && request_.stop());
}

absl::Status ReclaimWalk::Emit(const RelationRef& relation, const StoredVersion& version,
                               ReclaimMask by, bool with_next) {
  return by == 0 ? absl::OkStatus()
                 : visit_({.relation = relation,
                           .handle = version.handle,
                           .begin = version.begin,
                           .end = version.end,
                           .payload = version.payload,
                           .by = by,
                           .with_next = with_next});
}

absl::Status ReclaimWalk::EmitRelation(const RelationRef& relation, uint64_t rows, ReclaimMask by,
                                       bool with_next) {
  return visit_({.relation = relation,
                 .whole_relation = true,
                 .rows = rows,
                 .by = by,
                 .with_next = with_next});
}

std::string_view FirstKeyColumn(std::string_view handle) {
  std::string_view rest = handle;
  return SkipKey(&rest) ? handle.substr(0, handle.size() - rest.size()) : handle;
}

std::string KeyOfInt(int64_t value) {
  std::string key;
  AppendKey(Datum::Int64(value), &key);
  return key;
}

absl::Status ForEachReclaimable(const ReclaimRequest& request,
                                const std::function<absl::Status(const ReclaimableRow&)>& visit) {
  if (request.sets.empty() || request.sets.size() > kMaxReclaimSets) {
    return absl::InternalError("what is reclaimable is asked of no retained set, or of too many");
  }
  ReclaimWalk walk(request, visit);
  VARVE_RETURN_IF_ERROR(walk.LoadTables());
  if (request.only_files) {
    return WalkFiles(&walk, /*only_files=*/true);
  }
  VARVE_RETURN_IF_ERROR(WalkSnapshots(&walk));
  VARVE_RETURN_IF_ERROR(WalkFiles(&walk, /*only_files=*/false));
  VARVE_RETURN_IF_ERROR(WalkInlinedRows(&walk));
  VARVE_RETURN_IF_ERROR(WalkColumnStatsOfTables(&walk));
  VARVE_RETURN_IF_ERROR(WalkColumns(&walk));
  VARVE_RETURN_IF_ERROR(WalkEnded(&walk, kTag));
  VARVE_RETURN_IF_ERROR(WalkParents(&walk));
  VARVE_RETURN_IF_ERROR(WalkEnded(&walk, kView));
  VARVE_RETURN_IF_ERROR(WalkOwnedByTables(&walk));
  VARVE_RETURN_IF_ERROR(WalkEnded(&walk, kTable));
  return WalkEnded(&walk, kSchema);
}

absl::StatusOr<std::vector<ReclaimableCounts>> CountReclaimable(const ReclaimRequest& request) {
  std::vector<ReclaimableCounts> counts(request.sets.size());
  VARVE_RETURN_IF_ERROR(ForEachReclaimable(request, [&](const ReclaimableRow& row) {
    const bool is_file = row.relation->id == kDataFile || row.relation->id == kDeleteFile;
    for (size_t i = 0; i < counts.size(); ++i) {
      if ((row.by >> i & 1U) != 0 && row.rows > 0) {
        counts[i].rows[row.relation->name] += row.rows;
        counts[i].files += is_file ? 1 : 0;
      }
    }
    return absl::OkStatus();
  }));
  return counts;
}

}  // namespace varve
