// Columns and their tags.
#include <rocksdb/iterator.h>

#include <algorithm>
#include <utility>

#include "base/key_codec.h"
#include "base/strings.h"
#include "catalog/retention/reclaim_walk.h"

namespace varve {
namespace {

// An ended version of the column at hand, copied from the walk.
struct EndedVersion {
  std::string handle;
  SnapshotId begin = 0;
  SnapshotId end = kNoEnd;
  std::string payload;
  ReclaimMask by = 0;
};

class ColumnWalk {
 public:
  explicit ColumnWalk(ReclaimWalk* walk) : walk_(walk), columns_(walk->relation(kColumn)) {}

  absl::Status Run() {
    const auto take = [&](const StoredVersion& version) -> absl::Status {
      const std::string_view column = HandleWithoutOrdinal(*columns_, version.handle);
      if (column != column_) {
        VARVE_RETURN_IF_ERROR(FinishColumn());
        column_ = column;
      }
      versions_.push_back(
          {.handle = std::string(version.handle),
           .begin = version.begin,
           .end = version.end,
           .payload = std::string(version.payload),
           .by = Either(walk_->Of(version.begin, version.end), walk_->TableGone(version.handle))});
      return absl::OkStatus();
    };
    VARVE_RETURN_IF_ERROR(walk_->ForEachVersion(columns_, VersionSet::kEnded, "", take));
    return FinishColumn();
  }

 private:
  absl::Status FinishColumn() {
    std::vector<EndedVersion> versions = std::exchange(versions_, {});
    if (versions.empty()) {
      return absl::OkStatus();
    }
    ReclaimMask all_gone = walk_->all();
    for (const EndedVersion& version : versions) {
      all_gone = Both(all_gone, version.by);
    }
    const ReclaimMask at_stake = Without(all_gone, walk_->TableGone(std::string_view(column_)));
    if (at_stake != 0) {
      VARVE_ASSIGN_OR_RETURN(const bool has_live, HasLive());
      if (!has_live) {
        VARVE_ASSIGN_OR_RETURN(const ReclaimMask needed, Needed(at_stake));
        const auto newest = std::max_element(
            versions.begin(), versions.end(),
            [](const EndedVersion& a, const EndedVersion& b) { return a.begin < b.begin; });
        newest->by = Without(newest->by, Both(needed, at_stake));
      }
    }
    for (const EndedVersion& version : versions) {
      VARVE_RETURN_IF_ERROR(walk_->Emit(columns_,
                                        {.handle = version.handle,
                                         .begin = version.begin,
                                         .end = version.end,
                                         .payload = version.payload},
                                        version.by));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<bool> HasLive() {
    VersionCursor cursor(walk_->state(), columns_, VersionSet::kLive, column_);
    VARVE_RETURN_IF_ERROR(cursor.Start());
    return cursor.valid();
  }

  // By which of the sets something that stays needs the column.
  absl::StatusOr<ReclaimMask> Needed(ReclaimMask at_stake) {
    VARVE_ASSIGN_OR_RETURN(const bool highest, IsHighest());
    if (highest) {
      return at_stake;
    }
    VersionCursor table_stats(walk_->state(), walk_->relation(kTableColumnStats), VersionSet::kLive,
                              column_);
    VARVE_RETURN_IF_ERROR(table_stats.Start());
    if (table_stats.valid()) {
      return at_stake;
    }
    ReclaimMask needed = 0;
    for (const RelationId id : {kFileColumnStats, kFileVariantStats}) {
      const RelationRef statistics = walk_->relation(id);
      VersionCursor cursor(walk_->state(), statistics, VersionSet::kLive, column_);
      VARVE_RETURN_IF_ERROR(cursor.Start());
      DecodedHandle handle;
      while (cursor.valid() && Without(at_stake, needed) != 0) {
        walk_->Note();
        VARVE_RETURN_IF_ERROR(DecodeHandle(*statistics, cursor.version().handle, &handle));
        if (!handle.key[2].is_null()) {
          VARVE_ASSIGN_OR_RETURN(const ReclaimMask gone, FileGone(handle.key[2].int64_value()));
          needed = Either(needed, Without(at_stake, gone));
        }
        VARVE_RETURN_IF_ERROR(cursor.Next());
      }
    }
    return needed;
  }

  // Whether the table has no column with a higher id, not even one that has ended.
  absl::StatusOr<bool> IsHighest() {
    const StoreState& state = walk_->state();
    const std::string mine = LiveKey(kColumn, column_);
    const std::string upper = PrefixSuccessor(LiveKey(kColumn, FirstKeyColumn(column_)));
    const rocksdb::Slice upper_slice(upper);
    rocksdb::ReadOptions options = state.read_options();
    options.iterate_upper_bound = &upper_slice;
    for (const Family family : {Family::kLive, Family::kEnded}) {
      const std::unique_ptr<rocksdb::Iterator> it(
          state.store->db().NewIterator(options, state.store->family(family)));
      it->Seek(PrefixSuccessor(mine));
      VARVE_RETURN_IF_ERROR(FromRocksDb(it->status(), "reading ducklake_column"));
      if (it->Valid()) {
        return false;
      }
    }
    return true;
  }

  // By which sets a data file of the table goes. By all if it is not there: its statistics belong
  // to nothing.
  absl::StatusOr<ReclaimMask> FileGone(int64_t file) {
    const std::string handle = StrCat(FirstKeyColumn(column_), KeyOfInt(file));
    VersionCursor cursor(walk_->state(), walk_->relation(kDataFile), VersionSet::kBoth, handle);
    VARVE_RETURN_IF_ERROR(cursor.Start());
    return cursor.valid() ? walk_->Of(cursor.version().begin, cursor.version().end) : walk_->all();
  }

  ReclaimWalk* walk_;
  RelationRef columns_;
  std::string column_;  // the handle without ordinal: (table, column)
  std::vector<EndedVersion> versions_;
};

}  // namespace

absl::Status WalkColumns(ReclaimWalk* walk) {
  const RelationRef tags = walk->relation(kColumnTag);
  const RelationRef columns = walk->relation(kColumn);
  VARVE_RETURN_IF_ERROR(
      walk->ForEachVersion(tags, VersionSet::kEnded, "", [&](const StoredVersion& version) {
        return walk->Emit(
            tags, version,
            Either(walk->Of(version.begin, version.end), walk->TableGone(version.handle)));
      }));
  VARVE_RETURN_IF_ERROR(ColumnWalk(walk).Run());
  // What a client left without an end when the table was dropped.
  for (const int64_t table : walk->gone_tables()) {
    for (const RelationRef& relation : {tags, columns}) {
      VARVE_RETURN_IF_ERROR(walk->ForEachVersion(
          relation, VersionSet::kLive, KeyOfInt(table), [&](const StoredVersion& version) {
            return walk->Emit(relation, version, walk->TableGone(table));
          }));
    }
  }
  return absl::OkStatus();
}

}  // namespace varve
