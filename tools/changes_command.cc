// varve changes: what commits did to rows, in the order they were made.

#include <gflags/gflags.h>

#include <array>
#include <limits>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/feed/change_feed.h"
#include "catalog/handle.h"
#include "catalog/store/version_group.h"
#include "tools/commands.h"
#include "tools/flags.h"
#include "tools/progress.h"
#include "tools/row_output.h"

DEFINE_string(from_snapshot, "", "the snapshot after whose commit the changes begin");
DEFINE_string(to_snapshot, "", "the snapshot with whose commit the changes end");

namespace varve {
namespace {

struct Window {
  Csn from = 0;
  Csn to = 0;
};

// One end of the window: a csn, a snapshot, or what it is without either.
absl::StatusOr<Csn> ChosenEnd(const ReadView& view, std::string_view name, const std::string& csn,
                              const std::string& snapshot, Csn otherwise) {
  if (!csn.empty() && !snapshot.empty()) {
    return UsageError(
        StrCat("--", name, " and --", name, "-snapshot exclude each other; give one of them"));
  }
  if (!csn.empty()) {
    return ParseCsnFlag(name, csn);
  }
  if (snapshot.empty()) {
    return otherwise;
  }
  VARVE_ASSIGN_OR_RETURN(const SnapshotId id,
                         ParseSnapshotFlag(StrCat(name, "-snapshot"), snapshot));
  return CsnOfSnapshot(view, id);
}

absl::StatusOr<Window> ChosenWindow(const ReadView& view) {
  VARVE_ASSIGN_OR_RETURN(const Csn begin, FeedBegin(*view.state()));
  Window window;
  VARVE_ASSIGN_OR_RETURN(window.from,
                         ChosenEnd(view, "from", FLAGS_from, FLAGS_from_snapshot, begin));
  VARVE_ASSIGN_OR_RETURN(window.to, ChosenEnd(view, "to", FLAGS_to, FLAGS_to_snapshot, view.csn()));
  if (window.from > window.to) {
    return UsageError(StrCat("the changes end at csn ", window.to, ", before they begin at csn ",
                             window.from, "; the feed goes forward only"));
  }
  return window;
}

// A row number is the key of rows that have no other.
std::string KeyText(const RelationSchema& relation, std::span<const Datum> row,
                    std::string_view handle) {
  return relation.handle_kind == HandleKind::kRowNumber ? HandleToText(relation, handle)
                                                        : ShownKey(relation, row);
}

std::string KeyJson(const RelationSchema& relation, std::span<const Datum> row,
                    std::string_view handle) {
  DecodedHandle decoded;
  if (relation.handle_kind == HandleKind::kRowNumber &&
      DecodeHandle(relation, handle, &decoded).ok()) {
    return StrCat("{\"row_number\":", decoded.row_number, "}");
  }
  return JsonObject(relation, row, relation.handle);
}

// For people: commits as headings, what happened, the key, the interval, and what a new or
// overwritten row says.
std::string Text(const ChangeBatch& batch, size_t i, std::span<const Datum> row) {
  const RelationSchema& relation = *batch.relation;
  const FeedKind kind = batch.kinds[i];
  if (kind == FeedKind::kRelationDropped) {
    return StrCat("  dropped   ", relation.name, "\n");
  }
  std::string text = StrCat("  ", FeedKindName(kind));
  text.append(12 - text.size(), ' ');
  StrAppend(&text, relation.name, " ", KeyText(relation, row, batch.handles[i]));
  if (relation.versioning == Versioning::kInterval && kind != FeedKind::kErased) {
    StrAppend(&text, " ", DescribeInterval(batch.begins[i], batch.ends[i]));
  } else if (relation.begin_column.has_value()) {
    StrAppend(&text, " begun at ", batch.begins[i]);
  }
  if (kind == FeedKind::kInserted || kind == FeedKind::kUpdated) {
    std::vector<std::string> parts;
    for (const size_t column : TellingColumns(relation, row)) {
      const ColumnSchema& schema = relation.columns.column(column);
      parts.push_back(StrCat(schema.name, "=", ShownValue(schema, row[column])));
    }
    StrAppend(&text, parts.empty() ? "" : "  ", StrJoin(parts, " "));
  }
  text.push_back('\n');
  return text;
}

absl::Status PrintRecord(const ChangeBatch& batch, size_t i, std::span<const Datum> row,
                         ResultWriter* writer) {
  const RelationSchema& relation = *batch.relation;
  const FeedKind kind = batch.kinds[i];
  const bool is_row = kind != FeedKind::kRelationDropped;
  const std::string key = is_row ? KeyJson(relation, row, batch.handles[i]) : "";
  const std::string values = is_row && kind != FeedKind::kErased
                                 ? JsonObject(relation, row, TellingColumns(relation, row))
                                 : "";
  const auto snapshot = [](SnapshotId id) { return Datum::Int64(static_cast<int64_t>(id)); };
  const bool has_begin = is_row && relation.begin_column.has_value();
  const std::array<Datum, 7> record = {snapshot(batch.csn),
                                       Datum::Bytes(relation.name),
                                       Datum::Bytes(FeedKindName(kind)),
                                       has_begin ? snapshot(batch.begins[i]) : Datum(),
                                       batch.ends[i] == kNoEnd ? Datum() : snapshot(batch.ends[i]),
                                       is_row ? Datum::Bytes(key) : Datum(),
                                       values.empty() ? Datum() : Datum::Bytes(values)};
  return writer->Row(record);
}

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments) {
  VARVE_ASSIGN_OR_RETURN(const OutputFormat format, ChosenFormat());
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForReading());
  const ReadView view = catalog->Current();
  VARVE_ASSIGN_OR_RETURN(const Window window, ChosenWindow(view));
  ChangeFeedOptions options;
  if (!arguments.empty()) {
    VARVE_ASSIGN_OR_RETURN(const RelationRef relation, ResolveRelation(view, arguments[0]));
    options.relations.push_back(relation->id);
  }
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<ChangeReader> reader,
                         Changes(view, window.from, window.to, std::move(options)));

  Stdout out;
  const auto writer = MakeResultWriter(format,
                                       {{"csn", TypeKind::kInt64},
                                        {"relation"},
                                        {"change"},
                                        {"begin", TypeKind::kInt64},
                                        {"end", TypeKind::kInt64},
                                        {"key", TypeKind::kJson, Rendering::kEmbeddedJson},
                                        {"row", TypeKind::kJson, Rendering::kEmbeddedJson}},
                                       &out);
  const bool for_people = format == OutputFormat::kTable;
  const uint64_t limit = ChosenLimit().value_or(std::numeric_limits<uint64_t>::max());
  uint64_t changes = 0;
  Csn heading = 0;
  ChangeBatch batch;
  std::vector<Datum> row;
  // The limit is looked at between commits only, so that the position is one to go on from.
  while (changes < limit || reader->position() < heading) {
    VARVE_ASSIGN_OR_RETURN(const bool more, reader->Next(&batch));
    if (!more) {
      break;
    }
    if (for_people && batch.csn != heading) {
      VARVE_RETURN_IF_ERROR(out.Write(StrCat("csn ", batch.csn, "\n")));
    }
    heading = batch.csn;
    for (size_t i = 0; i < batch.num_rows(); ++i) {
      row.clear();
      for (size_t column = 0; column < batch.columns.num_columns(); ++column) {
        row.push_back(batch.columns.column(column).at(i));
      }
      VARVE_RETURN_IF_ERROR(for_people ? out.Write(Text(batch, i, row))
                                       : PrintRecord(batch, i, row, writer.get()));
      ++changes;
    }
  }
  VARVE_RETURN_IF_ERROR(
      for_people
          ? out.Write(StrCat("(", WithThousands(changes), changes == 1 ? " change" : " changes",
                             " after csn ", window.from, ", up to ", reader->position(), ")\n"))
          : writer->Finish());
  VARVE_RETURN_IF_ERROR(out.Flush());
  return kExitOk;
}

}  // namespace

Command ChangesCommand() {
  return {
      .name = "changes",
      .arguments = "[RELATION]",
      .summary = "show what commits did to rows, in the order they were made",
      .details =
          "Commits are numbered: each has a csn. Shown are those after --from up to and including\n"
          "--to; the number at the end is where to go on from. A snapshot stands for the commit\n"
          "that made it. Rows are inserted, ended, updated (overwritten in place) and erased; of\n"
          "an erased one the key and the begin are known. Of a commit that changes other "
          "relations\n"
          "too, RELATION shows its own rows. Exit code 4: what is asked for has expired, or came\n"
          "with an import, which leaves no changes.",
      .flags = {kCatalogFlag,
                {"from", "CSN", "after this commit; default: where the feed begins"},
                {"to", "CSN", "up to this commit; default: the last one"},
                {"from_snapshot", "S1", "after the commit that made snapshot S1"},
                {"to_snapshot", "S2", "up to the commit that made snapshot S2"},
                {"limit", "N", "stop behind the commit with the N-th change"},
                kFormatFlag,
                kReadOnlyFlag},
      .max_arguments = 1,
      .run = Run};
}

}  // namespace varve
