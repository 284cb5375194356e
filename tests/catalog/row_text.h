// A small text language for catalog tests: rows, keys and change sets as lines a person can read.
//
//   row      values in column order, separated by |; - is NULL; '…' is text taken as it stands;
//            values missing at the end are NULL:            1 | - | 5 | - | 0 | people
//   key      the handle columns' values in key order:       1 | 7
//   changes  one change a line; # begins a remark:
//              snapshot 5                       the row of snapshot 5, five seconds after
//              SnapshotTime(0) insert RELATION row put RELATION row end RELATION key @ END erase
//              RELATION key @ BEGIN create NAME column type, …       a dynamic relation; "; key c,
//              d" may follow drop NAME
//
// Text that does not read fails the running test.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/row.h"
#include "catalog/catalog.h"
#include "catalog/change_set.h"
#include "catalog/read_view.h"
#include "catalog/relation.h"

namespace varve {

Row RowOf(const RelationSchema& relation, std::string_view text);
Row KeyOf(const RelationSchema& relation, std::string_view text);
ChangeSet ChangesOf(const RelationDirectory& directory, std::string_view text);

// A dynamic relation, as after "create".
RelationSchema DynamicOf(std::string_view text);

// A value, a row and an interval in the same language: "1 | - | people", "[3, 5)", "[3, …)".
std::string ValueText(const Type& type, const Datum& value);
std::string RowText(const RelationSchema& relation, std::span<const Datum> row);
std::string IntervalText(SnapshotId begin, SnapshotId end);

// The rows a scan gives, each as text; with their intervals, as "row @ [b, e)", when all versions
// are asked for. An error is one line, "error: …".
std::vector<std::string> ScanTexts(const ReadView& view, std::string_view relation,
                                   ScanOptions options = {});

// What Get and Versions give, as text: "" for no row.
std::string GetText(const ReadView& view, std::string_view relation, std::string_view key);
std::vector<std::string> VersionTexts(const ReadView& view, std::string_view relation,
                                      std::string_view key);

// 2026-01-01 00:00:00 UTC and as many seconds.
absl::Time SnapshotTime(int64_t snapshot);

}  // namespace varve
