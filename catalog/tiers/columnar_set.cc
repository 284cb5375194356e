#include "catalog/tiers/columnar_set.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

constexpr std::string_view kSuffix = ".vcol";
constexpr size_t kDigits = 8;

}  // namespace

std::vector<HandleRange> AnsweredRanges(const proto::ColumnarTableEntry& table) {
  std::vector<HandleRange> ranges;
  for (const proto::HandleRange& range : table.ranges()) {
    ranges.push_back({.lower = range.lower(), .upper = range.upper()});
  }
  return ranges;
}

void AddRange(const HandleRange& range, proto::ColumnarTableEntry* table) {
  proto::HandleRange* const added = table->add_ranges();
  added->set_lower(range.lower);
  added->set_upper(range.upper);
}

std::string ColumnarFileName(uint64_t number) {
  const std::string digits = std::to_string(number);
  return StrCat(std::string(kDigits - std::min(kDigits, digits.size()), '0'), digits, kSuffix);
}

std::optional<uint64_t> ColumnarFileNumber(std::string_view name) {
  if (!name.ends_with(kSuffix)) {
    return std::nullopt;
  }
  return ParseNumber<uint64_t>(name.substr(0, name.size() - kSuffix.size()));
}

absl::StatusOr<std::shared_ptr<const StoredColumnarFile>> StoredColumnarFile::Open(
    rocksdb::FileSystem* file_system, const std::string& directory,
    const proto::ColumnarFileEntry& entry) {
  VARVE_ASSIGN_OR_RETURN(
      std::shared_ptr<const ColumnarFile> file,
      ColumnarFile::Open(file_system, StrCat(directory, "/", ColumnarFileName(entry.number())),
                         {.file_id = entry.number()}));
  return std::shared_ptr<const StoredColumnarFile>(
      new StoredColumnarFile(file_system, entry.number(), entry.level(), std::move(file)));
}

StoredColumnarFile::~StoredColumnarFile() {
  if (obsolete_) {  // what stays is removed when the catalog is opened
    file_system_->DeleteFile(file_->path(), rocksdb::IOOptions(), nullptr).PermitUncheckedError();
  }
}

uint64_t ColumnarSegment::rows() const {
  return (live.has_value() ? live->table->num_rows() : 0) +
         (ended.has_value() ? ended->table->num_rows() : 0);
}

void ColumnarSet::AddToSegment(ColumnarPart part, bool ended, RelationColumns* columns) {
  const HandleRange range = part.ranges.empty() ? HandleRange() : part.ranges.front();
  auto segment = std::find_if(columns->segments.begin(), columns->segments.end(),
                              [&](const ColumnarSegment& s) { return s.range == range; });
  if (segment == columns->segments.end()) {
    segment = columns->segments.insert(
        std::find_if(columns->segments.begin(), columns->segments.end(),
                     [&](const ColumnarSegment& s) { return range.lower < s.range.lower; }),
        ColumnarSegment{.range = range});
  }
  (ended ? segment->ended : segment->live) = std::move(part);
}

void ColumnarSet::AddFile(const proto::ColumnarFileEntry& entry,
                          absl::StatusOr<std::shared_ptr<const StoredColumnarFile>> file) {
  if (file.ok()) {
    files_[entry.number()] = *file;
  } else {
    not_open_[entry.number()] = file.status();
  }
  for (const proto::ColumnarTableEntry& table : entry.tables()) {
    RelationColumns& columns = relations_[table.relation()];
    if (!file.ok()) {
      columns.damage.Update(file.status());
      continue;
    }
    ColumnarPart part{.file = *file,
                      .table = (*file)->file()->FindTable(table.relation()),
                      .ranges = AnsweredRanges(table)};
    if (part.table == nullptr) {
      columns.damage.Update((*file)->file()->Damaged(
          "tables", StrCat("relation ", table.relation(), " is not there")));
    } else if (entry.level() == 1) {
      columns.l1.push_back(std::move(part));
    } else {
      AddToSegment(std::move(part), entry.ended(), &columns);
    }
  }
}

std::shared_ptr<const ColumnarSet> ColumnarSet::Open(rocksdb::FileSystem* file_system,
                                                     const std::string& catalog_path,
                                                     proto::ColumnarManifest manifest,
                                                     const ColumnarSet* earlier,
                                                     std::shared_ptr<const PackCache> cache) {
  auto set = std::make_shared<ColumnarSet>();
  set->cache_ = std::move(cache);
  set->manifest_ = std::move(manifest);
  set->incomplete_.insert(set->manifest_.incomplete().begin(), set->manifest_.incomplete().end());
  const std::string directory = StrCat(catalog_path, "/", kColumnarDirectory);
  for (const proto::ColumnarFileEntry& entry : set->manifest_.files()) {
    if (earlier != nullptr) {
      if (const auto open = earlier->files_.find(entry.number()); open != earlier->files_.end()) {
        set->AddFile(entry, open->second);
        continue;
      }
    }
    set->AddFile(entry, StoredColumnarFile::Open(file_system, directory, entry));
  }
  for (auto& [relation, columns] : set->relations_) {
    std::sort(columns.l1.begin(), columns.l1.end(),
              [](const ColumnarPart& a, const ColumnarPart& b) {
                return a.file->number() > b.file->number();
              });
  }
  return set;
}

const RelationColumns* ColumnarSet::Find(RelationId relation) const {
  const auto it = relations_.find(relation);
  return it == relations_.end() ? nullptr : &it->second;
}

absl::Status ColumnarSet::WhyNotOpen(uint64_t number) const {
  const auto it = not_open_.find(number);
  return it == not_open_.end() ? absl::OkStatus() : it->second;
}

bool ColumnarSet::IsComplete(RelationId relation) const {
  const RelationColumns* const columns = Find(relation);
  return !incomplete_.contains(relation) && (columns == nullptr || columns->damage.ok());
}

}  // namespace varve
