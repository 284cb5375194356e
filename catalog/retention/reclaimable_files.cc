// Data files and delete files, and what belongs to them.
#include <rocksdb/iterator.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/key_codec.h"
#include "base/strings.h"
#include "catalog/payload_codec.h"
#include "catalog/retention/reclaim_walk.h"

namespace varve {
namespace {

// Entries stepped over before a seek is cheaper.
constexpr int kStepsBeforeSeek = 8;

// A data file and the sets that make it reclaimable.
struct FileFate {
  int64_t id = 0;
  ReclaimMask by = 0;
};

// The tables that have an ended version in the relation, as encoded first key columns: one seek a
// table.
absl::Status AddTablesWithEnded(const ReclaimWalk& walk, RelationId relation,
                                std::set<std::string>* tables) {
  const StoreState& state = walk.state();
  std::string next = RelationPrefix(relation);
  const std::string upper = RelationPrefix(relation + 1);
  const rocksdb::Slice upper_slice(upper);
  rocksdb::ReadOptions options = state.read_options();
  options.iterate_upper_bound = &upper_slice;
  const std::unique_ptr<rocksdb::Iterator> it(
      state.store->db().NewIterator(options, state.store->family(Family::kEnded)));
  for (it->Seek(next); it->Valid(); it->Seek(next)) {
    const std::string_view handle = ToView(it->key()).substr(kRelationPrefixSize);
    const std::string_view table = FirstKeyColumn(handle);
    tables->emplace(table);
    next = PrefixSuccessor(LiveKey(relation, table));
  }
  return FromRocksDb(it->status(), "reading the files of tables");
}

// The files of one table.
class TableFiles {
 public:
  // `table`: its id as an encoded key column.
  TableFiles(ReclaimWalk* walk, std::string table)
      : walk_(walk),
        table_(std::move(table)),
        gone_(walk->TableGone(std::string_view(table_))),
        data_files_(walk->relation(kDataFile)),
        delete_files_(walk->relation(kDeleteFile)) {}

  absl::Status Run(bool only_files) {
    VARVE_RETURN_IF_ERROR(FindFates());
    if (!only_files) {
      for (const RelationId id : {kFileColumnStats, kFileVariantStats, kFilePartitionValue}) {
        VARVE_RETURN_IF_ERROR(WalkBelongings(walk_->relation(id)));
      }
      VARVE_RETURN_IF_ERROR(WalkInlinedDeletes());
    }
    VARVE_RETURN_IF_ERROR(WalkDeleteFiles());
    if (files_.empty()) {
      return absl::OkStatus();
    }
    return walk_->ForEachVersion(
        data_files_, VersionsToRead(), table_, [&](const StoredVersion& version) {
          return walk_->Emit(data_files_, version,
                             Either(gone_, walk_->Of(version.begin, version.end)));
        });
  }

 private:
  // Live files go only with the table.
  VersionSet VersionsToRead() const { return gone_ != 0 ? VersionSet::kBoth : VersionSet::kEnded; }

  absl::Status FindFates() {
    DecodedHandle handle;
    const auto note = [&](const StoredVersion& version) -> absl::Status {
      const ReclaimMask by = Either(gone_, walk_->Of(version.begin, version.end));
      if (by == 0) {
        return absl::OkStatus();
      }
      VARVE_RETURN_IF_ERROR(DecodeHandle(*data_files_, version.handle, &handle));
      if (!handle.key[1].is_null()) {
        files_.push_back({.id = handle.key[1].int64_value(), .by = by});
      }
      return absl::OkStatus();
    };
    VARVE_RETURN_IF_ERROR(walk_->ForEachVersion(data_files_, VersionsToRead(), table_, note));
    // In the order of their encoded ids, which is that of the ids.
    std::sort(files_.begin(), files_.end(),
              [](const FileFate& a, const FileFate& b) { return a.id < b.id; });
    return absl::OkStatus();
  }

  ReclaimMask FateOf(int64_t file) const {
    const auto it = std::lower_bound(files_.begin(), files_.end(), file,
                                     [](const FileFate& fate, int64_t id) { return fate.id < id; });
    return it != files_.end() && it->id == file ? it->by : ReclaimMask{0};
  }

  // Rows whose handles are (table, column or key index, file, …): one pass over the columns, and in
  // each from one reclaimable file to the next.
  absl::Status WalkBelongings(const RelationRef& relation) {
    if (files_.empty()) {
      return absl::OkStatus();
    }
    const StoreState& state = walk_->state();
    const std::string lower = LiveKey(relation->id, table_);
    const std::string upper = PrefixSuccessor(lower);
    const rocksdb::Slice lower_slice(lower);
    const rocksdb::Slice upper_slice(upper);
    rocksdb::ReadOptions options = state.read_options();
    options.iterate_lower_bound = &lower_slice;
    options.iterate_upper_bound = &upper_slice;
    const std::unique_ptr<rocksdb::Iterator> it(
        state.store->db().NewIterator(options, state.store->family(Family::kLive)));
    it->SeekToFirst();
    while (it->Valid()) {
      std::string_view rest = ToView(it->key()).substr(lower.size());
      if (!SkipKey(&rest)) {
        return MalformedPair(*relation, ToView(it->key()));
      }
      const std::string column(ToView(it->key()).substr(0, it->key().size() - rest.size()));
      VARVE_RETURN_IF_ERROR(WalkColumn(relation, column, it.get()));
      if (it->Valid() && ToView(it->key()).starts_with(column)) {
        it->Seek(PrefixSuccessor(column));
      }
    }
    return FromRocksDb(it->status(), StrCat("reading ", relation->name));
  }

  // `column` is the key up to the file's id; the iterator stands on its first row.
  absl::Status WalkColumn(const RelationRef& relation, const std::string& column,
                          rocksdb::Iterator* it) {
    for (const FileFate& file : files_) {
      const std::string target = StrCat(column, KeyOfInt(file.id));
      for (int step = 0; it->Valid() && ToView(it->key()) < std::string_view(target); ++step) {
        if (step == kStepsBeforeSeek) {
          it->Seek(target);
          break;
        }
        it->Next();
      }
      for (; it->Valid() && ToView(it->key()).starts_with(target); it->Next()) {
        walk_->Note();
        StoredVersion version;
        if (!ParseLive(ToView(it->key()), ToView(it->value()), &version)) {
          return MalformedPair(*relation, ToView(it->key()));
        }
        VARVE_RETURN_IF_ERROR(walk_->Emit(relation, version, file.by));
      }
      if (!it->Valid() || !ToView(it->key()).starts_with(column)) {
        break;
      }
    }
    return absl::OkStatus();
  }

  // With the table the whole relation goes.
  absl::Status WalkInlinedDeletes() {
    std::string_view key = table_;
    std::string scratch;
    Datum table;
    if (!ReadKey(&key, PhysicalType::kInt64, &scratch, &table) || table.is_null()) {
      return absl::OkStatus();
    }
    const RelationRef relation = walk_->state().directory->FindByName(
        StrCat("ducklake_inlined_delete_", table.int64_value()));
    if (relation == nullptr || relation->handle_kind != HandleKind::kCommon) {
      return absl::OkStatus();
    }
    for (const FileFate& file : files_) {
      VARVE_RETURN_IF_ERROR(walk_->ForEachVersion(
          relation, VersionSet::kLive, KeyOfInt(file.id), [&](const StoredVersion& version) {
            return walk_->Emit(relation, version, Without(file.by, gone_));
          }));
    }
    return absl::OkStatus();
  }

  absl::Status WalkDeleteFiles() {
    const RowDecoder decoder(delete_files_, {*delete_files_->columns.Find("data_file_id")});
    DecodedHandle scratch;
    Datum data_file;
    // A live delete file goes only with its data file, or with the table.
    const VersionSet versions = files_.empty() ? VersionsToRead() : VersionSet::kBoth;
    return walk_->ForEachVersion(
        delete_files_, versions, table_, [&](const StoredVersion& version) -> absl::Status {
          ReclaimMask by = Either(gone_, walk_->Of(version.begin, version.end));
          if (!files_.empty()) {
            VARVE_RETURN_IF_ERROR(decoder.Decode(version.handle, version.begin, version.end,
                                                 version.payload, &scratch, {&data_file, 1}));
            if (!data_file.is_null()) {
              by = Either(by, FateOf(data_file.int64_value()));
            }
          }
          return walk_->Emit(delete_files_, version, by);
        });
  }

  ReclaimWalk* walk_;
  std::string table_;
  ReclaimMask gone_;
  RelationRef data_files_;
  RelationRef delete_files_;
  std::vector<FileFate> files_;  // by id
};

}  // namespace

absl::Status WalkFiles(ReclaimWalk* walk, bool only_files) {
  std::set<std::string> tables;
  VARVE_RETURN_IF_ERROR(AddTablesWithEnded(*walk, kDataFile, &tables));
  VARVE_RETURN_IF_ERROR(AddTablesWithEnded(*walk, kDeleteFile, &tables));
  for (const int64_t table : walk->gone_tables()) {
    tables.insert(KeyOfInt(table));
  }
  for (const std::string& table : tables) {
    VARVE_RETURN_IF_ERROR(TableFiles(walk, table).Run(only_files));
  }
  return absl::OkStatus();
}

}  // namespace varve
