#include "catalog/transaction/action.h"

#include <array>
#include <cstddef>

#include "base/strings.h"
#include "base/text.h"

namespace varve {
namespace {

struct Words {
  Operation operation;
  std::string_view token;  // in changes_made
  std::string_view kind;   // "table"
  std::string_view on;     // before the object's kind: "insert into"
  std::string_view on_it;  // "insert into it"
};

constexpr auto kWords = std::to_array<Words>({
    {Operation::kDropSchema, "dropped_schema", "schema", "drop of", "drop of it"},
    {Operation::kDropTable, "dropped_table", "table", "drop of", "drop of it"},
    {Operation::kDropView, "dropped_view", "view", "drop of", "drop of it"},
    {Operation::kCreateSchema, "created_schema", "schema", "creation of", "creation of it"},
    {Operation::kCreateTable, "created_table", "table", "creation of", "creation of it"},
    {Operation::kRenameTable, "created_table", "table", "rename of", "rename of it"},
    {Operation::kCreateView, "created_view", "view", "creation of", "creation of it"},
    {Operation::kRenameView, "created_view", "view", "rename of", "rename of it"},
    {Operation::kCreateScalarMacro, "created_scalar_macro", "macro", "creation of",
     "creation of it"},
    {Operation::kCreateTableMacro, "created_table_macro", "table macro", "creation of",
     "creation of it"},
    {Operation::kDropScalarMacro, "dropped_scalar_macro", "macro", "drop of", "drop of it"},
    {Operation::kDropTableMacro, "dropped_table_macro", "table macro", "drop of", "drop of it"},
    {Operation::kInsert, "inserted_into_table", "table", "insert into", "insert into it"},
    {Operation::kDelete, "deleted_from_table", "table", "delete from", "delete from it"},
    {Operation::kAlterTable, "altered_table", "table", "alteration of", "alteration of it"},
    {Operation::kAlterView, "altered_view", "view", "alteration of", "alteration of it"},
    {Operation::kInlinedInsert, "inlined_insert", "table", "insert into", "insert into it"},
    {Operation::kInlinedDelete, "inlined_delete", "table", "delete from", "delete from it"},
    {Operation::kFlushInlined, "inline_flush", "table", "flush of inlined rows of",
     "flush of its inlined rows"},
    {Operation::kMergeAdjacent, "merge_adjacent", "table", "merge of files of",
     "merge of its files"},
    {Operation::kRewriteDelete, "rewrite_delete", "table", "rewrite of files of",
     "rewrite of its files"},
    {Operation::kCompactTable, "compacted_table", "table", "compaction of", "compaction of it"},
});
static_assert(kWords.size() == kNumOperations);
static_assert([] {
  for (size_t i = 0; i < kWords.size(); ++i) {
    if (kWords[i].operation != static_cast<Operation>(i)) {
      return false;
    }
  }
  return true;
}());

const Words& WordsOf(Operation operation) {
  return kWords[static_cast<size_t>(operation)];
}

constexpr size_t kMaxShownBytes = 80;

}  // namespace

std::string ShownName(std::string_view name) {
  size_t shown = name.size();
  const bool is_utf8 = IsValidUtf8(name);
  if (shown > kMaxShownBytes) {
    shown = kMaxShownBytes;
    while (is_utf8 && shown > 0 && (static_cast<unsigned char>(name[shown]) & 0xc0) == 0x80) {
      --shown;  // not inside a character
    }
  }
  std::string text;
  for (const char c : QuoteName(name.substr(0, shown))) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !is_utf8)) {
      StrAppend(&text, "\\x", BytesToHexString(std::string_view(&c, 1)));
    } else {
      text.push_back(c);
    }
  }
  return shown == name.size() ? text : StrCat(text, "...");
}

namespace {

bool IsOfSchema(Operation operation) {
  return operation == Operation::kCreateSchema || operation == Operation::kDropSchema;
}

std::string FullName(Operation operation, std::string_view schema_name, std::string_view name) {
  return schema_name.empty() || IsOfSchema(operation)
             ? ShownName(name)
             : StrCat(ShownName(schema_name), ".", ShownName(name));
}

// " to NAME" after a rename.
std::string NewNameText(const Action& action) {
  return IsRename(action.operation)
             ? StrCat(" to ", FullName(action.operation, action.schema_name, action.name))
             : "";
}

}  // namespace

bool IsCreation(Operation operation) {
  switch (operation) {
    case Operation::kCreateSchema:
    case Operation::kCreateTable:
    case Operation::kCreateView:
    case Operation::kCreateScalarMacro:
    case Operation::kCreateTableMacro: return true;
    default: return false;
  }
}

bool IsDrop(Operation operation) {
  switch (operation) {
    case Operation::kDropSchema:
    case Operation::kDropTable:
    case Operation::kDropView:
    case Operation::kDropScalarMacro:
    case Operation::kDropTableMacro: return true;
    default: return false;
  }
}

bool IsRename(Operation operation) {
  return operation == Operation::kRenameTable || operation == Operation::kRenameView;
}

bool TouchesFiles(Operation operation) {
  switch (operation) {
    case Operation::kDelete:
    case Operation::kInlinedDelete:
    case Operation::kFlushInlined:
    case Operation::kMergeAdjacent:
    case Operation::kRewriteDelete:
    case Operation::kCompactTable: return true;
    default: return false;
  }
}

std::string_view TokenOf(Operation operation) {
  return WordsOf(operation).token;
}

std::string QuoteName(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    quoted.append(c == '"' ? 2 : 1, c);
  }
  return quoted + "\"";
}

bool KnowsName(const Action& action) {
  return !(IsRename(action.operation) ? action.old_name : action.name).empty();
}

std::string ObjectText(const Action& action) {
  const std::string_view kind = WordsOf(action.operation).kind;
  if (!IsCreation(action.operation) && !KnowsName(action)) {
    return StrCat(kind, " ", action.id);
  }
  const bool renamed = IsRename(action.operation);
  return StrCat(kind, " ",
                FullName(action.operation, renamed ? action.old_schema_name : action.schema_name,
                         renamed ? action.old_name : action.name));
}

std::string ActionText(const Action& action, std::string_view object) {
  return StrCat(WordsOf(action.operation).on, " ", object, NewNameText(action));
}

std::string ActionOnItText(const Action& action) {
  return StrCat("the ", WordsOf(action.operation).on_it, NewNameText(action));
}

}  // namespace varve
