// Writes to a catalog: makes a table, registers data files with their statistics, deletes some
// rows, and reads the table's files as they stood before.
//
//   write_catalog PATH          PATH: where the new catalog shall be

#include <array>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/catalog.h"
#include "catalog/inspect/row_reader.h"
#include "catalog/transaction/transaction.h"

namespace {

using varve::Catalog;
using varve::ColumnDefinition;
using varve::CommitResult;
using varve::DataFile;
using varve::DeleteFile;
using varve::ReadView;
using varve::StrCat;
using varve::Transaction;

// A file of 1,000 events, as whoever wrote it to the lake describes it.
DataFile EventsOfHour(int64_t number) {
  const int64_t first_id = number * 1'000;
  return {.path = StrCat("events-", number, ".parquet"),
          .record_count = 1'000,
          .file_size_bytes = 18'000,
          .footer_size = 600,
          .columns = {{.column_id = 1,
                       .value_count = 1'000,
                       .null_count = 0,
                       .min_value = StrCat(first_id),
                       .max_value = StrCat(first_id + 999)},
                      {.column_id = 2, .value_count = 1'000, .null_count = 17}}};
}

absl::Status PrintFiles(const ReadView& view) {
  std::cout << "data files at snapshot " << view.snapshot() << ":\n";
  return varve::ForEachRow(view, varve::kDataFile, {"data_file_id", "path", "row_id_start"}, {},
                           [](const varve::RowReader& row) {
                             std::cout << "  " << row.Int(0) << "  " << row.Text(1)
                                       << "  rows from " << row.Int(2) << "\n";
                           });
}

absl::Status Run(const std::string& path) {
  VARVE_RETURN_IF_ERROR(Catalog::Init(path, {.data_path = "/lake/"}));
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, Catalog::Open(path));

  // One transaction, one snapshot: the table is there with its first files, or not at all. What it
  // returns is provisional until the commit says what became of it.
  VARVE_ASSIGN_OR_RETURN(Transaction transaction, catalog->Begin());
  VARVE_ASSIGN_OR_RETURN(const int64_t schema, transaction.FindSchema("main"));
  const std::vector<ColumnDefinition> columns = {{.name = "id", .type = "int64", .nullable = false},
                                                 {.name = "what", .type = "varchar"}};
  VARVE_ASSIGN_OR_RETURN(const int64_t table, transaction.CreateTable(schema, "events", columns));
  VARVE_RETURN_IF_ERROR(
      transaction.RegisterDataFiles(table, std::array{EventsOfHour(0), EventsOfHour(1)}).status());
  VARVE_ASSIGN_OR_RETURN(const CommitResult created,
                         transaction.Commit({.author = "example", .message = "first files"}));

  // Begun again by itself after a conflict.
  int64_t deleted_from = 0;
  VARVE_ASSIGN_OR_RETURN(
      const CommitResult changed,
      varve::RunInTransaction(
          catalog.get(),
          [&](Transaction& again) -> absl::Status {
            const int64_t events = created.Resolve(table);
            VARVE_RETURN_IF_ERROR(
                again.RegisterDataFiles(events, std::array{EventsOfHour(2)}).status());
            VARVE_RETURN_IF_ERROR(varve::ForEachRow(
                again.base(), varve::kDataFile, {"data_file_id", "path"}, {},
                [&](const varve::RowReader& row) {
                  deleted_from = row.Text(1) == "events-0.parquet" ? row.Int(0) : deleted_from;
                }));
            const DeleteFile deletes = {.data_file_id = deleted_from,
                                        .path = "events-0-deletes.parquet",
                                        .delete_count = 3,
                                        .file_size_bytes = 400};
            return again.RegisterDeleteFiles(events, std::array{deletes}).status();
          },
          {.author = "example", .message = "an hour more, three events less"}));

  VARVE_RETURN_IF_ERROR(PrintFiles(catalog->Current()));
  VARVE_ASSIGN_OR_RETURN(const ReadView before, catalog->At(created.snapshot));
  VARVE_RETURN_IF_ERROR(PrintFiles(before));
  std::cout << "snapshots " << created.snapshot << " and " << changed.snapshot
            << " made; rows were deleted from file " << deleted_from << "\n";
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_catalog PATH\n";
    return 2;
  }
  const absl::Status status = Run(argv[1]);
  if (!status.ok()) {
    std::cerr << "write_catalog: " << status.message() << "\n";
    return 1;
  }
  return 0;
}
