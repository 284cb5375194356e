#include "tests/catalog/transaction_text.h"

#include <cctype>

#include "base/strings.h"
#include "catalog/transaction/provisional_ids.h"

namespace varve {
namespace {

// Reads definitions of columns.
class ColumnReader {
 public:
  explicit ColumnReader(std::string_view text) : text_(text) {}

  std::vector<ColumnDefinition> Columns() {
    std::vector<ColumnDefinition> columns;
    do {
      columns.push_back(Column());
    } while (Take(','));
    return columns;
  }

  bool AtEnd() {
    SkipBlanks();
    return text_.empty();
  }

 private:
  ColumnDefinition Column() {
    ColumnDefinition column;
    const NullableText quoted = Quoted('"');
    column.name = quoted.has_value() ? *quoted : Word();
    ReadType(&column);
    for (std::string word = Word(); !word.empty(); word = Word()) {
      if (word == "not") {
        EXPECT_EQ(Word(), "null");
        column.nullable = false;
      } else if (word == "default") {
        column.default_value = Quoted('\'');
        column.initial_default = column.default_value;
      } else {
        ADD_FAILURE() << "unexpected " << word << " before " << text_;
      }
    }
    return column;
  }

  void ReadType(ColumnDefinition* column) {
    column->type = Word();
    if (!Take('(')) {
      return;
    }
    if (column->type == "struct") {
      column->fields = Columns();
    } else if (column->type == "decimal") {
      column->type += StrCat("(", Word());
      while (Take(',')) {
        column->type += StrCat(",", Word());
      }
      column->type += ")";
    } else {
      do {
        ReadType(&column->fields.emplace_back());
      } while (Take(','));
    }
    EXPECT_TRUE(Take(')')) << text_;
  }

  void SkipBlanks() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_.front())) != 0) {
      text_.remove_prefix(1);
    }
  }
  bool Take(char c) {
    SkipBlanks();
    if (!text_.starts_with(c)) {
      return false;
    }
    text_.remove_prefix(1);
    return true;
  }
  std::string Word() {
    SkipBlanks();
    std::string word;
    while (!text_.empty() &&
           (std::isalnum(static_cast<unsigned char>(text_.front())) != 0 || text_.front() == '_')) {
      word.push_back(text_.front());
      text_.remove_prefix(1);
    }
    return word;
  }
  NullableText Quoted(char quote) {
    if (!Take(quote)) {
      return std::nullopt;
    }
    const size_t end = text_.find(quote);
    std::string content(text_.substr(0, end));
    text_.remove_prefix(std::min(end + 1, text_.size()));
    return content;
  }

  std::string_view text_;
};

// "c3" for the provisional catalog id 3; empty for other values.
std::string ProvisionalText(const Datum& value) {
  if (value.is_null() || value.physical() != PhysicalType::kInt64 ||
      !IsProvisional(value.int64_value())) {
    return "";
  }
  const int64_t id = value.int64_value();
  return id >= kFirstProvisionalRowId    ? StrCat("r", id - kFirstProvisionalRowId)
         : id >= kFirstProvisionalFileId ? StrCat("f", id - kFirstProvisionalFileId)
                                         : StrCat("c", id - kFirstProvisionalCatalogId);
}

std::string SeenText(const RelationSchema& relation, std::span<const Datum> row) {
  std::vector<std::string> values;
  for (size_t i = 0; i < row.size(); ++i) {
    const std::string provisional = ProvisionalText(row[i]);
    values.push_back(provisional.empty() ? ValueText(relation.columns.column(i).type, row[i])
                                         : provisional);
  }
  return StrJoin(values, " | ");
}

}  // namespace

std::vector<ColumnDefinition> ColumnsOf(std::string_view text) {
  ColumnReader reader(text);
  std::vector<ColumnDefinition> columns = reader.Columns();
  EXPECT_TRUE(reader.AtEnd()) << text;
  return columns;
}

ColumnDefinition ColumnOf(std::string_view text) {
  return ColumnsOf(text).front();
}

std::vector<std::string> SeenTexts(const Transaction& transaction, std::string_view name) {
  absl::StatusOr<RelationRef> relation = transaction.FindRelation(name);  // also one of its own
  if (*relation == nullptr) {
    relation = transaction.base().relations().Resolve(name);
  }
  if (!relation.ok()) {
    return {StrCat("error: ", MessageOf(relation.status()))};
  }
  absl::StatusOr<std::unique_ptr<RowScan>> scan = transaction.Scan(*relation, {});
  if (!scan.ok()) {
    return {StrCat("error: ", MessageOf(scan.status()))};
  }
  std::vector<std::string> texts;
  ScanBatch batch;
  while (true) {
    const absl::StatusOr<bool> more = (*scan)->Next(&batch);
    if (!more.ok()) {
      return {StrCat("error: ", MessageOf(more.status()))};
    }
    if (!*more) {
      return texts;
    }
    for (size_t i = 0; i < batch.num_rows(); ++i) {
      std::vector<Datum> row;
      for (size_t column = 0; column < (*relation)->columns.num_columns(); ++column) {
        row.push_back(batch.columns.column(column).at(i));
      }
      texts.push_back(SeenText(**relation, row));
    }
  }
}

std::vector<std::string> EverythingSeen(const Transaction& transaction) {
  std::vector<std::string> texts;
  for (const RelationRef& relation : transaction.base().relations().relations()) {
    for (const std::string& row : SeenTexts(transaction, relation->name)) {
      texts.push_back(StrCat(relation->name, " ", row));
    }
  }
  return texts;
}

}  // namespace varve
