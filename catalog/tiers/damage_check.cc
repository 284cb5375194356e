#include "catalog/tiers/damage_check.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/store/row_store.h"
#include "columnar/pack_check.h"

namespace varve {
namespace {

std::string DescriptionOf(const std::vector<DamagedPack>& packs,
                          const RelationDirectory& directory) {
  const DamagedPack& first = packs.front();
  const RelationRef relation = directory.FindById(first.relation);
  std::string text =
      StrCat(relation == nullptr ? StrCat("relation ", first.relation) : relation->name,
             ", column ", first.column, ", pack ", first.pack, ": ", first.what);
  if (packs.size() > 1) {
    StrAppend(&text, "; and ", packs.size() - 1, packs.size() == 2 ? " more pack" : " more packs");
  }
  return text;
}

}  // namespace

absl::StatusOr<std::vector<DamagedFile>> FindDamage(
    const StoreState& state, DamageCheck check,
    const std::function<absl::Status(uint64_t done, uint64_t total)>& on_bytes) {
  const ColumnarSet& set = *state.columnar;
  const auto is_checked = [check](const StoredColumnarFile& file) {
    return check == DamageCheck::kAll ||
           (check == DamageCheck::kSeen && file.file()->damage_seen());
  };
  uint64_t total = 0;
  for (const auto& [number, file] : set.files()) {
    total += is_checked(*file) ? file->file()->file_size() : 0;
  }
  uint64_t done = 0;
  const auto count = [&](uint64_t bytes) -> absl::Status {
    done += bytes;
    return on_bytes ? on_bytes(done, std::max(done, total)) : absl::OkStatus();
  };
  std::vector<DamagedFile> damaged;
  for (const proto::ColumnarFileEntry& entry : set.manifest().files()) {
    DamagedFile result{.name = ColumnarFileName(entry.number())};
    const auto open = set.files().find(entry.number());
    if (open == set.files().end()) {
      for (const proto::ColumnarTableEntry& table : entry.tables()) {
        result.relations.push_back(table.relation());
      }
      result.what = MessageOf(set.WhyNotOpen(entry.number()));
      damaged.push_back(std::move(result));
      continue;
    }
    if (!is_checked(*open->second)) {
      continue;
    }
    const ColumnarFile& file = *open->second->file();
    std::vector<const ColumnarTable*> tables;
    for (const proto::ColumnarTableEntry& table : entry.tables()) {
      if (const ColumnarTable* const found = file.FindTable(table.relation()); found != nullptr) {
        tables.push_back(found);
      }
    }
    VARVE_ASSIGN_OR_RETURN(const std::vector<DamagedPack> packs, CheckPacks(file, tables, count));
    file.ForgetDamage();  // also what the check itself has met
    for (const DamagedPack& pack : packs) {
      if (std::find(result.relations.begin(), result.relations.end(), pack.relation) ==
          result.relations.end()) {
        result.relations.push_back(pack.relation);
      }
    }
    if (!packs.empty()) {
      result.what = DescriptionOf(packs, *state.directory);
      damaged.push_back(std::move(result));
    }
  }
  return damaged;
}

bool IsDamageSeen(const ColumnarSet& set) {
  return std::any_of(set.files().begin(), set.files().end(),
                     [](const auto& file) { return file.second->file()->damage_seen(); });
}

}  // namespace varve
