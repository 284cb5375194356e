// The columnar tier: its manifest, its files, and whether it says the same as the row store.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/store/row_store.h"
#include "catalog/tiers/columnar_format.h"
#include "catalog/tiers/columnar_set.h"
#include "catalog/tiers/columnar_source.h"
#include "catalog/tiers/memory_format.h"
#include "catalog/verify/checks.h"
#include "catalog/verify/pack_statistics.h"
#include "catalog/verify/tier_comparison.h"

namespace varve {
namespace {

std::string RelationName(const VerifyRun& run, RelationId id) {
  const RelationRef relation = run.view().relations().FindById(id);
  return relation == nullptr ? StrCat("relation ", id) : relation->name;
}

class ColumnarCheck {
 public:
  explicit ColumnarCheck(VerifyRun* run) : run_(run), set_(*run->view().state()->columnar) {}

  absl::Status Run() {
    CheckManifest();
    for (const RelationRef& relation : run_->view().relations().relations()) {
      const RelationColumns* const columns = set_.Find(relation->id);
      if (columns == nullptr) {
        continue;
      }
      if (!columns->damage.ok()) {
        // Nothing is wrong with a catalog that was copied without them.
        run_->Report(
            absl::IsNotFound(columns->damage) ? Rule::kColumnarFileMissing : Rule::kColumnarDamaged,
            relation->name, "", StrCat(MessageOf(columns->damage), "; the row store answers"));
      }
      CheckSegments(*relation, *columns);
      VARVE_RETURN_IF_ERROR(CheckFiles(relation, *columns));
      VARVE_RETURN_IF_ERROR(CheckIdentities(relation, *columns));
      if (set_.IsComplete(relation->id) && !run_->IsDamaged(relation->id)) {
        VARVE_RETURN_IF_ERROR(CompareTiers(run_, relation));
      }
    }
    return absl::OkStatus();
  }

 private:
  void BadManifest(std::string_view relation, uint64_t file, std::string_view what) {
    run_->Report(Rule::kColumnarManifest, relation, ColumnarFileName(file), std::string(what));
  }

  void CheckManifest() {
    const proto::ColumnarManifest& manifest = set_.manifest();
    if (manifest.flushed_csn() > run_->view().csn()) {
      run_->Report(Rule::kColumnarManifest, "", "",
                   StrCat("changes are said to be flushed up to csn ", manifest.flushed_csn(),
                          ", the last commit is ", run_->view().csn()));
    }
    absl::flat_hash_set<uint64_t> numbers;
    for (const proto::ColumnarFileEntry& entry : manifest.files()) {
      if (!numbers.insert(entry.number()).second) {
        BadManifest("", entry.number(), "the manifest has the file twice");
      }
      if (entry.number() >= manifest.next_file()) {
        BadManifest("", entry.number(),
                    StrCat("the number of the next file is ", manifest.next_file(),
                           ", so this one can be given out again"));
      }
      if (const auto open = set_.files().find(entry.number()); open != set_.files().end()) {
        CheckEntry(entry, *open->second->file());
      }
    }
  }

  void CheckEntry(const proto::ColumnarFileEntry& entry, const ColumnarFile& file) {
    const auto expect = [&](std::string_view relation, std::string_view what, uint64_t in_manifest,
                            uint64_t in_file) {
      if (in_manifest != in_file) {
        BadManifest(relation, entry.number(),
                    StrCat("the manifest says ", what, " ", in_manifest, ", the file ", in_file));
      }
    };
    expect("", "bytes", entry.bytes(), file.file_size());
    expect("", "level", entry.level(), static_cast<uint64_t>(file.properties().level));
    const ColumnarFileKind kind = entry.level() == 1 ? ColumnarFileKind::kMixed
                                  : entry.ended()    ? ColumnarFileKind::kEnded
                                                     : ColumnarFileKind::kLive;
    expect("", "kind", static_cast<uint64_t>(kind), static_cast<uint64_t>(file.properties().kind));
    for (const proto::ColumnarTableEntry& of_table : entry.tables()) {
      const std::string relation = RelationName(*run_, of_table.relation());
      if (const ColumnarTable* const table = file.FindTable(of_table.relation());
          table != nullptr) {
        expect(relation, "rows", of_table.rows(), table->num_rows());
      }
      if (entry.level() != 1 && of_table.ranges_size() != 1) {
        BadManifest(
            relation, entry.number(),
            StrCat("it has ", of_table.ranges_size(), " ranges, a file of level 2 has one"));
      }
      for (int i = 0; i < of_table.ranges_size(); ++i) {
        const proto::HandleRange& range = of_table.ranges(i);
        const bool is_empty = !range.upper().empty() && range.lower() >= range.upper();
        const bool touches = i > 0 && (of_table.ranges(i - 1).upper().empty() ||
                                       of_table.ranges(i - 1).upper() >= range.lower());
        if (is_empty || touches) {
          BadManifest(relation, entry.number(), StrCat("range ", i, " is empty or out of order"));
        }
      }
    }
  }

  // Two files of one kind may not have a handle in common, and files of both kinds have the same
  // range or none in common: a segment per range, in order.
  void CheckSegments(const RelationSchema& relation, const RelationColumns& columns) {
    for (size_t i = 1; i < columns.segments.size(); ++i) {
      const ColumnarSegment& before = columns.segments[i - 1];
      const ColumnarSegment& segment = columns.segments[i];
      if (!Intersection(before.range, segment.range).empty()) {
        const ColumnarPart& part = segment.live.has_value() ? *segment.live : *segment.ended;
        BadManifest(relation.name, part.file->number(),
                    "its range of handles overlaps that of another file of level 2");
      }
    }
  }

  absl::Status CheckFiles(const RelationRef& relation, const RelationColumns& columns) {
    const auto check = [&](const ColumnarPart& part) {
      return CheckPackStatistics(run_, relation, part);
    };
    for (const ColumnarPart& part : columns.l1) {
      VARVE_RETURN_IF_ERROR(check(part));
    }
    for (const ColumnarSegment& segment : columns.segments) {
      for (const std::optional<ColumnarPart>* part : {&segment.live, &segment.ended}) {
        if (part->has_value()) {
          VARVE_RETURN_IF_ERROR(check(**part));
        }
      }
    }
    return absl::OkStatus();
  }

  // No version is both among the live and the ended rows of a segment.
  absl::Status CheckIdentities(const RelationRef& relation, const RelationColumns& columns) {
    ReadCounters reads;
    ColumnarScanCounters counters;
    for (const ColumnarSegment& segment : columns.segments) {
      if (!segment.live.has_value() || !segment.ended.has_value()) {
        continue;
      }
      std::optional<ColumnarSource> lanes[2];
      VersionBlock blocks[2];
      size_t next[2] = {0, 0};
      bool has[2] = {false, false};
      const auto fill = [&](size_t i) -> absl::Status {
        if (next[i] == blocks[i].num_rows()) {
          next[i] = 0;
          VARVE_ASSIGN_OR_RETURN(has[i], lanes[i]->Next(&blocks[i]));
        }
        return absl::OkStatus();
      };
      absl::Status status;
      for (size_t i = 0; i < 2; ++i) {
        lanes[i].emplace(std::vector{i == 0 ? *segment.live : *segment.ended},
                         ColumnarSourceOptions{.relation = relation,
                                               .read = {.reads = &reads, .counters = &counters}});
        status.Update(fill(i));
      }
      while (status.ok() && has[0] && has[1]) {
        const std::string_view live = blocks[0].keys[next[0]];
        const std::string_view ended = blocks[1].keys[next[1]];
        if (live == ended) {
          run_->Report(Rule::kColumnarRowRepeated, relation->name,
                       HandleToText(*relation, HandleOfVersionKey(live)),
                       StrCat("the version that begins at ", BeginOfVersionKey(live),
                              " is in files ", ColumnarFileName(segment.live->file->number()),
                              " and ", ColumnarFileName(segment.ended->file->number())));
        }
        const size_t behind = live <= ended ? 0 : 1;
        ++next[behind];
        status = fill(behind);
      }
      // Damage was reported where statistics were checked.
      if (!status.ok() && !absl::IsDataLoss(status)) {
        return status;
      }
    }
    return absl::OkStatus();
  }

  VerifyRun* const run_;
  const ColumnarSet& set_;
};

}  // namespace

absl::Status CheckColumnar(VerifyRun* run) {
  return ColumnarCheck(run).Run();
}

}  // namespace varve
