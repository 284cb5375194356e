// varve verify: checks a catalog against its invariants.

#include "catalog/verify/verify.h"

#include <cstdio>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/store/row_store.h"
#include "catalog/tiers/columnar_set.h"
#include "tools/commands.h"
#include "tools/findings.h"
#include "tools/flags.h"

namespace varve {
namespace {

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& /*arguments*/) {
  VARVE_RETURN_IF_ERROR(ChosenFormat().status());
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForReading());
  // Without columnar files there is nothing MemRowSets are needed for.
  if (!catalog->LatestState()->columnar->manifest().files().empty()) {
    if (const absl::Status memory = catalog->WaitForMemory(); !memory.ok()) {
      std::fputs(
          StrCat("columnar files are not compared with the row store: ", MessageOf(memory), "\n")
              .c_str(),
          stderr);
    }
  }
  const ReadView view = catalog->Current();
  return PrintFindings([&](const VerifyOptions& options, const auto& report) {
    return Verify(view, options, report);
  });
}

}  // namespace

Command VerifyCommand() {
  return {
      .name = "verify",
      .summary = "check every invariant of the catalog, of the row store and of columnar files",
      .details =
          "Prints what it finds: a broken invariant is an error, something odd that real catalogs\n"
          "hold is a note. Exit code 1: there are errors.",
      .flags = {kCatalogFlag, kFormatFlag, kReadOnlyFlag},
      .run = Run};
}

}  // namespace varve
