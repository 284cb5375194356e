// varve verify: checks a catalog against its invariants.

#include "catalog/verify/verify.h"

#include "base/status.h"
#include "tools/commands.h"
#include "tools/findings.h"
#include "tools/flags.h"

namespace varve {
namespace {

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& /*arguments*/) {
  VARVE_RETURN_IF_ERROR(ChosenFormat().status());
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForReading());
  const ReadView view = catalog->Current();
  return PrintFindings([&](const VerifyOptions& options, const auto& report) {
    return Verify(view, options, report);
  });
}

}  // namespace

Command VerifyCommand() {
  return {
      .name = "verify",
      .summary = "check every invariant of the catalog and of the row store",
      .details =
          "Prints what it finds: a broken invariant is an error, something odd that real catalogs\n"
          "hold is a note. Exit code 1: there are errors.",
      .flags = {kCatalogFlag, kFormatFlag, kReadOnlyFlag},
      .run = Run};
}

}  // namespace varve
