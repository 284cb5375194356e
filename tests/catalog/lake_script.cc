#include "tests/catalog/lake_script.h"

#include <utility>

#include "base/strings.h"
#include "tests/catalog/row_text.h"

namespace varve {
namespace {

constexpr std::string_view kTableUuid = "00000000-0000-4000-8000-000000000007";

std::string TimeText(size_t step) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S+00", SnapshotTime(static_cast<int64_t>(step)),
                          absl::UTCTimeZone());
}

}  // namespace

LakeScript::LakeScript(size_t steps) {
  for (size_t step = 1; step <= steps; ++step) {
    steps_.push_back(Make(step));
  }
}

std::string LakeScript::Text(size_t step, std::string_view message) const {
  const Step& parts = steps_[step - 1];
  return StrCat(parts.head, message, "\n", parts.changes);
}

absl::Status LakeScript::Commit(Catalog* catalog, size_t step, std::string_view message) const {
  return catalog->Apply(ChangesOf(catalog->Current().relations(), Text(step, message)));
}

LakeScript::Step LakeScript::Make(size_t step) {
  std::string what;
  std::string changes;
  if (step == 1) {
    what = "created_table:\"main\".\"t\"";
    ++schema_version_;
    StrAppend(&changes, "insert table 1 | ", kTableUuid, " | 1 | - | 0 | t | t/ | true\n",
              "insert column 1 | 1 | - | 1 | 0 | a | int64 | - | - | true\n",
              "insert schema_versions 1 | 1 | 1\n");
  } else if (step % 6 == 2) {
    what = "altered_table:1";
    ++schema_version_;
    StrAppend(&changes, "end table 1 @ ", step, "\ninsert table 1 | ", kTableUuid, " | ", step,
              " | - | 0 | t", step, " | t/ | true\ninsert schema_versions ", step, " | ",
              schema_version_, " | 1\n");
  } else if (step % 6 == 4 && first_file_ < next_file_) {
    what = "deleted_from_table:1";
    StrAppend(&changes, "end data_file 1 | ", first_file_++, " @ ", step, "\n");
  } else if (step % 6 == 5) {
    what = "inlined_insert:1";
    AddInlinedRow(step, &changes);
  } else {
    what = "inserted_into_table:1";
    AddFile(step, &changes);
  }
  if (step % 8 == 7) {
    const size_t expired = step - 3;
    StrAppend(&changes, "erase snapshot ", expired, " @ ", expired, "\nerase snapshot_changes ",
              expired, " @ ", expired, "\n");
  }
  return {.head = StrCat("insert snapshot ", step, " | ", TimeText(step), " | ", schema_version_,
                         " | 2 | ", next_file_, "\ninsert snapshot_changes ", step, " | '", what,
                         "' | - | "),
          .changes = std::move(changes)};
}

void LakeScript::AddFile(size_t step, std::string* changes) {
  const size_t file = next_file_++;
  StrAppend(changes, "insert data_file ", file, " | 1 | ", step, " | - | - | f", file,
            ".parquet | true | parquet | 10 | 1000 | - | ", next_row_,
            "\ninsert file_column_stats ", file, " | 1 | 1 | 80 | 10 | 0 | 0 | 99\n");
  next_row_ += 10;
  PutStatistics(changes);
}

void LakeScript::AddInlinedRow(size_t step, std::string* changes) {
  if (!has_inlined_table_) {
    has_inlined_table_ = true;
    StrAppend(changes,
              "create ducklake_inlined_data_1_1 row_id bigint, begin_snapshot bigint, "
              "end_snapshot bigint, a bigint\n"
              "insert inlined_data_tables 1 | ducklake_inlined_data_1_1 | 1\n");
  }
  StrAppend(changes, "insert ducklake_inlined_data_1_1 ", next_row_++, " | ", step, " | - | 42\n");
  PutStatistics(changes);
}

void LakeScript::PutStatistics(std::string* changes) const {
  StrAppend(changes, "put table_stats 1 | ", next_row_, " | ", next_row_, " | ", next_file_ * 1000,
            "\nput table_column_stats 1 | 1 | false | - | 0 | 99\n");
}

std::vector<std::string> EverythingIn(const ReadView& view) {
  std::vector<std::string> lines;
  for (const RelationRef& relation : view.relations().relations()) {
    for (const std::string& row :
         ScanTexts(view, relation->name, {.rows = ScanRows::kAllVersions})) {
      lines.push_back(StrCat(relation->name, " ", row));
    }
  }
  lines.push_back(StrCat("csn ", view.csn(), ", last snapshot ", view.last_snapshot()));
  return lines;
}

std::string FindingText(const Finding& finding) {
  return StrCat(finding.rule, " ", finding.relation, " ", finding.key, ": ", finding.message);
}

std::vector<std::string> FindingsIn(const ReadView& view) {
  std::vector<std::string> findings;
  const auto summary =
      Verify(view, {}, [&](const Finding& finding) { findings.push_back(FindingText(finding)); });
  if (!summary.ok()) {
    findings.emplace_back(MessageOf(summary.status()));
  }
  return findings;
}

}  // namespace varve
