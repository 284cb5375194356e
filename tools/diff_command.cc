// varve diff: what changed between two snapshots.

#include "catalog/inspect/diff.h"

#include <array>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/relation_directory.h"
#include "tools/commands.h"
#include "tools/flags.h"
#include "tools/progress.h"
#include "tools/row_output.h"

namespace varve {
namespace {

struct Counts {
  uint64_t added = 0;
  uint64_t removed = 0;
  uint64_t changed = 0;
};

// The columns a difference shows: the changed ones, or of a whole row those that say something.
std::vector<size_t> ShownColumns(const RelationSchema& relation, const RowDiff& diff) {
  return diff.kind == DiffKind::kChanged
             ? diff.changed_columns
             : TellingColumns(relation, diff.kind == DiffKind::kAdded ? diff.after->values()
                                                                      : diff.before->values());
}

// "table_name: 'orders' -> 'purchases'", or "table_name='orders' path='orders/'".
std::string DetailText(const RelationSchema& relation, const RowDiff& diff) {
  std::vector<std::string> parts;
  for (const size_t i : ShownColumns(relation, diff)) {
    const ColumnSchema& column = relation.columns.column(i);
    if (diff.kind == DiffKind::kChanged) {
      parts.push_back(StrCat(column.name, ": ", ShownValue(column, (*diff.before)[i]), " -> ",
                             ShownValue(column, (*diff.after)[i])));
    } else {
      const Row& row = diff.kind == DiffKind::kAdded ? *diff.after : *diff.before;
      parts.push_back(StrCat(column.name, "=", ShownValue(column, row[i])));
    }
  }
  return StrJoin(parts, diff.kind == DiffKind::kChanged ? ", " : " ");
}

// For people: relations as headings, a sign, the key, and what is new or different.
absl::Status PrintText(const RelationSchema& relation, const RowDiff& diff, bool first,
                       Stdout* out) {
  const Row& row = diff.after.has_value() ? *diff.after : *diff.before;
  const char sign =
      diff.kind == DiffKind::kAdded ? '+' : (diff.kind == DiffKind::kRemoved ? '-' : '~');
  std::string text = first ? StrCat(relation.name, "\n") : "";
  StrAppend(&text, "  ", std::string(1, sign), " ", ShownKey(relation, row.values()));
  const std::string detail = DetailText(relation, diff);
  StrAppend(&text, detail.empty() ? "" : "  ", detail, "\n");
  return out->Write(text);
}

absl::Status PrintRecord(const RelationSchema& relation, const RowDiff& diff,
                         ResultWriter* writer) {
  constexpr std::string_view kNames[] = {"added", "removed", "changed"};
  const std::vector<size_t> columns = ShownColumns(relation, diff);
  const Row& any = diff.after.has_value() ? *diff.after : *diff.before;
  const std::string key = JsonObject(relation, any.values(), relation.handle);
  const std::string before =
      diff.before.has_value() ? JsonObject(relation, diff.before->values(), columns) : "";
  const std::string after =
      diff.after.has_value() ? JsonObject(relation, diff.after->values(), columns) : "";
  const std::array<Datum, 5> values = {
      Datum::Bytes(relation.name), Datum::Bytes(kNames[static_cast<int>(diff.kind)]),
      Datum::Bytes(key), before.empty() ? Datum() : Datum::Bytes(before),
      after.empty() ? Datum() : Datum::Bytes(after)};
  return writer->Row(values);
}

// Without a name every relation that has a past of its own or its parent's. The snapshots
// themselves differ by what was asked for, so they are left out unless named.
absl::StatusOr<std::vector<RelationRef>> ChosenRelations(
    const ReadView& view, const std::vector<std::string>& arguments) {
  if (!arguments.empty()) {
    VARVE_ASSIGN_OR_RETURN(RelationRef relation, ResolveRelation(view, arguments[0]));
    return std::vector<RelationRef>{std::move(relation)};
  }
  std::vector<RelationRef> relations;
  for (const RelationRef& relation : view.relations().relations()) {
    if (relation->versioning != Versioning::kUnversioned && relation->id != kSnapshot &&
        relation->id != kSnapshotChanges) {
      relations.push_back(relation);
    }
  }
  return relations;
}

absl::StatusOr<DiffPath> ChosenPath() {
  if (FLAGS_path == "auto") {
    return DiffPath::kAuto;
  }
  if (FLAGS_path == "feed") {
    return DiffPath::kFeed;
  }
  if (FLAGS_path == "scan") {
    return DiffPath::kScan;
  }
  return UsageError(StrCat("--path=", FLAGS_path, ": expected auto, feed or scan",
                           DidYouMean(FLAGS_path, {"auto", "feed", "scan"})));
}

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments) {
  VARVE_ASSIGN_OR_RETURN(const OutputFormat format, ChosenFormat());
  VARVE_ASSIGN_OR_RETURN(const DiffPath path, ChosenPath());
  if (FLAGS_from.empty()) {
    return UsageError("diff needs --from=S: the snapshot to compare with");
  }
  VARVE_ASSIGN_OR_RETURN(const SnapshotId from_id, ParseSnapshotFlag("from", FLAGS_from));
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForReading());
  absl::StatusOr<ReadView> to = catalog->Current();
  if (!FLAGS_to.empty()) {
    VARVE_ASSIGN_OR_RETURN(const SnapshotId to_id, ParseSnapshotFlag("to", FLAGS_to));
    to = catalog->At(to_id);
  }
  VARVE_RETURN_IF_ERROR(to.status());
  VARVE_RETURN_IF_ERROR(catalog->At(from_id).status());
  const ReadView from(to->state(), from_id);
  VARVE_ASSIGN_OR_RETURN(const std::vector<RelationRef> relations, ChosenRelations(*to, arguments));

  Stdout out;
  const auto writer = MakeResultWriter(format,
                                       {{"relation"},
                                        {"change"},
                                        {"key", TypeKind::kJson, Rendering::kEmbeddedJson},
                                        {"before", TypeKind::kJson, Rendering::kEmbeddedJson},
                                        {"after", TypeKind::kJson, Rendering::kEmbeddedJson}},
                                       &out);
  Counts counts;
  RelationRef previous;
  const auto print = [&](const RelationRef& relation, const RowDiff& diff) {
    ++(diff.kind == DiffKind::kAdded     ? counts.added
       : diff.kind == DiffKind::kRemoved ? counts.removed
                                         : counts.changed);
    const bool heading = relation != previous;
    previous = relation;
    return format == OutputFormat::kTable ? PrintText(*relation, diff, heading, &out)
                                          : PrintRecord(*relation, diff, writer.get());
  };
  VARVE_RETURN_IF_ERROR(DiffRelations(from, *to, relations, {.path = path}, print));
  VARVE_RETURN_IF_ERROR(format == OutputFormat::kTable
                            ? out.Write(StrCat("(", WithThousands(counts.added), " added, ",
                                               WithThousands(counts.removed), " removed, ",
                                               WithThousands(counts.changed), " changed)\n"))
                            : writer->Finish());
  VARVE_RETURN_IF_ERROR(out.Flush());
  return kExitOk;
}

}  // namespace

Command DiffCommand() {
  return {
      .name = "diff",
      .arguments = "--from=S1 [--to=S2] [RELATION]",
      .summary = "show the rows added, removed and changed between two snapshots",
      .details =
          "Rows are matched by key. Tables mark them +, - and ~; a changed row shows the columns\n"
          "that differ. csv and json give the key and the columns before and after as JSON "
          "objects.\n"
          "Without RELATION all are compared, save the snapshots themselves and relations that\n"
          "have no past. --from may be later than --to. The exit code is 0 either way.",
      .flags = {kCatalogFlag,
                {"from", "S1", "the snapshot to compare with"},
                {"to", "S2", "the snapshot compared; default: the latest"},
                {"path", "auto|feed|scan", "by the change feed, by scanning, or what is cheaper"},
                kFormatFlag,
                kReadOnlyFlag},
      .max_arguments = 1,
      .run = Run};
}

}  // namespace varve
