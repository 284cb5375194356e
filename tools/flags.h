// The flags that several commands read, and what is opened and chosen by them.
//
// Thread-safety: call after the command line was parsed; the flags are constant from then on.
#pragma once

#include <gflags/gflags_declare.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "catalog/catalog.h"
#include "tools/command.h"
#include "tools/output.h"

DECLARE_string(from);
DECLARE_string(to);
DECLARE_string(at);
DECLARE_string(at_time);
DECLARE_string(path);
DECLARE_bool(history);
DECLARE_uint64(limit);

namespace varve {

// How commands describe these flags in their help.
inline constexpr CommandFlag kCatalogFlag = {
    "catalog", "PATH", "directory of the catalog; without it, the variable VARVE_CATALOG"};
inline constexpr CommandFlag kFormatFlag = {"format", "table|csv|json", "how results are printed"};
inline constexpr CommandFlag kAtFlag = {"at", "S", "as it stood at snapshot S"};
inline constexpr CommandFlag kAtTimeFlag = {"at_time", "TIME",
                                            "as it stood at a time: '2026-11-30 08:40:00+00'"};
inline constexpr CommandFlag kReadOnlyFlag = {
    "read_only", "", "take no lock and write nothing: what this command does anyway"};
inline constexpr CommandFlag kSyncFlag = {
    "sync", "always|interval|off",
    "when a commit is on disk: before it is acknowledged, soon, or "
    "when the system likes"};

// The path given by --catalog or VARVE_CATALOG. Usage error when neither is.
absl::StatusOr<std::string> CatalogPath();

// Opens that catalog for reading only, beside a writer if there is one. A command that wants
// MemRowSets waits for them (Catalog::WaitForMemory): most commands end before they would be there.
absl::StatusOr<std::unique_ptr<Catalog>> OpenCatalogForReading();

// Opens that catalog for writing, with --sync, likewise without MemRowSets. Unavailable when
// another process has it open for writing: the message says which.
absl::StatusOr<std::unique_ptr<Catalog>> OpenCatalogForWriting();

// The view at --at or --at-time, or else the current one.
absl::StatusOr<ReadView> ChosenView(const Catalog& catalog);

// The relation an argument names. An ambiguous name is a usage error.
absl::StatusOr<RelationRef> ResolveRelation(const ReadView& view, std::string_view name);

absl::StatusOr<OutputFormat> ChosenFormat();

// --limit, if given.
std::optional<uint64_t> ChosenLimit();

// Whether a flag's value names a place a catalog can be brought from or to: csv:, sqlite:,
// postgres:.
absl::Status CheckPlace(std::string_view flag, std::string_view value);

// The snapshot a flag's value names.
absl::StatusOr<SnapshotId> ParseSnapshotFlag(std::string_view flag, std::string_view value);

// The duration a flag's value is: "2h", "1d12h".
absl::StatusOr<absl::Duration> ParseDurationFlag(std::string_view flag, std::string_view value);

// Whether the argument of a command that plans and applies is "apply"; "plan" is the other one.
absl::StatusOr<bool> IsApply(std::string_view command, std::string_view argument);

// The commit sequence number a flag's value is.
absl::StatusOr<Csn> ParseCsnFlag(std::string_view flag, std::string_view value);

}  // namespace varve
