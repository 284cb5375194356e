#include "tests/catalog/transaction_script.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/transaction/transaction.h"
#include "tests/catalog/lake_operation.h"
#include "tests/catalog/row_text.h"

namespace varve {
namespace {

constexpr int64_t kTable = 1;  // the first id there is
constexpr int64_t kRecords = 10;

class Script {
 public:
  Script(Transaction* transaction, size_t step) : transaction_(*transaction), step_(step) {}

  absl::Status Run() {
    if (step_ == 1) {
      return MakeTable();
    }
    switch (step_ % 8) {
      case 1: return InsertRows();
      case 2: return RegisterTwoAndTag();
      case 3: return transaction_.RenameTable(kTable, StrCat("t", step_));
      case 4: return Register({NewFile("c")});
      case 5: return MergeNewFiles();
      case 6: return DeleteFromAFile();
      case 7: return AddColumn();
      default: return step_ % 16 == 0 ? Flush() : EndAFile();
    }
  }

 private:
  std::string Path(std::string_view name) const { return StrCat(name, step_, ".parquet"); }

  DataFile NewFile(std::string_view name) const {
    return {.path = Path(name),
            .record_count = kRecords,
            .file_size_bytes = 1000,
            .footer_size = 50,
            .columns = {{.column_id = 1,
                         .value_count = kRecords,
                         .null_count = 0,
                         .min_value = StrCat(step_),
                         .max_value = StrCat(step_ * 10)}}};
  }

  absl::Status MakeTable() {
    const ColumnDefinition column = {.name = "a", .type = "int64"};
    return transaction_
        .CreateTable(0, "t", {&column, 1}, {.uuid = "00000000-0000-4000-8000-000000000007"})
        .status();
  }

  absl::Status Register(const std::vector<DataFile>& files) {
    return transaction_.RegisterDataFiles(kTable, files).status();
  }

  absl::Status RegisterTwoAndTag() {
    VARVE_RETURN_IF_ERROR(Register({NewFile("a"), NewFile("b")}));
    return transaction_.SetTag(kTable, "comment", StrCat("files of step ", step_));
  }

  absl::Status AddColumn() {
    const ColumnDefinition column = {.name = StrCat("c", step_), .type = "varchar"};
    return transaction_.AddColumn(kTable, column).status();
  }

  std::vector<LakeRow> Files() const {
    return ReadRows(transaction_, BuiltinRelationById(kDataFile));
  }

  // Those of the last three steps.
  absl::Status MergeNewFiles() {
    std::vector<int64_t> ids;
    for (const LakeRow& file : Files()) {
      if (NumberOf(file, "begin_snapshot") + 3 >= static_cast<int64_t>(step_)) {
        ids.push_back(NumberOf(file, "data_file_id"));
      }
    }
    DataFile merged = NewFile("merged");
    merged.columns.clear();
    merged.record_count = kRecords * static_cast<int64_t>(ids.size());
    return transaction_.MergeFiles(kTable, ids, merged).status();
  }

  absl::Status DeleteFromAFile() {
    const DeleteFile deletes = {.data_file_id = NumberOf(Files().back(), "data_file_id"),
                                .path = Path("deletes"),
                                .delete_count = 2,
                                .file_size_bytes = 100,
                                .footer_size = 10};
    return transaction_.RegisterDeleteFiles(kTable, {&deletes, 1}).status();
  }

  absl::Status EndAFile() {
    const int64_t id = NumberOf(Files().front(), "data_file_id");
    return transaction_.EndDataFiles(kTable, {&id, 1});
  }

  absl::Status InsertRows() {
    size_t columns = 0;
    for (const LakeRow& column : ReadRows(transaction_, BuiltinRelationById(kColumn))) {
      columns += NumberOf(column, "table_id") == kTable ? 1 : 0;
    }
    std::vector<NullableText> row(columns);
    row[0] = StrCat(step_);
    const std::vector<std::vector<NullableText>> rows = {row, row};
    return transaction_.InsertInlined(kTable, rows).status();
  }

  absl::Status Flush() {
    constexpr int64_t kInserted = 2;
    DataFile file = NewFile("flushed");
    file.record_count = kInserted;
    file.columns.clear();
    return transaction_.FlushInlined(kTable, file, std::nullopt).status();
  }

  Transaction& transaction_;
  const size_t step_;
};

}  // namespace

absl::Status CommitScriptedTransaction(Catalog* catalog, size_t step, std::string_view message) {
  VARVE_ASSIGN_OR_RETURN(Transaction transaction,
                         catalog->Begin({.time = SnapshotTime(static_cast<int64_t>(step))}));
  VARVE_RETURN_IF_ERROR(Script(&transaction, step).Run());
  return transaction.Commit({.message = std::string(message)}).status();
}

}  // namespace varve
