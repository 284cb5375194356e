#include "tools/row_output.h"

#include "base/strings.h"
#include "base/text.h"
#include "tools/display_width.h"
#include "tools/output.h"

namespace varve {

std::string ShownValue(const ColumnSchema& column, const Datum& value) {
  if (value.is_null()) {
    return "NULL";
  }
  const std::string text = ToText(column.type, value);
  const bool quoted = value.physical() == PhysicalType::kBytes;
  return quoted ? StrCat("'", OneLine(text), "'") : text;
}

std::string ShownKey(const RelationSchema& relation, std::span<const Datum> row) {
  std::vector<std::string> parts;
  for (const size_t column : relation.handle) {
    const ColumnSchema& schema = relation.columns.column(column);
    parts.push_back(StrCat(schema.name, "=", ShownValue(schema, row[column])));
  }
  return StrJoin(parts, " ");
}

std::string JsonObject(const RelationSchema& relation, std::span<const Datum> row,
                       const std::vector<size_t>& columns) {
  std::string json = "{";
  for (const size_t i : columns) {
    const ColumnSchema& column = relation.columns.column(i);
    json.append(json.size() == 1 ? "" : ",");
    AppendJsonString(column.name, &json);
    json.push_back(':');
    AppendJsonValue(column.type, row[i], &json);
  }
  json.push_back('}');
  return json;
}

std::vector<size_t> TellingColumns(const RelationSchema& relation, std::span<const Datum> row) {
  std::vector<size_t> columns;
  for (size_t i = 0; i < relation.columns.num_columns(); ++i) {
    if (!row[i].is_null() && !relation.IsHandleColumn(i) && relation.begin_column != i &&
        relation.end_column != i) {
      columns.push_back(i);
    }
  }
  return columns;
}

}  // namespace varve
