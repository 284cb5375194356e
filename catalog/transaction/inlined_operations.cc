// Inlined rows, and inlined deletes of rows of data files.

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/transaction/bounds_collector.h"
#include "catalog/transaction/column_rules.h"
#include "catalog/transaction/files.h"
#include "catalog/transaction/inlined_relations.h"
#include "catalog/transaction/table_shape.h"
#include "catalog/transaction/transaction_state.h"

namespace varve {
namespace {

// --- Rows ---

// Writes inlined rows of one table and collects their bounds.
class InlinedWriter {
 public:
  static absl::StatusOr<InlinedWriter> Open(Transaction::State* state, int64_t table_id) {
    InlinedWriter writer(state, table_id);
    VARVE_ASSIGN_OR_RETURN(writer.shape_, state->catalog->shapes().Get(*state, table_id));
    VARVE_ASSIGN_OR_RETURN(writer.relation_,
                           RelationForInlinedRows(state, table_id, writer.shape_->columns));
    writer.top_ = writer.shape_->columns.ChildrenOf(std::nullopt);
    for (const TableColumn* const column : writer.top_) {
      writer.bounds_.emplace_back(TypeOfColumn(column->type));
    }
    return writer;
  }

  const LiveObject& table() const { return shape_->table; }

  // `values` are borrowed until Finish.
  absl::Status Insert(int64_t row_id, const std::vector<NullableText>& values) {
    if (values.size() != top_.size()) {
      return absl::InvalidArgumentError(
          StrCat("a row has ", values.size(), " values, the table ", top_.size(), " columns"));
    }
    Row row(relation_->columns.num_columns());
    row.SetBorrowed(relation_->handle[0], Datum::Int64(row_id));
    for (size_t i = 0; i < top_.size(); ++i) {
      const absl::Status status = SetValue(i, values[i], &row);
      if (!status.ok()) {
        return Within(StrCat("column ", shape_->columns.PathText(top_[i]->id)), status);
      }
    }
    return state_->rows.Insert(relation_, std::move(row));
  }

  absl::Status Finish() {
    for (size_t i = 0; i < top_.size(); ++i) {
      if (!bounds_[i].empty()) {
        VARVE_RETURN_IF_ERROR(AddBounds(top_[i]->id, bounds_[i].type(), bounds_[i].Take(),
                                        &state_->statistics[table_id_]));
      }
    }
    return absl::OkStatus();
  }

 private:
  InlinedWriter(Transaction::State* state, int64_t table_id) : state_(state), table_id_(table_id) {}

  absl::Status SetValue(size_t i, const NullableText& text, Row* row) {
    const TableColumn& column = *top_[i];
    const size_t position = i + kInlinedSystemColumns;
    Datum value;
    if (text.has_value()) {
      const Type& type = relation_->columns.column(position).type;
      if (type.physical() == PhysicalType::kBytes && type.kind() != TypeKind::kBlob) {
        VARVE_RETURN_IF_ERROR(CheckText("the value", *text));
      }
      VARVE_RETURN_IF_ERROR(ParseDatum(type, *text, BlobText::kHex, &scratch_, &value));
      row->Set(position, value);
      VARVE_RETURN_IF_ERROR(Collect(column, type, *text, value, &bounds_[i]));
    } else if (!column.nullable) {
      return absl::InvalidArgumentError("the value is NULL; the column allows none");
    } else {
      CollectNull(column, &bounds_[i]);
    }
    return absl::OkStatus();
  }

  static bool IsFloat(const BoundsCollector& bounds) {
    return bounds.type().physical() == PhysicalType::kFloat64;
  }

  static void CollectNull(const TableColumn& column, BoundsCollector* bounds) {
    if (!IsNestedType(column.type)) {
      bounds->Add({.contains_null = true,
                   .contains_nan = IsFloat(*bounds) ? std::optional(false) : std::nullopt,
                   .has_values = false});
    }
  }

  // NaN is no bound: contains_nan says that there is one.
  static absl::Status Collect(const TableColumn& column, const Type& type, std::string_view text,
                              const Datum& value, BoundsCollector* bounds) {
    if (IsNestedType(column.type)) {
      return absl::OkStatus();
    }
    BoundsCollector::Added added = {.contains_null = false};
    BoundsCollector::Bound bound = {.text = text, .value = value};
    std::string scratch;
    if (!(type == bounds->type())) {  // an imported relation keeps the column as something else
      VARVE_RETURN_IF_ERROR(
          ParseDatum(bounds->type(), text, BlobText::kHex, &scratch, &bound.value));
    }
    if (IsFloat(*bounds)) {
      added.contains_nan = std::isnan(bound.value.float64_value());
      added.has_values = !*added.contains_nan;
    }
    if (added.has_values && HasBounds(column.type)) {
      added.min_value = bound;
      added.max_value = bound;
    }
    bounds->Add(added);
    return absl::OkStatus();
  }

  Transaction::State* state_;
  int64_t table_id_;
  std::shared_ptr<const TableShape> shape_;
  RelationRef relation_;
  std::vector<const TableColumn*> top_;
  std::vector<BoundsCollector> bounds_;
  std::string scratch_;
};

Action OnInlinedRows(const LiveObject& table, Operation operation) {
  Action action = ActionOn(table, operation);
  action.files = {kInlinedRows};
  return action;
}

absl::StatusOr<int64_t> InsertRows(Transaction::State* state, int64_t table_id,
                                   std::span<const std::vector<NullableText>> rows) {
  if (rows.empty()) {
    return absl::InvalidArgumentError("there are no rows to insert");
  }
  VARVE_ASSIGN_OR_RETURN(InlinedWriter writer, InlinedWriter::Open(state, table_id));
  const LiveObject& table = writer.table();
  const auto count = static_cast<int64_t>(rows.size());
  VARVE_ASSIGN_OR_RETURN(const int64_t first, TakeRowIds(state, table_id, count));
  for (size_t i = 0; i < rows.size(); ++i) {
    const absl::Status status = writer.Insert(first + static_cast<int64_t>(i), rows[i]);
    if (!status.ok()) {
      return Within(StrCat(ObjectText(table), ", row ", i + 1, " of ", rows.size()), status);
    }
  }
  VARVE_RETURN_IF_ERROR(writer.Finish());
  CountRows(state, table_id, count, 0);
  state->footprint.Add(ActionOn(table, Operation::kInlinedInsert));
  return first;
}

// Ends a live inlined row, in whichever relation of the table it is.
absl::Status EndRow(Transaction::State* state, const LiveObject& table,
                    const std::vector<RelationRef>& relations, int64_t row_id) {
  const Datum key[] = {Datum::Int64(row_id)};
  for (const RelationRef& relation : relations) {
    VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> row, state->rows.Get(relation, key));
    if (row.has_value()) {
      return state->rows.End(relation, key);
    }
  }
  return absl::NotFoundError(StrCat(ObjectText(table), " has no inlined row ", row_id));
}

absl::Status DeleteRows(Transaction::State* state, int64_t table_id,
                        std::span<const int64_t> row_ids) {
  VARVE_ASSIGN_OR_RETURN(const LiveObject table, FindLive(*state, kTable, table_id));
  VARVE_ASSIGN_OR_RETURN(const std::vector<RelationRef> relations,
                         InlinedRelationsOf(*state, table_id));
  for (const int64_t row_id : row_ids) {
    VARVE_RETURN_IF_ERROR(EndRow(state, table, relations, row_id));
  }
  if (!row_ids.empty()) {
    state->footprint.Add(OnInlinedRows(table, Operation::kInlinedDelete));
  }
  return absl::OkStatus();
}

absl::Status UpdateRow(Transaction::State* state, int64_t table_id, int64_t row_id,
                       const std::vector<NullableText>& values) {
  VARVE_ASSIGN_OR_RETURN(const LiveObject table, FindLive(*state, kTable, table_id));
  VARVE_ASSIGN_OR_RETURN(const std::vector<RelationRef> relations,
                         InlinedRelationsOf(*state, table_id));
  VARVE_RETURN_IF_ERROR(EndRow(state, table, relations, row_id));
  VARVE_ASSIGN_OR_RETURN(InlinedWriter writer, InlinedWriter::Open(state, table_id));
  if (const absl::Status status = writer.Insert(row_id, values); !status.ok()) {
    return Within(StrCat(ObjectText(table), ", row ", row_id), status);
  }
  VARVE_RETURN_IF_ERROR(writer.Finish());
  state->footprint.Add(ActionOn(table, Operation::kInlinedInsert));
  state->footprint.Add(OnInlinedRows(table, Operation::kInlinedDelete));
  return absl::OkStatus();
}

// --- Deletes of rows of data files ---

absl::Status DeleteInFile(Transaction::State* state, int64_t table_id, int64_t file_id,
                          std::span<const int64_t> row_ids) {
  VARVE_ASSIGN_OR_RETURN(const LiveObject table, FindLive(*state, kTable, table_id));
  if (IsProvisional(file_id)) {
    return absl::FailedPreconditionError(
        "a data file that the transaction registered itself has no inlined deletes; leave the rows "
        "out of the file, or register a delete file for it");
  }
  VARVE_ASSIGN_OR_RETURN(const VersionedRow file, FindDataFile(*state, table, file_id));
  const int64_t records =
      IdOf(*state->relation(kDataFile), file.values, "record_count").value_or(0);
  if (row_ids.empty()) {
    return absl::OkStatus();
  }
  VARVE_ASSIGN_OR_RETURN(const RelationRef relation, RelationForInlinedDeletes(state, table_id));
  for (const int64_t row_id : row_ids) {
    if (row_id < 0 || row_id >= records) {
      return absl::InvalidArgumentError(StrCat("data file ", file_id, " has no row ", row_id,
                                               ": its rows are 0 to ", records - 1));
    }
    const Datum key[] = {Datum::Int64(file_id), Datum::Int64(row_id)};
    VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> deleted,
                           state->rows.Get(relation, key));
    if (deleted.has_value()) {
      return absl::AlreadyExistsError(
          StrCat("row ", row_id, " of data file ", file_id, " is deleted already"));
    }
    Row row(relation->columns.num_columns());
    row.Set(relation->handle[0], key[0]);
    row.Set(relation->handle[1], key[1]);
    VARVE_RETURN_IF_ERROR(state->rows.Insert(relation, std::move(row)));
  }
  Action action = ActionOn(table, Operation::kInlinedDelete);
  action.files = {file_id};
  state->footprint.Add(std::move(action));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> Transaction::InsertInlined(
    int64_t table_id, std::span<const std::vector<NullableText>> rows) {
  absl::StatusOr<int64_t> first;
  VARVE_RETURN_IF_ERROR(RunOperation(state_.get(), [&] {
    first = InsertRows(state_.get(), table_id, rows);
    return first.status();
  }));
  return first;
}

absl::Status Transaction::DeleteInlined(int64_t table_id, std::span<const int64_t> row_ids) {
  return RunOperation(state_.get(), [&] { return DeleteRows(state_.get(), table_id, row_ids); });
}

absl::Status Transaction::UpdateInlined(int64_t table_id, int64_t row_id,
                                        const std::vector<NullableText>& values) {
  return RunOperation(state_.get(),
                      [&] { return UpdateRow(state_.get(), table_id, row_id, values); });
}

absl::Status Transaction::DeleteFromFile(int64_t table_id, int64_t data_file_id,
                                         std::span<const int64_t> row_ids) {
  return RunOperation(state_.get(),
                      [&] { return DeleteInFile(state_.get(), table_id, data_file_id, row_ids); });
}

}  // namespace varve
