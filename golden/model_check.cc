#include "golden/model_check.h"

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"

namespace varve::golden {
namespace {

absl::Status CheckScans(const ReadView& view, const Model& model, RowForm form,
                        PackCounts* counts) {
  VARVE_ASSIGN_OR_RETURN(const SnapshotText actual, ReadSnapshot(view, form, counts));
  const std::string difference = FirstDifference(ModelText(model, view.snapshot(), form), actual);
  const std::string_view what =
      form == RowForm::kWithoutInterval ? "scan without intervals of " : "scan of ";
  return difference.empty() ? absl::OkStatus() : absl::InternalError(StrCat(what, difference));
}

absl::Status CheckHistory(const ReadView& view, const Model& model) {
  SnapshotText actual;
  for (const RelationRef& relation : view.relations().relations()) {
    VARVE_ASSIGN_OR_RETURN(RelationText text, ReadRelation(view, relation, ScanRows::kAllVersions,
                                                           RowForm::kWithInterval));
    if (!text.rows.empty()) {
      actual.push_back(std::move(text));
    }
  }
  const std::string difference =
      FirstDifference(ModelText(model, std::nullopt, RowForm::kWithInterval), actual);
  return difference.empty() ? absl::OkStatus()
                            : absl::InternalError(StrCat("scan of all versions of ", difference));
}

bool SameRow(const ModelRow& expected, const VersionedRow& actual) {
  return expected.values == actual.values && expected.begin == actual.begin &&
         expected.end == actual.end;
}

std::string RowName(const RelationSchema& relation, const Row& row) {
  std::string name = StrCat(relation.name, " (");
  for (const size_t column : relation.handle) {
    StrAppend(&name, column == relation.handle.front() ? "" : ", ",
              ValueText(relation.columns.column(column).type, row[column]));
  }
  return name + ")";
}

// Looks up the handle of `row`; of equal keys any visible row will do.
absl::Status CheckGet(const ReadView& view, const RelationSchema& relation, const ModelRow& row,
                      const std::vector<ModelRow>& visible) {
  std::vector<Datum> key;
  for (const size_t column : relation.handle) {
    key.push_back(row.values[column]);
  }
  VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> found, view.Get(relation, key));
  const bool expected = std::any_of(visible.begin(), visible.end(), [&](const ModelRow& candidate) {
    return HasHandle(relation, candidate.values, key);
  });
  if (found.has_value() != expected) {
    return absl::InternalError(
        StrCat("Get of ", RowName(relation, row.values),
               expected ? " finds no row" : " finds a row that is not there"));
  }
  if (found.has_value() && std::none_of(visible.begin(), visible.end(), [&](const auto& candidate) {
        return SameRow(candidate, *found);
      })) {
    return absl::InternalError(StrCat("Get of ", RowName(relation, row.values), " at [",
                                      found->begin, ", ", found->end, ") finds another row"));
  }
  return absl::OkStatus();
}

absl::Status CheckGetByUnique(const ReadView& view, const RelationSchema& relation,
                              const ModelRow& row, const std::vector<ModelRow>& visible) {
  const int64_t id = row.values[*relation.unique_column].int64_value();
  VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> found, view.GetByUnique(relation, id));
  const auto expected =
      std::find_if(visible.begin(), visible.end(), [&](const ModelRow& candidate) {
        return candidate.values[*relation.unique_column].int64_value() == id;
      });
  const bool same = found.has_value() == (expected != visible.end()) &&
                    (!found.has_value() || SameRow(*expected, *found));
  return same ? absl::OkStatus()
              : absl::InternalError(StrCat("GetByUnique of ", relation.name, " ", id,
                                           " does not find what is there"));
}

absl::Status CheckPointReads(const ReadView& view, const Model& model) {
  for (const ModelRelation& relation : model.relations()) {
    if (relation.schema->handle.empty()) {
      continue;
    }
    const std::vector<ModelRow> visible = model.Visible(relation, view.snapshot());
    for (const auto& [number, row] : relation.rows) {
      VARVE_RETURN_IF_ERROR(CheckGet(view, *relation.schema, row, visible));
      if (relation.schema->unique_column.has_value()) {
        VARVE_RETURN_IF_ERROR(CheckGetByUnique(view, *relation.schema, row, visible));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckAgainstModel(const ReadView& view, const Model& model, bool with_history,
                               PackCounts* counts) {
  VARVE_RETURN_IF_ERROR(CheckScans(view, model, RowForm::kWithInterval, counts));
  VARVE_RETURN_IF_ERROR(CheckScans(view, model, RowForm::kWithoutInterval, counts));
  VARVE_RETURN_IF_ERROR(CheckPointReads(view, model));
  return with_history ? CheckHistory(view, model) : absl::OkStatus();
}

}  // namespace varve::golden
