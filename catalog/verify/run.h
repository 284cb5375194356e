// What the parts of Verify share: the view, the snapshots that exist, where findings go, and rows
// as the checks want to read them.
//
// Thread-safety: one thread. Ownership: borrows the view and the callbacks for the time of one run.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "catalog/read_view.h"
#include "catalog/verify/rules.h"
#include "catalog/verify/snapshot_axis.h"
#include "catalog/verify/verify.h"

namespace varve {

class VerifyRun {
 public:
  VerifyRun(const ReadView& view, const VerifyOptions& options,
            const std::function<void(const Finding&)>& report)
      : view_(view), options_(options), report_(report) {}
  VerifyRun(const VerifyRun&) = delete;
  VerifyRun& operator=(const VerifyRun&) = delete;

  const ReadView& view() const { return view_; }
  const VerifySummary& summary() const { return summary_; }

  const SnapshotAxis& axis() const { return axis_; }
  void set_axis(SnapshotAxis axis) { axis_ = std::move(axis); }

  void Report(Rule rule, std::string_view relation, std::string_view key, std::string message) {
    ReportAs(InfoOf(rule).severity, rule, relation, key, std::move(message));
  }
  void ReportAs(Severity severity, Rule rule, std::string_view relation, std::string_view key,
                std::string message);

  void CountRow();

  // A relation whose rows cannot all be read: checks that need it would take missing rows for
  // missing objects, and are left out.
  void MarkDamaged(RelationId relation) { damaged_.insert(relation); }
  bool IsDamaged(RelationId relation) const { return damaged_.contains(relation); }
  bool AnyDamaged(std::initializer_list<RelationId> relations) const;

 private:
  const ReadView& view_;
  const VerifyOptions& options_;
  const std::function<void(const Finding&)>& report_;
  VerifySummary summary_;
  SnapshotAxis axis_;
  absl::flat_hash_set<RelationId> damaged_;
};

// The rows of a relation, every version of them, one at a time in (handle, begin) order.
class RowCursor {
 public:
  // `columns` are read by their place in this list. Requires: the relation has them all.
  static absl::StatusOr<RowCursor> Open(const ReadView& view, RelationRef relation,
                                        std::initializer_list<std::string_view> columns);

  bool valid() const { return valid_; }
  absl::Status Next();

  std::optional<int64_t> Int(size_t i) const;
  std::optional<std::string_view> Text(size_t i) const;  // valid until Next
  std::optional<bool> Bool(size_t i) const;
  SnapshotId begin() const { return batch_.begins[row_]; }
  SnapshotId end() const { return batch_.ends[row_]; }
  Lifetime lifetime() const { return {begin(), end()}; }
  bool is_live() const { return IsCurrent(end()); }
  // "table_id=4 column_id=7"
  std::string Key() const;
  const std::string& relation_name() const { return relation_->name; }

 private:
  explicit RowCursor(RelationRef relation) : relation_(std::move(relation)) {}

  RelationRef relation_;
  std::unique_ptr<RowScan> scan_;
  ScanBatch batch_;
  size_t row_ = 0;
  bool valid_ = false;
};

// Whether any version of a row has this id in the relation's unique column, by the index.
absl::StatusOr<bool> UniqueIdExists(const VerifyRun& run, const RelationSchema& relation,
                                    int64_t id);

// Opens a built-in relation as the catalog has it.
absl::StatusOr<RowCursor> OpenBuiltin(const VerifyRun& run, RelationId relation,
                                      std::initializer_list<std::string_view> columns);

}  // namespace varve
