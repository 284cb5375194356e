// varve ls: schemas, tables, views, macros, columns and files by name.

#include "base/status.h"
#include "base/strings.h"
#include "catalog/inspect/listing.h"
#include "catalog/relation_directory.h"
#include "tools/commands.h"
#include "tools/flags.h"

namespace varve {
namespace {

Datum Text(std::string_view text) {
  return Datum::Bytes(text);
}
Datum OptionalText(const std::optional<std::string>& text) {
  return text.has_value() ? Datum::Bytes(*text) : Datum();
}
Datum TextOrNull(std::string_view text) {
  return text.empty() ? Datum() : Datum::Bytes(text);
}

ResultColumn Count(std::string name) {
  return {std::move(name), TypeKind::kInt64};
}
ResultColumn Size(std::string name) {
  return {std::move(name), TypeKind::kInt64, Rendering::kByteSize};
}

// What one listing needs: the view, the name to narrow to, and where its rows go.
struct Listing {
  const ReadView& view;
  std::string_view name;
  OutputFormat format;
  Stdout* out;

  std::unique_ptr<ResultWriter> Start(std::vector<ResultColumn> columns) const {
    return MakeResultWriter(format, std::move(columns), out);
  }
};

absl::Status Schemas(const Listing& to) {
  VARVE_ASSIGN_OR_RETURN(const auto schemas, ListSchemas(to.view, to.name));
  const auto writer = to.Start({{"schema"}, {"path"}, Count("tables"), Count("views")});
  for (const SchemaListing& s : schemas) {
    VARVE_RETURN_IF_ERROR(writer->Row(std::vector<Datum>{
        Text(s.name), Text(s.path), Datum::Int64(s.tables), Datum::Int64(s.views)}));
  }
  return writer->Finish();
}

absl::Status Tables(const Listing& to) {
  VARVE_ASSIGN_OR_RETURN(const auto tables, ListTables(to.view, to.name));
  const auto writer = to.Start(
      {{"schema"}, {"table"}, Count("columns"), Count("files"), Count("rows"), Size("size")});
  for (const TableListing& t : tables) {
    VARVE_RETURN_IF_ERROR(writer->Row(
        std::vector<Datum>{Text(t.schema), Text(t.name), Datum::Int64(t.columns),
                           Datum::Int64(t.files), Datum::Int64(t.rows), Datum::Int64(t.bytes)}));
  }
  return writer->Finish();
}

absl::Status Views(const Listing& to) {
  VARVE_ASSIGN_OR_RETURN(const auto views, ListViews(to.view, to.name));
  const auto writer = to.Start({{"schema"}, {"view"}, {"columns"}, {"dialect"}, {"sql"}});
  for (const ViewListing& v : views) {
    VARVE_RETURN_IF_ERROR(
        writer->Row(std::vector<Datum>{Text(v.schema), Text(v.name), OptionalText(v.column_aliases),
                                       Text(v.dialect), Text(v.sql)}));
  }
  return writer->Finish();
}

absl::Status Macros(const Listing& to) {
  VARVE_ASSIGN_OR_RETURN(const auto macros, ListMacros(to.view, to.name));
  const auto writer =
      to.Start({{"schema"}, {"macro"}, {"kind"}, {"parameters"}, {"dialect"}, {"sql"}});
  for (const MacroListing& m : macros) {
    VARVE_RETURN_IF_ERROR(
        writer->Row(std::vector<Datum>{Text(m.schema), Text(m.name), Text(m.kind),
                                       TextOrNull(m.parameters), Text(m.dialect), Text(m.sql)}));
  }
  return writer->Finish();
}

absl::Status Columns(const Listing& to) {
  VARVE_ASSIGN_OR_RETURN(const auto columns, ListColumns(to.view, to.name));
  const auto writer = to.Start(
      {{"schema"}, {"table"}, {"column"}, {"type"}, {"nullable", TypeKind::kBoolean}, {"default"}});
  for (const ColumnListing& c : columns) {
    VARVE_RETURN_IF_ERROR(
        writer->Row(std::vector<Datum>{Text(c.schema), Text(c.table), Text(c.name), Text(c.type),
                                       c.nullable.has_value() ? Datum::Bool(*c.nullable) : Datum(),
                                       OptionalText(c.default_value)}));
  }
  return writer->Finish();
}

absl::Status Files(const Listing& to) {
  const auto writer = to.Start({{"schema"},
                                {"table"},
                                {"path"},
                                Count("rows"),
                                Size("size"),
                                Count("deletes"),
                                Count("begin"),
                                {"partition"}});
  VARVE_RETURN_IF_ERROR(ListFiles(to.view, to.name, [&](const FileListing& f) {
    return writer->Row(
        std::vector<Datum>{Text(f.schema), Text(f.table), Text(f.path), Datum::Int64(f.rows),
                           Datum::Int64(f.bytes), Datum::Int64(f.deletes),
                           Datum::Int64(static_cast<int64_t>(f.begin)), TextOrNull(f.partition)});
  }));
  return writer->Finish();
}

struct Kind {
  std::string_view name;
  absl::Status (*list)(const Listing&);
};

constexpr Kind kKinds[] = {{"schemas", Schemas}, {"tables", Tables},   {"views", Views},
                           {"macros", Macros},   {"columns", Columns}, {"files", Files}};

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments) {
  std::vector<std::string_view> names;
  for (const Kind& kind : kKinds) {
    names.push_back(kind.name);
    if (kind.name != arguments[0]) {
      continue;
    }
    VARVE_ASSIGN_OR_RETURN(const OutputFormat format, ChosenFormat());
    VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForReading());
    VARVE_ASSIGN_OR_RETURN(const ReadView view, ChosenView(*catalog));
    Stdout out;
    const absl::Status status =
        kind.list({.view = view,
                   .name = arguments.size() > 1 ? std::string_view(arguments[1]) : "",
                   .format = format,
                   .out = &out});
    // A name several schemas have is a question of how the program was called.
    VARVE_RETURN_IF_ERROR(absl::IsInvalidArgument(status) ? AsUsageError(status) : status);
    VARVE_RETURN_IF_ERROR(out.Flush());
    return kExitOk;
  }
  const std::string hint = DidYouMean(arguments[0], names);
  return UsageError(StrCat("ls cannot list '", arguments[0], "'",
                           hint.empty() ? StrCat("; it lists ", StrJoin(names, ", ")) : hint));
}

}  // namespace

Command LsCommand() {
  return {
      .name = "ls",
      .arguments = "schemas|tables|views|macros|columns|files [NAME]",
      .summary = "list schemas, tables, views, macros, columns or files by name",
      .details =
          "NAME narrows the list to a schema, and for columns and files to a table: table,\n"
          "schema.table or \"Odd schema\".\"odd.table\", in any case. Sizes are rounded in tables "
          "and\nexact in csv and json. Rows do not count deleted ones and count inlined ones; a "
          "merged\nfile that holds rows of later snapshots counts whole.",
      .flags = {kCatalogFlag, kAtFlag, kAtTimeFlag, kFormatFlag, kReadOnlyFlag},
      .min_arguments = 1,
      .max_arguments = 2,
      .run = Run};
}

}  // namespace varve
