#include "golden/scenario_run.h"

#include <algorithm>
#include <utility>

#include "absl/time/time.h"
#include "base/status.h"
#include "base/strings.h"
#include "golden/block_writer.h"
#include "golden/model.h"
#include "golden/model_check.h"
#include "golden/native_writer.h"

namespace varve::golden {
namespace {

constexpr std::string_view kScriptName = "script.txt";
constexpr std::string_view kDataPath = "lake/";
constexpr std::string_view kMainUuid = "00000000-0000-4000-8000-000000000000";
constexpr std::string_view kStart = "2026-01-01 00:00:00+00";

// Ids up to here are tried one by one for being refused where no snapshot has them.
constexpr SnapshotId kMostIdsTried = 1100;

absl::Status At(std::string_view place, const absl::Status& status) {
  return status.ok() ? status : absl::Status(status.code(), StrCat(place, ": ", MessageOf(status)));
}

class Run {
 public:
  Run(const StorageState& state, const std::string& path) : state_(state) { catalog_.path = path; }

  absl::StatusOr<Observations> Execute(const Scenario& scenario) {
    VARVE_RETURN_IF_ERROR(At("the new catalog", Start()));
    for (const Block& block : scenario.blocks) {
      VARVE_ASSIGN_OR_RETURN(const ChangeSet changes, WriteBlock(kScriptName, model_, block));
      const std::string place = StrCat(kScriptName, ":", block.line, ": after this block");
      VARVE_RETURN_IF_ERROR(At(place, Commit(changes, &block)));
      VARVE_RETURN_IF_ERROR(At(place, ObserveCurrent()));
    }
    VARVE_RETURN_IF_ERROR(ObserveEverySnapshot());
    VARVE_RETURN_IF_ERROR(ReadHeldViews());
    return std::move(observations_);
  }

 private:
  struct HeldView {
    ReadView view;
    SnapshotText text;
  };

  absl::Status Start() {
    Catalog::InitOptions options;
    options.data_path = kDataPath;
    options.schema_uuid = kMainUuid;
    options.now = absl::FromCivil(absl::CivilSecond(2026, 1, 1), absl::UTCTimeZone());
    VARVE_RETURN_IF_ERROR(Catalog::Init(catalog_.path, options));
    VARVE_RETURN_IF_ERROR(MakeWritable(&catalog_));
    VARVE_ASSIGN_OR_RETURN(model_, Model::Bootstrap(kStart, kDataPath, kMainUuid));
    // The program writes its own name and version there: the scenarios write theirs.
    const RelationRef metadata = BuiltinRelationById(kMetadata);
    VARVE_ASSIGN_OR_RETURN(
        Row row, MakeRow(*metadata, {{"key", "created_by"}, {"value", "golden scenarios"}}));
    ChangeSet changes;
    changes.Put(metadata, std::move(row));
    VARVE_RETURN_IF_ERROR(Commit(changes, /*block=*/nullptr));
    return ObserveCurrent();
  }

  // `changes` are what `block` (if there is one) means in rows; the model takes them either way.
  absl::Status Commit(const ChangeSet& changes, const Block* block) {
    VARVE_RETURN_IF_ERROR(MakeWritable(&catalog_));
    VARVE_RETURN_IF_ERROR(state_.native && block != nullptr && IsNative(*block)
                              ? CommitNatively(kScriptName, *block, catalog_.writer.get())
                              : catalog_.writer->Apply(changes));
    VARVE_RETURN_IF_ERROR(model_.Apply(changes));
    VARVE_RETURN_IF_ERROR(model_.Rebind(catalog_.writer->Current().relations()));
    return state_.enter(&catalog_);
  }

  // The current fast path.
  absl::Status ObserveCurrent() {
    const ReadView view = catalog_.reading().Current();
    const SnapshotId last = model_.Snapshots().back();
    if (view.snapshot() != last || !view.is_current()) {
      return absl::InternalError(
          StrCat("the current snapshot is ", view.snapshot(), ", expected ", last));
    }
    VARVE_RETURN_IF_ERROR(
        CheckAgainstModel(view, model_, /*with_history=*/true, &observations_.packs));
    VARVE_ASSIGN_OR_RETURN(SnapshotText text, ReadSnapshot(view, RowForm::kValues));
    if (!state_.closes) {
      held_.push_back({.view = view, .text = text});
    }
    upkeeps_ = last == last_observed_ ? upkeeps_ + 1 : 0;
    last_observed_ = last;
    observations_.then.emplace(upkeeps_ == 0 ? std::to_string(last) : StrCat(last, ".", upkeeps_),
                               std::move(text));
    return absl::OkStatus();
  }

  // Time travel, to every snapshot that exists; the others are refused.
  absl::Status ObserveEverySnapshot() {
    const std::vector<SnapshotId> snapshots = model_.Snapshots();
    for (const SnapshotId snapshot : snapshots) {
      const std::string place = StrCat("at snapshot ", snapshot, " when all has run");
      absl::StatusOr<ReadView> view = catalog_.reading().At(snapshot);
      VARVE_RETURN_IF_ERROR(At(place, view.status()));
      VARVE_RETURN_IF_ERROR(At(
          place, CheckAgainstModel(*view, model_, /*with_history=*/false, &observations_.packs)));
      VARVE_ASSIGN_OR_RETURN(SnapshotText text, ReadSnapshot(*view, RowForm::kValues));
      observations_.now.emplace(std::to_string(snapshot), std::move(text));
    }
    for (SnapshotId id = 0; id <= std::min(snapshots.back() + 1, kMostIdsTried); ++id) {
      const bool exists = std::binary_search(snapshots.begin(), snapshots.end(), id);
      if (!exists && catalog_.reading().At(id).ok()) {
        return absl::InternalError(StrCat("a view at snapshot ", id, ", which does not exist"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadHeldViews() {
    for (const HeldView& held : held_) {
      VARVE_ASSIGN_OR_RETURN(const SnapshotText text, ReadSnapshot(held.view, RowForm::kValues));
      if (const std::string difference = FirstDifference(held.text, text); !difference.empty()) {
        return absl::InternalError(StrCat("the view taken at snapshot ", held.view.snapshot(),
                                          " and held shows another ", difference));
      }
    }
    return absl::OkStatus();
  }

  const StorageState& state_;
  OpenCatalog catalog_;
  Model model_;
  Observations observations_;
  SnapshotId last_observed_ = kNoEnd;
  int upkeeps_ = 0;
  std::vector<HeldView> held_;
};

}  // namespace

absl::StatusOr<Observations> RunScenario(const Scenario& scenario, const StorageState& state,
                                         const std::string& path) {
  return Run(state, path).Execute(scenario);
}

}  // namespace varve::golden
