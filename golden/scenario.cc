#include "golden/scenario.h"

#include <array>
#include <utility>

#include "absl/status/status.h"
#include "base/status.h"
#include "base/strings.h"
#include "golden/script_lexer.h"
#include "golden/token_cursor.h"

namespace varve::golden {
namespace {

using Operation = decltype(Statement::operation);

class Parser : private TokenCursor {
 public:
  using TokenCursor::TokenCursor;

  absl::StatusOr<Scenario> Run() {
    Scenario scenario;
    while (Peek().kind != Token::Kind::kEnd) {
      const int line = Peek().line;
      if (TakeWord("snapshot")) {
        VARVE_ASSIGN_OR_RETURN(Block block, Header(/*makes_snapshot=*/true));
        scenario.blocks.push_back(std::move(block));
      } else if (TakeWord("upkeep")) {
        VARVE_ASSIGN_OR_RETURN(Block block, Header(/*makes_snapshot=*/false));
        scenario.blocks.push_back(std::move(block));
      } else if (scenario.blocks.empty()) {
        return Expected("'snapshot' or 'upkeep' before the first statement");
      } else {
        VARVE_ASSIGN_OR_RETURN(Operation operation, ParseStatement());
        scenario.blocks.back().statements.push_back(
            {.line = line, .operation = std::move(operation)});
      }
      if (Peek().kind != Token::Kind::kEndOfLine) {
        return Expected("the end of the line");
      }
      Skip(1);
    }
    return scenario;
  }

 private:
  using Production = absl::StatusOr<Operation> (Parser::*)();
  struct Form {
    std::string_view first;
    std::string_view second;  // empty: the first word alone decides
    Production parse;
  };

  // Longer forms stand before shorter ones that start alike.
  static constexpr auto Forms() {
    return std::to_array<Form>({
        {"create", "schema", &Parser::ParseCreateSchema},
        {"create", "table", &Parser::ParseCreateTable},
        {"create", "view", &Parser::ParseCreateView},
        {"create", "macro", &Parser::ParseCreateMacro},
        {"create", "relation", &Parser::ParseCreateRelation},
        {"drop", "schema", &Parser::ParseDropSchema},
        {"drop", "column", &Parser::ParseDropColumn},
        {"drop", "relation", &Parser::ParseDropRelation},
        {"drop", "", &Parser::ParseDropObject},
        {"rename", "column", &Parser::ParseRenameColumn},
        {"rename", "", &Parser::ParseRenameObject},
        {"move", "table", &Parser::ParseMoveTable},
        {"add", "column", &Parser::ParseAddColumn},
        {"add", "file", &Parser::ParseAddFile},
        {"add", "delete", &Parser::ParseAddDeleteFile},
        {"alter", "column", &Parser::ParseAlterColumn},
        {"tag", "", &Parser::ParseTag},
        {"untag", "", &Parser::ParseUntag},
        {"partition", "", &Parser::ParsePartition},
        {"sort", "", &Parser::ParseSort},
        {"unsort", "", &Parser::ParseUnsort},
        {"insert", "into", &Parser::ParseInsertRows},
        {"update", "", &Parser::ParseUpdateRow},
        {"delete", "from", &Parser::ParseDeleteRows},
        {"delete", "in", &Parser::ParseDeleteInFile},
        {"remove", "file", &Parser::ParseRemoveFile},
        {"merge", "files", &Parser::ParseMergeFiles},
        {"set", "option", &Parser::ParseSetOption},
        {"expire", "", &Parser::ParseExpire},
        {"insert", "", &Parser::ParseInsertRow},
        {"put", "", &Parser::ParsePutRow},
        {"end", "", &Parser::ParseEndRow},
        {"erase", "", &Parser::ParseEraseRow},
    });
  }

  absl::StatusOr<Operation> ParseStatement() {
    for (const Form& form : Forms()) {
      if (!IsWord(0, form.first) || (!form.second.empty() && !IsWord(1, form.second))) {
        continue;
      }
      Skip(form.second.empty() ? 1 : 2);
      return (this->*form.parse)();
    }
    return Expected("a statement (golden/README.md lists them)");
  }

  // --- Blocks ----------------------------------------------------------------------------------

  absl::StatusOr<Block> Header(bool makes_snapshot) {
    Block block = {.line = Peek().line, .makes_snapshot = makes_snapshot};
    if (makes_snapshot && Peek().kind == Token::Kind::kWord && !IsWord(0, "by")) {
      VARVE_ASSIGN_OR_RETURN(int64_t id, Integer());
      block.id = static_cast<SnapshotId>(id);
    }
    if (Peek().kind == Token::Kind::kName) {
      VARVE_ASSIGN_OR_RETURN(block.message, Name());
    }
    if (TakeWord("by")) {
      VARVE_ASSIGN_OR_RETURN(block.author, Name());
    }
    if (TakeWord("extra")) {
      VARVE_ASSIGN_OR_RETURN(block.extra, String());
    }
    return block;
  }

  // --- Definitions -----------------------------------------------------------------------------

  absl::StatusOr<Operation> ParseCreateSchema() {
    VARVE_ASSIGN_OR_RETURN(std::string name, Name());
    return CreateSchema{.name = std::move(name)};
  }

  absl::StatusOr<Operation> ParseDropSchema() {
    VARVE_ASSIGN_OR_RETURN(std::string name, Name());
    return DropSchema{.name = std::move(name)};
  }

  absl::StatusOr<Operation> ParseCreateTable() {
    if (TakeWord("macro")) {
      return Macro(/*table_macro=*/true);
    }
    CreateTable create;
    VARVE_ASSIGN_OR_RETURN(create.table, Object());
    VARVE_ASSIGN_OR_RETURN(create.columns, Columns());
    return create;
  }

  absl::StatusOr<std::vector<ColumnSpec>> Columns() {
    return List<ColumnSpec>([this] { return ParseColumnSpec(); });
  }

  // name type [not null] [default value]
  absl::StatusOr<ColumnSpec> ParseColumnSpec() {
    VARVE_ASSIGN_OR_RETURN(std::string name, Name());
    VARVE_ASSIGN_OR_RETURN(ColumnSpec column, ParseType(std::move(name)));
    if (TakeWord("not")) {
      VARVE_RETURN_IF_ERROR(ExpectWord("null"));
      column.not_null = true;
    }
    if (TakeWord("default")) {
      VARVE_ASSIGN_OR_RETURN(column.default_value, ParseLiteral());
    }
    return column;
  }

  absl::StatusOr<ColumnSpec> ParseType(std::string name) {
    ColumnSpec column = {.name = std::move(name)};
    VARVE_ASSIGN_OR_RETURN(column.type, Name());
    if (column.type == "struct") {
      VARVE_ASSIGN_OR_RETURN(column.fields, Columns());
    } else if (column.type == "list") {
      VARVE_ASSIGN_OR_RETURN(column.fields, Parts({"element"}));
    } else if (column.type == "map") {
      VARVE_ASSIGN_OR_RETURN(column.fields, Parts({"key", "value"}));
    } else if (column.type == "decimal") {
      VARVE_RETURN_IF_ERROR(Expect('('));
      VARVE_ASSIGN_OR_RETURN(int64_t precision, Integer());
      VARVE_RETURN_IF_ERROR(Expect(','));
      VARVE_ASSIGN_OR_RETURN(int64_t scale, Integer());
      VARVE_RETURN_IF_ERROR(Expect(')'));
      column.type = StrCat("decimal(", precision, ",", scale, ")");
    }
    return column;
  }

  absl::StatusOr<std::vector<ColumnSpec>> Parts(std::vector<std::string> names) {
    size_t next = 0;
    VARVE_ASSIGN_OR_RETURN(std::vector<ColumnSpec> parts, List<ColumnSpec>([&] {
                             return ParseType(next < names.size() ? names[next++] : std::string());
                           }));
    if (parts.size() != names.size() || parts.back().name.empty()) {
      return Expected(StrCat(names.size(), " types in the parentheses before this"));
    }
    return parts;
  }

  absl::StatusOr<Operation> ParseCreateView() {
    CreateView create;
    VARVE_ASSIGN_OR_RETURN(create.view, Object());
    if (Peek().kind == Token::Kind::kPunctuation) {
      VARVE_ASSIGN_OR_RETURN(create.aliases, NameList());
    }
    VARVE_RETURN_IF_ERROR(ExpectWord("as"));
    VARVE_ASSIGN_OR_RETURN(create.sql, String());
    return create;
  }

  absl::StatusOr<Operation> ParseCreateMacro() { return Macro(/*table_macro=*/false); }

  absl::StatusOr<Operation> Macro(bool table_macro) {
    CreateMacro create = {.table_macro = table_macro};
    VARVE_ASSIGN_OR_RETURN(create.macro, Object());
    do {
      MacroImplementation implementation;
      VARVE_ASSIGN_OR_RETURN(implementation.parameters,
                             List<MacroParameter>([this] { return ParseMacroParameter(); }));
      VARVE_RETURN_IF_ERROR(ExpectWord("as"));
      VARVE_ASSIGN_OR_RETURN(implementation.sql, String());
      create.implementations.push_back(std::move(implementation));
    } while (TakeWord("or"));
    return create;
  }

  absl::StatusOr<MacroParameter> ParseMacroParameter() {
    MacroParameter parameter;
    VARVE_ASSIGN_OR_RETURN(parameter.name, Name());
    if (TakeWord("default")) {
      VARVE_ASSIGN_OR_RETURN(parameter.default_value, ParseLiteral());
    }
    return parameter;
  }

  absl::StatusOr<ObjectKind> Kind() {
    if (TakeWord("table")) {
      return ObjectKind::kTable;
    }
    if (TakeWord("view")) {
      return ObjectKind::kView;
    }
    if (TakeWord("macro")) {
      return ObjectKind::kMacro;
    }
    return Expected("'table', 'view' or 'macro'");
  }

  absl::StatusOr<Operation> ParseDropObject() {
    DropObject drop;
    VARVE_ASSIGN_OR_RETURN(drop.kind, Kind());
    VARVE_ASSIGN_OR_RETURN(drop.object, Object());
    return drop;
  }

  absl::StatusOr<Operation> ParseRenameObject() {
    RenameObject rename;
    VARVE_ASSIGN_OR_RETURN(rename.kind, Kind());
    VARVE_ASSIGN_OR_RETURN(rename.object, Object());
    VARVE_RETURN_IF_ERROR(ExpectWord("to"));
    VARVE_ASSIGN_OR_RETURN(rename.to, Name());
    return rename;
  }

  absl::StatusOr<Operation> ParseMoveTable() {
    MoveTable move;
    VARVE_ASSIGN_OR_RETURN(move.table, Object());
    VARVE_RETURN_IF_ERROR(ExpectWord("to"));
    VARVE_ASSIGN_OR_RETURN(move.to_schema, Name());
    return move;
  }

  absl::StatusOr<Operation> ParseAddColumn() {
    AddColumn add;
    VARVE_ASSIGN_OR_RETURN(add.parent, Column());
    VARVE_ASSIGN_OR_RETURN(add.column, ParseColumnSpecNamed(add.parent.path.back()));
    add.parent.path.pop_back();
    return add;
  }

  // The rest of a column whose name was read: steps back onto its last part.
  absl::StatusOr<ColumnSpec> ParseColumnSpecNamed(const std::string& name) {
    StepBack();
    VARVE_ASSIGN_OR_RETURN(ColumnSpec column, ParseColumnSpec());
    column.name = name;
    return column;
  }

  absl::StatusOr<Operation> ParseDropColumn() {
    VARVE_ASSIGN_OR_RETURN(ColumnPath column, Column());
    return DropColumn{.column = std::move(column)};
  }

  absl::StatusOr<Operation> ParseRenameColumn() {
    RenameColumn rename;
    VARVE_ASSIGN_OR_RETURN(rename.column, Column());
    VARVE_RETURN_IF_ERROR(ExpectWord("to"));
    VARVE_ASSIGN_OR_RETURN(rename.to, Name());
    return rename;
  }

  absl::StatusOr<Operation> ParseAlterColumn() {
    AlterColumn alter;
    VARVE_ASSIGN_OR_RETURN(alter.column, Column());
    if (TakeWord("type")) {
      VARVE_ASSIGN_OR_RETURN(ColumnSpec column, ParseType(""));
      alter.type = std::move(column.type);
    } else if (TakeWord("default")) {
      VARVE_ASSIGN_OR_RETURN(alter.default_value, ParseLiteral());
    } else {
      alter.not_null = TakeWord("not");
      VARVE_RETURN_IF_ERROR(ExpectWord("null"));
    }
    return alter;
  }

  // table S.T | view S.V | column S.T.C…, then the key
  absl::StatusOr<SetTag> TagTarget() {
    SetTag tag;
    if (TakeWord("column")) {
      tag.kind = ObjectKind::kColumn;
      VARVE_ASSIGN_OR_RETURN(tag.target, Column());
    } else {
      VARVE_ASSIGN_OR_RETURN(tag.kind, Kind());
      VARVE_ASSIGN_OR_RETURN(tag.target.table, Object());
    }
    VARVE_ASSIGN_OR_RETURN(tag.key, Name());
    return tag;
  }

  absl::StatusOr<Operation> ParseTag() {
    VARVE_ASSIGN_OR_RETURN(SetTag tag, TagTarget());
    VARVE_RETURN_IF_ERROR(Expect('='));
    VARVE_ASSIGN_OR_RETURN(tag.value, ParseLiteral());
    return tag;
  }

  absl::StatusOr<Operation> ParseUntag() { return TagTarget(); }

  absl::StatusOr<Operation> ParsePartition() {
    PartitionBy partition;
    VARVE_ASSIGN_OR_RETURN(partition.table, Object());
    VARVE_RETURN_IF_ERROR(ExpectWord("by"));
    VARVE_ASSIGN_OR_RETURN(partition.keys,
                           List<PartitionKey>([this] { return ParsePartitionKey(); }));
    return partition;
  }

  // column | year(column) | bucket(4, column)
  absl::StatusOr<PartitionKey> ParsePartitionKey() {
    PartitionKey key = {.transform = "identity"};
    VARVE_ASSIGN_OR_RETURN(key.column, Name());
    if (!Take('(')) {
      return key;
    }
    key.transform = std::move(key.column);
    if (key.transform == "bucket") {
      VARVE_ASSIGN_OR_RETURN(int64_t buckets, Integer());
      VARVE_RETURN_IF_ERROR(Expect(','));
      key.transform = StrCat("bucket(", buckets, ")");
    }
    VARVE_ASSIGN_OR_RETURN(key.column, Name());
    VARVE_RETURN_IF_ERROR(Expect(')'));
    return key;
  }

  absl::StatusOr<Operation> ParseSort() {
    SortBy sort;
    VARVE_ASSIGN_OR_RETURN(sort.table, Object());
    VARVE_RETURN_IF_ERROR(ExpectWord("by"));
    VARVE_ASSIGN_OR_RETURN(sort.keys, List<SortKey>([this] { return ParseSortKey(); }));
    return sort;
  }

  // 'expression' [asc|desc] [nulls first|last]
  absl::StatusOr<SortKey> ParseSortKey() {
    SortKey key;
    VARVE_ASSIGN_OR_RETURN(key.expression, String());
    key.direction = TakeWord("desc") ? "DESC" : (TakeWord("asc"), "ASC");
    key.null_order = "NULLS_LAST";
    if (TakeWord("nulls")) {
      key.null_order = TakeWord("first") ? "NULLS_FIRST" : "NULLS_LAST";
      if (key.null_order == "NULLS_LAST") {
        VARVE_RETURN_IF_ERROR(ExpectWord("last"));
      }
    }
    return key;
  }

  absl::StatusOr<Operation> ParseUnsort() {
    VARVE_ASSIGN_OR_RETURN(ObjectName table, Object());
    return SortBy{.table = std::move(table)};
  }

  // --- Data ------------------------------------------------------------------------------------

  absl::StatusOr<Operation> ParseInsertRows() {
    InsertRows insert;
    VARVE_ASSIGN_OR_RETURN(insert.table, Object());
    do {
      VARVE_ASSIGN_OR_RETURN(std::vector<Literal> row, LiteralList());
      insert.rows.push_back(std::move(row));
    } while (Take(','));
    return insert;
  }

  absl::StatusOr<Operation> ParseUpdateRow() {
    UpdateRow update;
    VARVE_ASSIGN_OR_RETURN(update.table, Object());
    VARVE_RETURN_IF_ERROR(ExpectWord("row"));
    VARVE_ASSIGN_OR_RETURN(update.row_id, Integer());
    VARVE_RETURN_IF_ERROR(ExpectWord("set"));
    VARVE_ASSIGN_OR_RETURN(update.values, Assignments());
    return update;
  }

  absl::StatusOr<Operation> ParseDeleteRows() {
    DeleteRows remove;
    VARVE_ASSIGN_OR_RETURN(remove.table, Object());
    VARVE_RETURN_IF_ERROR(ExpectWord("rows"));
    VARVE_ASSIGN_OR_RETURN(remove.row_ids, Integers());
    return remove;
  }

  absl::StatusOr<Operation> ParseDeleteInFile() {
    DeleteInFile remove;
    VARVE_RETURN_IF_ERROR(ExpectWord("file"));
    VARVE_ASSIGN_OR_RETURN(remove.data_file, Name());
    VARVE_RETURN_IF_ERROR(ExpectWord("rows"));
    VARVE_ASSIGN_OR_RETURN(remove.row_ids, Integers());
    return remove;
  }

  absl::StatusOr<Operation> ParseAddFile() {
    AddFile add;
    VARVE_ASSIGN_OR_RETURN(add.label, Name());
    VARVE_RETURN_IF_ERROR(ExpectWord("to"));
    VARVE_ASSIGN_OR_RETURN(add.table, Object());
    VARVE_RETURN_IF_ERROR(ExpectWord("rows"));
    VARVE_ASSIGN_OR_RETURN(add.rows, Integer());
    VARVE_RETURN_IF_ERROR(ExpectWord("bytes"));
    VARVE_ASSIGN_OR_RETURN(add.bytes, Integer());
    VARVE_ASSIGN_OR_RETURN(add.begin, OptionalSnapshot("begin"));
    VARVE_ASSIGN_OR_RETURN(add.partial_max, OptionalSnapshot("partial_max"));
    if (TakeWord("partition")) {
      VARVE_ASSIGN_OR_RETURN(add.partition, LiteralList());
    }
    if (TakeWord("stats")) {
      VARVE_ASSIGN_OR_RETURN(add.statistics,
                             List<FileStatistics>([this] { return ParseStatistics(); }));
    }
    return add;
  }

  // column min to max [nulls n]
  absl::StatusOr<FileStatistics> ParseStatistics() {
    FileStatistics statistics;
    VARVE_ASSIGN_OR_RETURN(statistics.column, Name());
    VARVE_ASSIGN_OR_RETURN(statistics.min, ParseLiteral());
    VARVE_RETURN_IF_ERROR(ExpectWord("to"));
    VARVE_ASSIGN_OR_RETURN(statistics.max, ParseLiteral());
    if (TakeWord("nulls")) {
      VARVE_ASSIGN_OR_RETURN(statistics.nulls, Integer());
    }
    return statistics;
  }

  absl::StatusOr<Operation> ParseAddDeleteFile() {
    AddDeleteFile add;
    VARVE_RETURN_IF_ERROR(ExpectWord("file"));
    VARVE_ASSIGN_OR_RETURN(add.label, Name());
    VARVE_RETURN_IF_ERROR(ExpectWord("for"));
    VARVE_ASSIGN_OR_RETURN(add.data_file, Name());
    VARVE_RETURN_IF_ERROR(ExpectWord("deletes"));
    VARVE_ASSIGN_OR_RETURN(add.deletes, Integer());
    VARVE_RETURN_IF_ERROR(ExpectWord("bytes"));
    VARVE_ASSIGN_OR_RETURN(add.bytes, Integer());
    return add;
  }

  absl::StatusOr<Operation> ParseRemoveFile() {
    VARVE_ASSIGN_OR_RETURN(std::string label, Name());
    return RemoveFile{.label = std::move(label)};
  }

  absl::StatusOr<Operation> ParseMergeFiles() {
    MergeFiles merge;
    while (!TakeWord("into")) {
      VARVE_ASSIGN_OR_RETURN(std::string label, Name());
      merge.labels.push_back(std::move(label));
    }
    VARVE_ASSIGN_OR_RETURN(merge.into, Name());
    return merge;
  }

  absl::StatusOr<Operation> ParseSetOption() {
    SetOption set;
    VARVE_ASSIGN_OR_RETURN(set.key, Name());
    VARVE_RETURN_IF_ERROR(Expect('='));
    VARVE_ASSIGN_OR_RETURN(Literal value, ParseLiteral());
    set.value = value.value_or("");
    if (TakeWord("for")) {
      VARVE_RETURN_IF_ERROR(ExpectWord("table"));
      VARVE_ASSIGN_OR_RETURN(set.table, Object());
    }
    return set;
  }

  absl::StatusOr<Operation> ParseExpire() {
    VARVE_ASSIGN_OR_RETURN(std::vector<int64_t> ids, Integers());
    return ExpireSnapshots{.snapshots = {ids.begin(), ids.end()}};
  }

  // --- Single rows -----------------------------------------------------------------------------

  absl::StatusOr<Operation> WholeRow(RowStatement::Kind kind) {
    RowStatement row = {.kind = kind};
    VARVE_ASSIGN_OR_RETURN(row.relation, Name());
    VARVE_ASSIGN_OR_RETURN(row.values, Assignments());
    return row;
  }
  absl::StatusOr<Operation> ParseInsertRow() { return WholeRow(RowStatement::Kind::kInsert); }
  absl::StatusOr<Operation> ParsePutRow() { return WholeRow(RowStatement::Kind::kPut); }

  absl::StatusOr<Operation> RowByKey(RowStatement::Kind kind, std::string_view snapshot_word) {
    RowStatement row = {.kind = kind};
    VARVE_ASSIGN_OR_RETURN(row.relation, Name());
    VARVE_ASSIGN_OR_RETURN(row.key, LiteralList());
    VARVE_ASSIGN_OR_RETURN(row.snapshot, OptionalSnapshot(snapshot_word));
    return row;
  }
  absl::StatusOr<Operation> ParseEndRow() { return RowByKey(RowStatement::Kind::kEnd, "at"); }
  absl::StatusOr<Operation> ParseEraseRow() {
    return RowByKey(RowStatement::Kind::kErase, "begin");
  }

  absl::StatusOr<Operation> ParseCreateRelation() {
    CreateRelation create;
    VARVE_ASSIGN_OR_RETURN(create.name, Name());
    VARVE_ASSIGN_OR_RETURN(create.columns, Columns());
    if (TakeWord("key")) {
      VARVE_ASSIGN_OR_RETURN(create.key, NameList());
    }
    return create;
  }

  absl::StatusOr<Operation> ParseDropRelation() {
    VARVE_ASSIGN_OR_RETURN(std::string name, Name());
    return DropRelation{.name = std::move(name)};
  }
};

}  // namespace

absl::StatusOr<Scenario> ParseScenario(std::string_view file, std::string_view text) {
  VARVE_ASSIGN_OR_RETURN(std::vector<Token> tokens, TokenizeScript(file, text));
  return Parser(file, std::move(tokens)).Run();
}

}  // namespace varve::golden
