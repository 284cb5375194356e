// Operations that must be refused, and leave the transaction as it was.
#include <string>

#include "base/strings.h"
#include "tests/catalog/random_lake.h"

namespace varve {
namespace {

using absl::StatusCode;

constexpr int64_t kNoSuchId = 1'000'000'007;

}  // namespace

std::optional<RandomLake::Mistake> RandomLake::DrawMistake(const Transaction& transaction) {
  transaction_ = &transaction;
  switch (Below(3)) {
    case 0: return MistakeOnObjects();
    case 1: return MistakeOnColumns();
    default: return MistakeOnFiles();
  }
}

std::optional<RandomLake::Mistake> RandomLake::MistakeOnObjects() {
  const auto schema = Pick(Read(kSchema));
  const auto table = Pick(Read(kTable));
  if (!schema.has_value() || !table.has_value()) {
    return std::nullopt;
  }
  LakeOperation o;
  o.into = NumberOf(*table, "schema_id");
  o.object = NumberOf(*table, "table_id");
  const std::string upper = absl::AsciiStrToUpper(TextOf(*table, "table_name"));
  if (past_touched_.contains(o.object)) {
    o.kind = Kind::kDropTable;
    return Mistake{o, {StatusCode::kFailedPrecondition}};
  }
  switch (Below(16)) {
    case 0:
      o.kind = Kind::kCreateSchema;
      o.name = absl::AsciiStrToUpper(TextOf(*schema, "schema_name"));
      return Mistake{o, {StatusCode::kAlreadyExists}};
    case 1:
      o.kind = Kind::kCreateTable;
      o.name = upper;
      o.columns = {{.name = "a", .type = "int64"}};
      return Mistake{o, {StatusCode::kAlreadyExists}};
    case 2:
      o.kind = Kind::kCreateView;
      o.name = upper;
      o.view.sql = "SELECT 1";
      return Mistake{o, {StatusCode::kAlreadyExists}};
    case 3:
      o.kind = Kind::kDropSchema;
      o.object = NumberOf(*table, "schema_id");
      return Mistake{o, {StatusCode::kFailedPrecondition}};
    case 4:
      o.kind = OneIn(2) ? Kind::kDropTable : Kind::kDropView;
      o.object = kNoSuchId;
      return Mistake{o, {StatusCode::kNotFound}};
    case 5:
      o.kind = Kind::kDropView;  // of a table
      return Mistake{o, {StatusCode::kNotFound}};
    case 6:
      o.kind = Kind::kMoveTable;
      o.into = kNoSuchId;
      return Mistake{o, {StatusCode::kNotFound}};
    case 7:
      o.kind = Kind::kRenameTable;
      o.name = OneIn(2) ? std::string("a\0b", 3) : std::string("\xff\xfe");
      return Mistake{o, {StatusCode::kInvalidArgument}};
    case 8:
      o.kind = Kind::kCreateTable;
      o.name = "";
      o.columns = {{.name = "a", .type = "int64"}};
      return Mistake{o, {StatusCode::kInvalidArgument}};
    case 9:
      o.kind = Kind::kCreateTable;
      o.name = FreeName(o.into, false);
      if (OneIn(2)) {
        o.columns = {{.name = "a", .type = "int64"}, {.name = "A", .type = "int64"}};
      }
      return Mistake{o, {StatusCode::kInvalidArgument}};
    case 10:
      o.kind = Kind::kCreateTable;
      o.name = FreeName(o.into, false);
      o.columns = {{.name = "a", .type = OneIn(2) ? "int65" : "struct"}};
      return Mistake{o, {StatusCode::kInvalidArgument}};
    case 11:
      o.kind = Kind::kCreateMacro;
      o.name = FreeName(o.into, true);
      return Mistake{o, {StatusCode::kInvalidArgument}};
    case 12:
      o.kind = Kind::kSetOption;
      o.name = "data_path";
      o.value = "/other/";
      return Mistake{o, {StatusCode::kInvalidArgument}};
    case 13:
      o.kind = Kind::kSetOption;
      o.scope = OptionScope::kTable;
      o.object = kNoSuchId;
      o.name = "target_file_size";
      o.value = "1";
      return Mistake{o, {StatusCode::kNotFound}};
    case 14:
      o.kind = Kind::kSetTag;
      o.name = "no such tag";
      return Mistake{o, {StatusCode::kNotFound}};
    default:
      o.kind = Kind::kSetTag;
      o.object = NumberOf(*schema, "schema_id");
      o.name = "k";
      o.value = "v";
      return Mistake{o, {StatusCode::kInvalidArgument, StatusCode::kNotFound}};
  }
}

std::optional<RandomLake::Mistake> RandomLake::MistakeOnColumns() {
  const std::optional<int64_t> table = PickTable();
  if (!table.has_value()) {
    return std::nullopt;
  }
  const Rows columns = ReadOf(kColumn, *table);
  const Rows top = TopLevel(columns);
  const LakeRow column = *Pick(top);
  LakeOperation o;
  o.object = *table;
  o.column = NumberOf(column, "column_id");
  switch (Below(12)) {
    case 0:
      o.kind = Kind::kAddColumn;
      o.columns = {{.name = absl::AsciiStrToUpper(TextOf(column, "column_name")), .type = "int32"}};
      return Mistake{o, {StatusCode::kAlreadyExists}};
    case 1:
      o.kind = Kind::kAddColumn;
      o.columns = {{.name = "row_id", .type = "int32"}};
      return Mistake{o, {StatusCode::kInvalidArgument}};
    case 2:
      o.kind = Kind::kAddColumn;
      o.columns = {{.name = "x", .type = "int32", .default_value = "no number"}};
      return Mistake{o, {StatusCode::kInvalidArgument}};
    case 3:
      o.kind = Kind::kAddColumn;
      o.columns = {{.name = "x", .type = "int32"}};
      o.parent = kNoSuchId;
      return Mistake{o, {StatusCode::kNotFound}};
    case 4:
      if (top.size() > 1) {
        return std::nullopt;
      }
      o.kind = Kind::kDropColumn;
      return Mistake{o, {StatusCode::kFailedPrecondition}};
    case 5:
      o.kind = OneIn(2) ? Kind::kDropColumn : Kind::kSetColumnNullable;
      o.column = kNoSuchId;
      return Mistake{o, {StatusCode::kNotFound}};
    case 6:
      o.kind = Kind::kReorderColumns;
      o.ids = {o.column, o.column};
      return Mistake{o, {StatusCode::kInvalidArgument}};
    case 7:
      o.kind = Kind::kSetColumnType;
      o.name = OneIn(2) ? "int8" : "int65";
      return Mistake{o, {StatusCode::kInvalidArgument}};
    case 8:
      o.kind = Kind::kSetPartitioning;
      o.partition_keys = {{.column_id = o.column, .transform = "weekly"}};
      return Mistake{o, {StatusCode::kInvalidArgument}};
    case 9:
      o.kind = Kind::kSetPartitioning;
      o.partition_keys = {{.column_id = kNoSuchId}};
      return Mistake{o, {StatusCode::kNotFound}};
    case 10:
      o.kind = Kind::kSetSortOrder;
      o.sort_keys = {{.expression = OneIn(2) ? "no_such_column" : " "}};
      return Mistake{o, {StatusCode::kNotFound, StatusCode::kInvalidArgument}};
    default:
      o.kind = Kind::kRenameColumn;
      o.name = OneIn(2) ? "" : "_ducklake_internal_row_id";
      return Mistake{o, {StatusCode::kInvalidArgument}};
  }
}

std::optional<RandomLake::Mistake> RandomLake::MistakeOnFiles() {
  const std::optional<int64_t> table = PickTable();
  if (!table.has_value()) {
    return std::nullopt;
  }
  const std::optional<LakeRow> file = Pick(ReadOf(kDataFile, *table));
  LakeOperation o;
  o.object = *table;
  o.kind = Kind::kRegisterDataFiles;
  o.files = {{.path = NewPath("mistake"), .record_count = 10}};
  o.files[0].partition_values.resize(ReadOf(kPartitionColumn, *table).size());
  const auto refused = [&](StatusCode code) { return Mistake{o, {code}}; };
  switch (Below(14)) {
    case 0:
      o.files[0].columns = {{.column_id = kNoSuchId, .value_count = 1}};
      return refused(StatusCode::kInvalidArgument);
    case 1: o.files[0].record_count = -1; return refused(StatusCode::kInvalidArgument);
    case 2:
      // The first one is right; none must stay.
      o.files.push_back(o.files[0]);
      return refused(StatusCode::kAlreadyExists);
    case 3:
      if (!file.has_value()) {
        return std::nullopt;
      }
      o.files[0].path = TextOf(*file, "path");
      o.files[0].path_is_relative = TextOf(*file, "path_is_relative") == "true";
      return refused(StatusCode::kAlreadyExists);
    case 4:
      o.files[0].partition_values.emplace_back("one too many");
      return refused(StatusCode::kInvalidArgument);
    case 5: o.files[0].mapping_id = kNoSuchId; return refused(StatusCode::kNotFound);
    case 6: o.object = kNoSuchId; return refused(StatusCode::kNotFound);
    case 7: o.files[0].path = ""; return refused(StatusCode::kInvalidArgument);
    case 8:
      o.kind = Kind::kRegisterDeleteFiles;
      o.files.clear();
      o.delete_files = {{.data_file_id = kNoSuchId, .path = NewPath("mistake"), .delete_count = 1}};
      return refused(StatusCode::kNotFound);
    case 9:
      if (!file.has_value()) {
        return std::nullopt;
      }
      o.kind = Kind::kRegisterDeleteFiles;
      o.files.clear();
      o.delete_files = {{.data_file_id = NumberOf(*file, "data_file_id"),
                         .path = NewPath("mistake"),
                         .delete_count = NumberOf(*file, "record_count") + 1}};
      return refused(StatusCode::kInvalidArgument);
    case 10:
      o.kind = Kind::kEndDataFiles;
      o.ids = {kNoSuchId};
      if (file.has_value()) {
        o.ids.insert(o.ids.begin(), NumberOf(*file, "data_file_id"));
      }
      return refused(StatusCode::kNotFound);
    case 11:
      o.kind = Kind::kInsertInlined;
      o.rows = {std::vector<NullableText>(TopLevel(ReadOf(kColumn, *table)).size() + 1)};
      return refused(StatusCode::kInvalidArgument);
    case 12:
      o.kind = Kind::kDeleteInlined;
      o.ids = {kNoSuchId};
      return refused(StatusCode::kNotFound);
    default:
      o.kind = Kind::kMergeFiles;
      o.ids = {kNoSuchId};
      return refused(StatusCode::kNotFound);
  }
}

}  // namespace varve
