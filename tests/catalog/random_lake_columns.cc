// Operations on columns and layouts of tables.
#include <algorithm>
#include <array>
#include <string_view>

#include "base/strings.h"
#include "catalog/transaction/action.h"
#include "tests/catalog/lake_values.h"
#include "tests/catalog/random_lake.h"

namespace varve {
RandomLake::Operation RandomLake::DrawOnColumns() {
  const std::optional<int64_t> table = PickTable();
  if (!table.has_value()) {
    return std::nullopt;
  }
  const Rows columns = ReadOf(kColumn, *table);
  const Rows top = TopLevel(columns);
  const LakeRow column = *Pick(columns);
  const std::string type = TextOf(column, "column_type");
  const int64_t parent = NumberOf(column, "parent_column");
  std::string parent_type;
  Rows siblings;
  for (const LakeRow& other : columns) {
    if (NumberOf(other, "column_id") == parent) {
      parent_type = TextOf(other, "column_type");
    }
    if (NumberOf(other, "parent_column") == parent) {
      siblings.push_back(other);
    }
  }
  const bool is_free = parent < 0 || parent_type == "struct";
  LakeOperation o;
  o.object = *table;
  o.column = NumberOf(column, "column_id");
  switch (Below(7)) {
    case 0: {
      o.kind = Kind::kAddColumn;
      o.column = 0;
      Rows taken = top;
      if (type == "struct" && OneIn(2)) {
        o.parent = NumberOf(column, "column_id");
        taken = columns;  // more than needed
      }
      o.columns = {RandomColumn(NewName('c', taken, "column_name"), o.parent.has_value() ? 1 : 0)};
      // Those that are there need a value.
      o.columns[0].nullable |= !o.columns[0].initial_default.has_value();
      return o;
    }
    case 1: {
      o.kind = Kind::kDropColumn;
      if (!is_free || siblings.size() < 2 || IsInOwnFiles(*table, columns)) {
        return std::nullopt;
      }
      for (const LakeRow& key : ReadOf(kPartitionColumn, *table)) {
        if (NumberOf(key, "column_id") == o.column) {
          return std::nullopt;
        }
      }
      return MayBeSortedBy(*table, TextOf(column, "column_name")) ? std::nullopt : Operation(o);
    }
    case 2:
      if (!is_free) {
        return std::nullopt;
      }
      o.kind = Kind::kRenameColumn;
      o.name = NewName('c', siblings, "column_name");
      return o;
    case 3: {
      o.kind = Kind::kReorderColumns;
      o.column = 0;
      for (const LakeRow& other : top) {
        o.ids.push_back(NumberOf(other, "column_id"));
      }
      // The order that is there would be no operation at all.
      const std::vector<int64_t> before = o.ids;
      std::shuffle(o.ids.begin(), o.ids.end(), random_);
      return o.ids == before ? std::nullopt : Operation(o);
    }
    case 4:
      if (type != "int32") {
        return std::nullopt;
      }
      o.kind = Kind::kSetColumnType;
      o.name = "int64";
      return o;
    case 5:
      if (IsCompound(type)) {
        return std::nullopt;
      }
      o.kind = Kind::kSetColumnDefault;
      if (OneIn(2)) {
        o.value = ValueOf(type);
      }
      return o;
    default: {
      o.kind = Kind::kSetColumnNullable;
      o.flag = TextOf(column, "nulls_allowed") == "false";
      // Rows that are there may hold NULLs.
      const bool has_rows = !ReadOf(kDataFile, *table).empty() || !InlinedRows(*table).empty();
      return has_rows && !o.flag ? std::nullopt : Operation(o);
    }
  }
}

// Whether the name stands somewhere in the table's sort order, as it is or as in quotes.
bool RandomLake::MayBeSortedBy(int64_t table, std::string_view column) const {
  const std::string quoted = QuoteName(AsciiStrToLower(column));
  const std::string name = quoted.substr(1, quoted.size() - 2);
  const Rows keys = ReadOf(kSortExpression, table);
  return std::any_of(keys.begin(), keys.end(), [&](const LakeRow& key) {
    return AsciiStrToLower(TextOf(key, "expression")).find(name) != std::string::npos;
  });
}

// Whether the transaction has added columns to the table and registered files for it, which may
// hold them: such columns cannot be dropped.
bool RandomLake::IsInOwnFiles(int64_t table, const Rows& columns) const {
  std::set<int64_t> before;
  for (const LakeRow& row : History(kColumn, table)) {
    before.insert(NumberOf(row, "column_id"));
  }
  const Rows files = ReadOf(kDataFile, table);
  return std::any_of(
             columns.begin(), columns.end(),
             [&](const LakeRow& row) { return !before.contains(NumberOf(row, "column_id")); }) &&
         std::any_of(files.begin(), files.end(), [](const LakeRow& file) {
           return IsProvisional(NumberOf(file, "data_file_id"));
         });
}

RandomLake::Operation RandomLake::DrawLayout() {
  const std::optional<int64_t> table = PickTable();
  if (!table.has_value()) {
    return std::nullopt;
  }
  Rows columns = TopLevel(ReadOf(kColumn, *table));
  std::erase_if(columns, [](const LakeRow& row) { return IsCompound(TextOf(row, "column_type")); });
  LakeOperation o;
  o.object = *table;
  if (OneIn(2)) {
    o.kind = Kind::kSetSortOrder;
    for (uint64_t i = Below(3); i > 0 && !columns.empty(); --i) {
      const std::string name = TextOf(*Pick(columns), "column_name");
      if (std::all_of(name.begin(), name.end(), [](char c) { return absl::ascii_isalnum(c); })) {
        o.sort_keys.push_back({.expression = OneIn(4) ? StrCat("lower(", name, ")") : name,
                               .ascending = OneIn(2),
                               .nulls_first = OneIn(2)});
      }
    }
    // What is there already would be no operation at all.
    const Rows keys = ReadOf(kSortExpression, *table);
    const bool same =
        std::equal(keys.begin(), keys.end(), o.sort_keys.begin(), o.sort_keys.end(),
                   [](const LakeRow& row, const SortKey& key) {
                     return TextOf(row, "expression") == key.expression &&
                            (TextOf(row, "sort_direction") == "ASC") == key.ascending &&
                            (TextOf(row, "null_order") == "NULLS_FIRST") == key.nulls_first;
                   });
    return same ? std::nullopt : Operation(o);
  }
  o.kind = Kind::kSetPartitioning;
  // One that the transaction set itself stays while files of the transaction refer to it.
  for (const LakeRow& info : ReadOf(kPartitionInfo, *table)) {
    for (const LakeRow& file : ReadOf(kDataFile, *table)) {
      if (IsProvisional(NumberOf(info, "partition_id")) &&
          NumberOf(file, "partition_id") == NumberOf(info, "partition_id")) {
        return std::nullopt;
      }
    }
  }
  for (uint64_t i = Below(3); i > 0 && !columns.empty(); --i) {
    const LakeRow column = *Pick(columns);
    constexpr std::array<std::string_view, 3> kOfDates = {"year", "month", "day"};
    std::string transform = OneIn(2) ? "identity" : StrCat("bucket(", 1 + Below(8), ")");
    if (TextOf(column, "column_type") == "date" && OneIn(2)) {
      transform = kOfDates[Below(kOfDates.size())];
    }
    o.partition_keys.push_back(
        {.column_id = NumberOf(column, "column_id"), .transform = std::move(transform)});
  }
  const Rows keys = ReadOf(kPartitionColumn, *table);
  const bool same =
      std::equal(keys.begin(), keys.end(), o.partition_keys.begin(), o.partition_keys.end(),
                 [](const LakeRow& row, const PartitionKey& key) {
                   return NumberOf(row, "column_id") == key.column_id &&
                          TextOf(row, "transform") == key.transform;
                 });
  return same ? std::nullopt : Operation(o);
}

}  // namespace varve
