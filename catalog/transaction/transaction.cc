#include "catalog/transaction/transaction.h"

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/catalog.h"
#include "catalog/store/commit_queue.h"
#include "catalog/transaction/transaction_scan.h"
#include "catalog/transaction/transaction_state.h"

namespace varve {
namespace {

absl::Status Ended() {
  return absl::FailedPreconditionError("the transaction has ended; begin a new one");
}

absl::Status CheckText(std::string_view what, const NullableText& text) {
  if (!text.has_value()) {
    return absl::OkStatus();
  }
  if (text->find('\0') != std::string::npos) {
    return absl::InvalidArgumentError(
        StrCat("the ", what, " of the commit holds a NUL character; leave it out"));
  }
  if (!IsValidUtf8(*text)) {
    return absl::InvalidArgumentError(StrCat("the ", what, " of the commit is no valid UTF-8"));
  }
  return absl::OkStatus();
}

// The statistics of tables as the transaction leaves them, as rows over its base.
absl::StatusOr<TransactionRows> WithStatistics(const Transaction::State& state) {
  TransactionRows rows(state.rows.base());
  const RelationRef tables = rows.relation(kTableStats);
  const RelationRef columns = rows.relation(kTableColumnStats);
  const auto current = [&](const RelationRef& relation,
                           std::span<const Datum> key) -> absl::StatusOr<std::optional<Row>> {
    VARVE_ASSIGN_OR_RETURN(std::optional<VersionedRow> row, rows.Get(relation, key));
    return row.has_value() ? std::optional(std::move(row->values)) : std::nullopt;
  };
  for (const auto& [table_id, delta] : state.statistics) {
    const std::array<Datum, 1> table_key = {Datum::Int64(table_id)};
    VARVE_ASSIGN_OR_RETURN(const std::optional<Row> table, current(tables, table_key));
    VARVE_RETURN_IF_ERROR(rows.Put(tables, ApplyToTableStats(table_id, table, delta)));
    for (const auto& [column_id, column] : delta.columns) {
      const std::array<Datum, 2> key = {Datum::Int64(table_id), Datum::Int64(column_id)};
      VARVE_ASSIGN_OR_RETURN(const std::optional<Row> old, current(columns, key));
      VARVE_ASSIGN_OR_RETURN(Row widened, ApplyToColumnStats(table_id, column_id, old, column));
      VARVE_RETURN_IF_ERROR(rows.Put(columns, std::move(widened)));
    }
  }
  return rows;
}

bool IsStatistics(RelationId relation) {
  return relation == kTableStats || relation == kTableColumnStats;
}

// A scan of rows made for it.
class OwningScan : public RowScan {
 public:
  explicit OwningScan(TransactionRows rows) : rows_(std::move(rows)) {}
  absl::Status Open(const RelationRef& relation, const ScanOptions& options) {
    VARVE_ASSIGN_OR_RETURN(scan_, rows_.Scan(relation, options));
    return absl::OkStatus();
  }
  absl::StatusOr<bool> Next(ScanBatch* batch) override { return scan_->Next(batch); }
  const ScanStats& stats() const override { return scan_->stats(); }

 private:
  TransactionRows rows_;
  std::unique_ptr<RowScan> scan_;
};

}  // namespace

const RelationRef& Transaction::State::relation(RelationId id) const {
  return rows.base().relations().relations()[id - 1];  // built-in ones come first, by id
}

int64_t Transaction::State::NewRowIds(int64_t table_id, int64_t count) {
  TableStatisticsDelta& delta = statistics[table_id];
  const int64_t first = kFirstProvisionalRowId + delta.row_ids;
  delta.row_ids += count;
  return first;
}

absl::Status RunOperation(Transaction::State* state, const std::function<absl::Status()>& work) {
  if (state == nullptr || !state->open) {
    return Ended();
  }
  state->Mark();
  absl::Status status = work();
  if (status.ok()) {
    state->Keep();
  } else {
    state->Rollback();
  }
  return status;
}

void Transaction::State::Mark() {
  rows.Mark();
  footprint.Mark();
  statistics.Mark();
  altered_tables.Mark();
  dropped_tables.Mark();
  dropped_views.Mark();
  inlined_relations.Mark();
  catalog_ids_at_mark = new_catalog_ids;
  file_ids_at_mark = new_file_ids;
}

void Transaction::State::Rollback() {
  rows.Rollback();
  footprint.Rollback();
  statistics.Rollback();
  altered_tables.Rollback();
  dropped_tables.Rollback();
  dropped_views.Rollback();
  inlined_relations.Rollback();
  new_catalog_ids = catalog_ids_at_mark;
  new_file_ids = file_ids_at_mark;
}

void Transaction::State::Keep() {
  rows.Forget();
  footprint.Keep();
}

Transaction::Transaction(std::unique_ptr<State> state) : state_(std::move(state)) {}
Transaction::Transaction(Transaction&&) noexcept = default;
Transaction& Transaction::operator=(Transaction&&) noexcept = default;
Transaction::~Transaction() = default;

const ReadView& Transaction::base() const {
  return state_->rows.base();
}
bool Transaction::is_open() const {
  return state_ != nullptr && state_->open;
}

absl::StatusOr<std::optional<VersionedRow>> Transaction::Get(const RelationSchema& relation,
                                                             std::span<const Datum> key) const {
  if (!is_open()) {
    return Ended();
  }
  const RelationRef found = state_->rows.FindRelation(relation.name);
  if (found != nullptr && IsStatistics(found->id)) {
    VARVE_ASSIGN_OR_RETURN(const TransactionRows rows, WithStatistics(*state_));
    return rows.Get(found, key);
  }
  return state_->rows.Get(found, key);
}

absl::StatusOr<std::unique_ptr<RowScan>> Transaction::Scan(const RelationRef& relation,
                                                           const ScanOptions& options) const {
  if (!is_open()) {
    return Ended();
  }
  if (!IsStatistics(relation->id)) {
    return state_->rows.Scan(relation, options);
  }
  VARVE_ASSIGN_OR_RETURN(TransactionRows rows, WithStatistics(*state_));
  auto scan = std::make_unique<OwningScan>(std::move(rows));
  VARVE_RETURN_IF_ERROR(scan->Open(relation, options));
  return scan;
}

RelationRef Transaction::FindRelation(std::string_view name) const {
  return is_open() ? state_->rows.FindRelation(name) : nullptr;
}

void Transaction::Abort() {
  if (state_ != nullptr) {
    state_->open = false;
    state_->registration.reset();
    state_->restored_from.clear();
  }
}

absl::StatusOr<CommitResult> Transaction::Commit(const CommitMessage& message) {
  if (!is_open()) {
    return Ended();
  }
  VARVE_RETURN_IF_ERROR(CheckText("author", message.author));
  VARVE_RETURN_IF_ERROR(CheckText("message", message.message));
  VARVE_RETURN_IF_ERROR(CheckText("extra info", message.extra_info));
  State& state = *state_;
  CommitResult result{.snapshot = base().last_snapshot(), .csn = base().csn()};
  absl::Status status;
  if (!state.rows.empty() || !state.footprint.get().empty() || !state.statistics.empty()) {
    // What reads more than the handles it writes needs the base to be the whole truth: dropping
    // what others have added meanwhile, the uniqueness of names.
    const bool reads_widely = state.footprint.get().ChangesSchema() ||
                              !state.dropped_tables.empty() ||
                              !state.rows.dynamic().dropped.empty();
    const auto prepare = [&](varve::Commit& commit) -> absl::Status {
      VARVE_ASSIGN_OR_RETURN(result, PrepareTransaction(&state, message, &commit));
      return absl::OkStatus();
    };
    status = state.catalog->Commit({.prepare = prepare, .reads_widely = reads_widely});
  }
  Abort();
  VARVE_RETURN_IF_ERROR(status);
  return result;
}

absl::StatusOr<CommitResult> RunInTransaction(Catalog* catalog,
                                              const std::function<absl::Status(Transaction&)>& work,
                                              const CommitMessage& message,
                                              const RetryPolicy& policy) {
  std::minstd_rand random(std::random_device{}());
  absl::Duration wait = policy.first_wait;
  for (int retry = 0;; ++retry) {
    VARVE_ASSIGN_OR_RETURN(Transaction transaction, catalog->Begin());
    VARVE_RETURN_IF_ERROR(work(transaction));
    absl::StatusOr<CommitResult> result = transaction.Commit(message);
    if (!absl::IsAborted(result.status()) || retry >= policy.max_retries) {
      return result;
    }
    const double share = std::uniform_real_distribution<double>(0.5, 1.0)(random);
    std::this_thread::sleep_for(absl::ToChronoNanoseconds(std::min(wait, policy.max_wait) * share));
    wait *= policy.factor;
  }
}

}  // namespace varve
