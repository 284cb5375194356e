// varve restore: what a table, a schema or the whole lake was at a snapshot, again.

#include <gflags/gflags.h>

#include <cstdio>
#include <functional>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/inspect/object_names.h"
#include "catalog/transaction/action.h"
#include "catalog/transaction/transaction.h"
#include "tools/commands.h"
#include "tools/flags.h"

DEFINE_string(schema, "", "the schema to restore");
DEFINE_bool(all, false, "restore all schemas");

namespace varve {
namespace {

// What is restored.
struct Target {
  std::string text;  // `table "sales"."orders"`
  std::function<absl::Status(Transaction&, SnapshotId)> restore;
};

// Names are those of the snapshot: what was dropped or renamed since is found by the name it had.
absl::StatusOr<Target> TableTarget(const ObjectNames& names, const std::string& name) {
  const absl::StatusOr<std::vector<const TableName*>> found = names.SelectTables(name);
  if (absl::IsInvalidArgument(found.status())) {
    return AsUsageError(found.status());  // the name of several tables
  }
  VARVE_ASSIGN_OR_RETURN(const std::vector<const TableName*> tables, found);
  // The name of a schema stands for its tables.
  const absl::StatusOr<const SchemaName*> schema = names.FindSchema(name);
  const bool is_schema =
      schema.ok() && (tables.size() != 1 || !EqualsIgnoreCase(tables[0]->name, (*schema)->name));
  if (is_schema) {
    return UsageError(StrCat("'", name, "' is a schema; to restore it, write --schema=", name));
  }
  return Target{
      .text = StrCat("table ", ShownName(tables[0]->schema), ".", ShownName(tables[0]->name)),
      .restore = [id = tables[0]->id](Transaction& transaction, SnapshotId snapshot) {
        return transaction.RestoreTable(id, snapshot);
      }};
}

absl::StatusOr<Target> SchemaTarget(const ObjectNames& names, const std::string& name) {
  VARVE_ASSIGN_OR_RETURN(const SchemaName* const schema, names.FindSchema(name));
  return Target{.text = StrCat("schema ", ShownName(schema->name)),
                .restore = [id = schema->id](Transaction& transaction, SnapshotId snapshot) {
                  return transaction.RestoreSchema(id, snapshot);
                }};
}

absl::StatusOr<Target> ChosenTarget(const Catalog& catalog,
                                    const std::vector<std::string>& arguments,
                                    SnapshotId snapshot) {
  if (FLAGS_all) {
    return Target{.text = "everything", .restore = [](Transaction& transaction, SnapshotId to) {
                    return transaction.RestoreAll(to);
                  }};
  }
  VARVE_ASSIGN_OR_RETURN(const ReadView view, catalog.At(snapshot));
  VARVE_ASSIGN_OR_RETURN(const ObjectNames names, ObjectNames::Load(view));
  return FLAGS_schema.empty() ? TableTarget(names, arguments[0])
                              : SchemaTarget(names, FLAGS_schema);
}

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments) {
  if (arguments.size() + (FLAGS_schema.empty() ? 0 : 1) + (FLAGS_all ? 1 : 0) != 1) {
    return UsageError("restore needs one of a table, --schema=NAME and --all");
  }
  if (FLAGS_to.empty()) {
    return UsageError("restore needs --to=S: the snapshot to go back to");
  }
  VARVE_ASSIGN_OR_RETURN(const SnapshotId snapshot, ParseSnapshotFlag("to", FLAGS_to));
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForWriting());
  VARVE_ASSIGN_OR_RETURN(const Target target, ChosenTarget(*catalog, arguments, snapshot));
  const SnapshotId before = catalog->Current().last_snapshot();
  const absl::StatusOr<CommitResult> result = RunInTransaction(
      catalog.get(),
      [&](Transaction& transaction) { return target.restore(transaction, snapshot); },
      {.message = StrCat("restored ", target.text, " to snapshot ", snapshot)});
  VARVE_RETURN_IF_ERROR(AsRefusal(result.status()));
  if (result->snapshot == before) {
    std::fprintf(stderr, "%s is as it was at snapshot %llu; nothing to restore\n",
                 target.text.c_str(), static_cast<unsigned long long>(snapshot));
  } else {
    std::fprintf(stderr, "restored %s to snapshot %llu, as snapshot %llu\n", target.text.c_str(),
                 static_cast<unsigned long long>(snapshot),
                 static_cast<unsigned long long>(result->snapshot));
  }
  return kExitOk;
}

}  // namespace

Command RestoreCommand() {
  return {.name = "restore",
          .arguments = "TABLE --to=S",
          .summary = "make a table, a schema or everything what it was at a snapshot",
          .details =
              "A new snapshot is made; history stays as it is. TABLE is the name it had at\n"
              "snapshot S: a table that was renamed since gets its name back, one that was\n"
              "dropped is there again. Files that are scheduled for deletion cannot be had back,\n"
              "nor rows out of files that were merged with later ones: then nothing is changed.",
          .flags = {kCatalogFlag,
                    kSyncFlag,
                    {"to", "S", "the snapshot to go back to"},
                    {"schema", "NAME", "restore a schema with all that was in it, not a table"},
                    {"all", "", "restore all schemas"}},
          .max_arguments = 1,
          .run = Run};
}

}  // namespace varve
