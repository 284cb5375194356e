#include "golden/native_writer.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/inspect/row_reader.h"
#include "catalog/transaction/transaction.h"

namespace varve::golden {
namespace {

template <typename T>
constexpr bool kIsRowStatement =
    std::is_same_v<T, RowStatement> || std::is_same_v<T, CreateRelation> ||
    std::is_same_v<T, DropRelation> || std::is_same_v<T, ExpireSnapshots>;

class NativeBlock {
 public:
  NativeBlock(Catalog* catalog, Transaction* transaction, int64_t next_catalog_id)
      : catalog_(catalog), transaction_(*transaction), next_catalog_id_(next_catalog_id) {}

  absl::Status Execute(const CreateSchema& s) {
    return transaction_.CreateSchema(s.name, {.uuid = NextUuid()}).status();
  }
  absl::Status Execute(const DropSchema& s) {
    VARVE_ASSIGN_OR_RETURN(const int64_t id, transaction_.FindSchema(s.name));
    return transaction_.DropSchema(id);
  }
  absl::Status Execute(const CreateTable& s) {
    VARVE_ASSIGN_OR_RETURN(const int64_t schema, transaction_.FindSchema(s.table.schema));
    std::vector<ColumnDefinition> columns;
    for (const ColumnSpec& column : s.columns) {
      columns.push_back(Definition(column));
    }
    return transaction_.CreateTable(schema, s.table.name, columns, {.uuid = NextUuid()}).status();
  }
  absl::Status Execute(const CreateView& s) {
    VARVE_ASSIGN_OR_RETURN(const int64_t schema, transaction_.FindSchema(s.view.schema));
    return transaction_
        .CreateView(schema, s.view.name,
                    {.sql = s.sql, .column_aliases = s.aliases, .uuid = NextUuid()})
        .status();
  }
  absl::Status Execute(const CreateMacro& s) {
    VARVE_ASSIGN_OR_RETURN(const int64_t schema, transaction_.FindSchema(s.macro.schema));
    std::vector<varve::MacroImplementation> implementations;
    for (const MacroImplementation& implementation : s.implementations) {
      varve::MacroImplementation& made = implementations.emplace_back();
      made.sql = implementation.sql;
      for (const MacroParameter& parameter : implementation.parameters) {
        varve::MacroParameter& p = made.parameters.emplace_back();
        p.name = parameter.name;
        if (parameter.default_value.has_value()) {
          p.default_value = *parameter.default_value;
          p.default_value_type = "int32";
        } else {
          p.default_value = "NULL";
        }
      }
    }
    ++next_catalog_id_;
    return transaction_
        .CreateMacro(schema, s.macro.name, s.table_macro ? MacroKind::kTable : MacroKind::kScalar,
                     implementations)
        .status();
  }
  absl::Status Execute(const DropObject& s) {
    VARVE_ASSIGN_OR_RETURN(const int64_t id, Find(s.kind, s.object));
    switch (s.kind) {
      case ObjectKind::kTable: return transaction_.DropTable(id);
      case ObjectKind::kView: return transaction_.DropView(id);
      case ObjectKind::kMacro: return transaction_.DropMacro(id);
      case ObjectKind::kColumn: break;
    }
    return absl::InternalError("a column is dropped by another statement");
  }
  absl::Status Execute(const RenameObject& s) {
    VARVE_ASSIGN_OR_RETURN(const int64_t id, Find(s.kind, s.object));
    switch (s.kind) {
      case ObjectKind::kTable: return transaction_.RenameTable(id, s.to);
      case ObjectKind::kView: return transaction_.RenameView(id, s.to);
      default: return absl::UnimplementedError("the API renames tables and views");
    }
  }
  absl::Status Execute(const MoveTable& s) {
    VARVE_ASSIGN_OR_RETURN(const int64_t id, Find(ObjectKind::kTable, s.table));
    VARVE_ASSIGN_OR_RETURN(const int64_t schema, transaction_.FindSchema(s.to_schema));
    return transaction_.MoveTable(id, schema);
  }
  absl::Status Execute(const AddColumn& s) {
    VARVE_ASSIGN_OR_RETURN(const int64_t table, Find(ObjectKind::kTable, s.parent.table));
    std::optional<int64_t> parent;
    if (!s.parent.path.empty()) {
      VARVE_ASSIGN_OR_RETURN(parent, transaction_.FindColumn(table, s.parent.path));
    }
    return transaction_.AddColumn(table, Definition(s.column), parent).status();
  }
  absl::Status Execute(const DropColumn& s) {
    VARVE_ASSIGN_OR_RETURN(const Column column, FindColumn(s.column));
    return transaction_.DropColumn(column.table, column.id);
  }
  absl::Status Execute(const RenameColumn& s) {
    VARVE_ASSIGN_OR_RETURN(const Column column, FindColumn(s.column));
    return transaction_.RenameColumn(column.table, column.id, s.to);
  }
  absl::Status Execute(const AlterColumn& s) {
    VARVE_ASSIGN_OR_RETURN(const Column column, FindColumn(s.column));
    if (s.type.has_value()) {
      VARVE_RETURN_IF_ERROR(transaction_.SetColumnType(column.table, column.id, *s.type));
    }
    if (s.default_value.has_value()) {
      VARVE_RETURN_IF_ERROR(
          transaction_.SetColumnDefault(column.table, column.id, *s.default_value));
    }
    if (s.not_null.has_value()) {
      VARVE_RETURN_IF_ERROR(transaction_.SetColumnNullable(column.table, column.id, !*s.not_null));
    }
    return absl::OkStatus();
  }
  absl::Status Execute(const SetTag& s) {
    const NullableText value = s.value.has_value() ? *s.value : std::nullopt;
    if (s.kind == ObjectKind::kColumn) {
      VARVE_ASSIGN_OR_RETURN(const Column column, FindColumn(s.target));
      return transaction_.SetColumnTag(column.table, column.id, s.key, value);
    }
    VARVE_ASSIGN_OR_RETURN(const int64_t id, Find(s.kind, s.target.table));
    return transaction_.SetTag(id, s.key, value);
  }
  absl::Status Execute(const PartitionBy& s) {
    VARVE_ASSIGN_OR_RETURN(const int64_t table, Find(ObjectKind::kTable, s.table));
    std::vector<varve::PartitionKey> keys;
    for (const PartitionKey& key : s.keys) {
      VARVE_ASSIGN_OR_RETURN(const int64_t column,
                             transaction_.FindColumn(table, std::array{key.column}));
      keys.push_back({.column_id = column, .transform = key.transform});
    }
    ++next_catalog_id_;
    return transaction_.SetPartitioning(table, keys);
  }
  absl::Status Execute(const SortBy& s) {
    VARVE_ASSIGN_OR_RETURN(const int64_t table, Find(ObjectKind::kTable, s.table));
    std::vector<varve::SortKey> keys;
    for (const SortKey& key : s.keys) {
      keys.push_back({.expression = key.expression,
                      .ascending = key.direction == "ASC",
                      .nulls_first = key.null_order == "NULLS_FIRST"});
    }
    next_catalog_id_ += keys.empty() ? 0 : 1;
    return transaction_.SetSortOrder(table, keys);
  }
  absl::Status Execute(const SetOption& s) {
    if (!s.table.has_value()) {
      return transaction_.SetOption(OptionScope::kGlobal, 0, s.key, s.value);
    }
    VARVE_ASSIGN_OR_RETURN(const int64_t table, Find(ObjectKind::kTable, *s.table));
    return transaction_.SetOption(OptionScope::kTable, table, s.key, s.value);
  }

  // --- Rows and files ---

  absl::Status Execute(const InsertRows& s) {
    VARVE_ASSIGN_OR_RETURN(const int64_t table, Find(ObjectKind::kTable, s.table));
    return transaction_.InsertInlined(table, s.rows).status();
  }
  absl::Status Execute(const UpdateRow& s) {
    VARVE_ASSIGN_OR_RETURN(const int64_t table, Find(ObjectKind::kTable, s.table));
    VARVE_ASSIGN_OR_RETURN(const int64_t row_id, RowId(table, s.row_id));
    VARVE_ASSIGN_OR_RETURN(const std::vector<NullableText> values,
                           UpdatedValues(table, row_id, s.values));
    return transaction_.UpdateInlined(table, row_id, values);
  }
  absl::Status Execute(const DeleteRows& s) {
    VARVE_ASSIGN_OR_RETURN(const int64_t table, Find(ObjectKind::kTable, s.table));
    std::vector<int64_t> row_ids;
    for (const int64_t written : s.row_ids) {
      VARVE_ASSIGN_OR_RETURN(row_ids.emplace_back(), RowId(table, written));
    }
    return transaction_.DeleteInlined(table, row_ids);
  }
  absl::Status Execute(const AddFile& s) {
    VARVE_ASSIGN_OR_RETURN(const int64_t table, Find(ObjectKind::kTable, s.table));
    DataFile file = {.path = s.label + ".parquet",
                     .record_count = s.rows,
                     .file_size_bytes = s.bytes,
                     .footer_size = 200};
    file.partition_values = s.partition;
    for (const FileStatistics& statistics : s.statistics) {
      VARVE_ASSIGN_OR_RETURN(const int64_t column,
                             transaction_.FindColumn(table, std::array{statistics.column}));
      VARVE_ASSIGN_OR_RETURN(const std::optional<bool> nan, ContainsNan(table, column));
      file.columns.push_back({.column_id = column,
                              .value_count = s.rows,
                              .null_count = statistics.nulls,
                              .min_value = statistics.min,
                              .max_value = statistics.max,
                              .contains_nan = nan});
    }
    return transaction_.RegisterDataFiles(table, {&file, 1}).status();
  }
  absl::Status Execute(const AddDeleteFile& s) {
    VARVE_ASSIGN_OR_RETURN(const File file, FindFile(s.data_file));
    const DeleteFile deletes = {.data_file_id = file.id,
                                .path = s.label + ".parquet",
                                .delete_count = s.deletes,
                                .file_size_bytes = s.bytes,
                                .footer_size = 150};
    return transaction_.RegisterDeleteFiles(file.table, {&deletes, 1}).status();
  }
  absl::Status Execute(const DeleteInFile& s) {
    VARVE_ASSIGN_OR_RETURN(const File file, FindFile(s.data_file));
    return transaction_.DeleteFromFile(file.table, file.id, s.row_ids);
  }
  absl::Status Execute(const RemoveFile& s) {
    VARVE_ASSIGN_OR_RETURN(const File file, FindFile(s.label));
    return transaction_.EndDataFiles(file.table, {&file.id, 1});
  }
  absl::Status Execute(const MergeFiles& s) {
    std::vector<int64_t> sources;
    DataFile merged = {.path = s.into + ".parquet", .footer_size = 200};
    int64_t table = 0;
    for (const std::string& label : s.labels) {
      VARVE_ASSIGN_OR_RETURN(const File file, FindFile(label));
      sources.push_back(file.id);
      table = file.table;
      merged.record_count += file.rows;
      merged.file_size_bytes += file.bytes;
    }
    return transaction_.MergeFiles(table, sources, merged).status();
  }

  template <typename T>
  requires kIsRowStatement<T> absl::Status Execute(const T& /*statement*/) {
    return absl::InternalError("there is no operation for this statement");
  }

 private:
  struct Column {
    int64_t table = 0;
    int64_t id = 0;
  };
  struct File {
    int64_t table = 0;
    int64_t id = 0;
    int64_t rows = 0;
    int64_t bytes = 0;
  };

  // Ids are counted as the commit will give them: nobody else writes.
  std::string NextUuid() {
    return absl::StrFormat("00000000-0000-4000-8000-%012x", next_catalog_id_++);
  }

  static ColumnDefinition Definition(const ColumnSpec& spec) {
    ColumnDefinition column = {.name = spec.name,
                               .type = spec.type,
                               .nullable = !spec.not_null,
                               .initial_default = spec.default_value,
                               .default_value = spec.default_value};
    for (const ColumnSpec& field : spec.fields) {
      column.fields.push_back(Definition(field));
    }
    return column;
  }

  absl::StatusOr<int64_t> Find(ObjectKind kind, const ObjectName& name) {
    VARVE_ASSIGN_OR_RETURN(const int64_t schema, transaction_.FindSchema(name.schema));
    switch (kind) {
      case ObjectKind::kView: return transaction_.FindView(schema, name.name);
      case ObjectKind::kMacro: return transaction_.FindMacro(schema, name.name);
      default: return transaction_.FindTable(schema, name.name);
    }
  }
  absl::StatusOr<Column> FindColumn(const ColumnPath& path) {
    VARVE_ASSIGN_OR_RETURN(const int64_t table, Find(ObjectKind::kTable, path.table));
    VARVE_ASSIGN_OR_RETURN(const int64_t column, transaction_.FindColumn(table, path.path));
    return Column{.table = table, .id = column};
  }

  // The rows of a relation that the transaction sees, as canonical texts by column.
  using Texts = std::map<std::string, Literal>;
  absl::StatusOr<std::vector<Texts>> Rows(const RelationRef& relation) {
    VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan, transaction_.Scan(relation, {}));
    std::vector<Texts> rows;
    ScanBatch batch;
    while (true) {
      VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
      if (!more) {
        return rows;
      }
      for (size_t i = 0; i < batch.num_rows(); ++i) {
        Texts& texts = rows.emplace_back();
        for (size_t c = 0; c < relation->columns.num_columns(); ++c) {
          const ColumnSchema& column = relation->columns.column(c);
          const Datum value = batch.columns.column(c).at(i);
          texts[column.name] = value.is_null() ? Literal() : Literal(ToText(column.type, value));
        }
      }
    }
  }
  absl::StatusOr<std::vector<Texts>> Rows(RelationId relation) {
    return Rows(BuiltinRelationById(relation));
  }

  // A script names the rows it has just inserted by the ids they will have: in the transaction they
  // have provisional ones.
  absl::StatusOr<int64_t> RowId(int64_t table, int64_t written) {
    int64_t next = 0;
    VARVE_RETURN_IF_ERROR(
        ForEachRow(transaction_.base(), kTableStats, {"table_id", "next_row_id"}, {},
                   [&](const RowReader& row) { next = row.Int(0) == table ? row.Int(1) : next; }));
    return written < next ? written : kFirstProvisionalRowId + (written - next);
  }

  absl::StatusOr<File> FindFile(const std::string& label) {
    VARVE_ASSIGN_OR_RETURN(const std::vector<Texts> files, Rows(kDataFile));
    for (const Texts& file : files) {
      if (file.at("path") == label + ".parquet") {
        return File{.table = std::stoll(*file.at("table_id")),
                    .id = std::stoll(*file.at("data_file_id")),
                    .rows = std::stoll(*file.at("record_count")),
                    .bytes = std::stoll(*file.at("file_size_bytes"))};
      }
    }
    return absl::NotFoundError(StrCat("there is no file ", label));
  }

  absl::StatusOr<std::vector<Texts>> TopColumns(int64_t table) {
    VARVE_ASSIGN_OR_RETURN(std::vector<Texts> columns, Rows(kColumn));
    std::erase_if(columns, [&](const Texts& column) {
      return column.at("table_id") != std::to_string(table) ||
             column.at("parent_column").has_value();
    });
    std::sort(columns.begin(), columns.end(), [](const Texts& a, const Texts& b) {
      return std::stoll(*a.at("column_order")) < std::stoll(*b.at("column_order"));
    });
    return columns;
  }

  absl::StatusOr<std::optional<bool>> ContainsNan(int64_t table, int64_t column) {
    VARVE_ASSIGN_OR_RETURN(const std::vector<Texts> columns, TopColumns(table));
    for (const Texts& row : columns) {
      if (row.at("column_id") == std::to_string(column)) {
        return row.at("column_type")->starts_with("float") ? std::optional(false) : std::nullopt;
      }
    }
    return std::nullopt;
  }

  absl::StatusOr<std::vector<NullableText>> UpdatedValues(
      int64_t table, int64_t row_id, const std::vector<Assignment>& assignments) {
    VARVE_ASSIGN_OR_RETURN(const std::vector<Texts> columns, TopColumns(table));
    VARVE_ASSIGN_OR_RETURN(const std::vector<Texts> inlined, Rows(kInlinedDataTables));
    Texts old;
    for (const Texts& version : inlined) {
      const RelationRef relation =
          catalog_->Current().relations().FindByName(*version.at("table_name"));
      if (version.at("table_id") != std::to_string(table) || relation == nullptr) {
        continue;
      }
      VARVE_ASSIGN_OR_RETURN(const std::vector<Texts> rows, Rows(relation));
      for (const Texts& row : rows) {
        if (row.at("row_id") == std::to_string(row_id)) {
          old = row;
        }
      }
    }
    std::vector<NullableText> values;
    for (const Texts& column : columns) {
      const std::string& name = *column.at("column_name");
      const auto set = std::find_if(assignments.begin(), assignments.end(),
                                    [&](const Assignment& term) { return term.column == name; });
      const auto kept = old.find(name);
      values.push_back(set != assignments.end() ? set->value
                       : kept != old.end()      ? kept->second
                                                : column.at("initial_default"));
    }
    return values;
  }

  Catalog* catalog_;
  Transaction& transaction_;
  int64_t next_catalog_id_;
};

struct LastSnapshot {
  absl::Time time;
  int64_t next_catalog_id = 0;
};

absl::StatusOr<LastSnapshot> ReadLastSnapshot(const ReadView& view) {
  LastSnapshot last;
  VARVE_RETURN_IF_ERROR(ForEachRow(view, kSnapshot, {"snapshot_time", "next_catalog_id"}, {},
                                   [&](const RowReader& row) {
                                     last.time = absl::FromUnixMicros(row.Int(0));
                                     last.next_catalog_id = row.Int(1);
                                   }));
  return last;
}

}  // namespace

namespace {

bool HasName(const ObjectName& name) {
  return !name.name.empty();
}

// What the API has no operation for, or refuses on purpose.
template <typename T>
bool IsOffered(const T& operation) {
  if constexpr (std::is_same_v<T, AddFile>) {
    return !operation.begin.has_value() && !operation.partial_max.has_value();
  } else if constexpr (std::is_same_v<T, RenameObject>) {
    return operation.kind != ObjectKind::kMacro && HasName(operation.object);
  } else if constexpr (std::is_same_v<T, CreateTable>) {
    return HasName(operation.table);
  } else if constexpr (std::is_same_v<T, SetTag>) {
    // By the API, a tag without a value is no tag.
    return HasName(operation.target.table) &&
           (!operation.value.has_value() || operation.value->has_value());
  } else {
    return !kIsRowStatement<T>;
  }
}

}  // namespace

bool IsNative(const Block& block) {
  // The API makes no snapshot of nothing, nor of options alone.
  const bool changes =
      std::any_of(block.statements.begin(), block.statements.end(), [](const Statement& statement) {
        return !std::holds_alternative<SetOption>(statement.operation);
      });
  return !block.id.has_value() && changes == block.makes_snapshot &&
         std::all_of(block.statements.begin(), block.statements.end(),
                     [](const Statement& statement) {
                       return std::visit([](const auto& operation) { return IsOffered(operation); },
                                         statement.operation);
                     });
}

absl::Status CommitNatively(std::string_view file, const Block& block, Catalog* catalog) {
  VARVE_ASSIGN_OR_RETURN(const LastSnapshot last, ReadLastSnapshot(catalog->Current()));
  VARVE_ASSIGN_OR_RETURN(Transaction transaction,
                         catalog->Begin({.time = last.time + absl::Seconds(1)}));
  NativeBlock native(catalog, &transaction, last.next_catalog_id);
  for (const Statement& statement : block.statements) {
    const absl::Status status = std::visit(
        [&](const auto& operation) { return native.Execute(operation); }, statement.operation);
    if (!status.ok()) {
      return absl::Status(status.code(),
                          StrCat(file, ":", statement.line, ": by the API: ", MessageOf(status)));
    }
  }
  return transaction
      .Commit({.author = block.author, .message = block.message, .extra_info = block.extra})
      .status();
}

}  // namespace varve::golden
