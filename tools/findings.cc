#include "tools/findings.h"

#include <array>
#include <cstdio>
#include <memory>
#include <string>

#include "base/status.h"
#include "base/strings.h"
#include "tools/flags.h"
#include "tools/output.h"
#include "tools/progress.h"

namespace varve {
namespace {

std::string Counted(uint64_t n, std::string_view what) {
  return StrCat(WithThousands(n), " ", what, n == 1 ? "" : "s");
}

}  // namespace

absl::StatusOr<ExitCode> PrintFindings(
    const std::function<absl::StatusOr<VerifySummary>(
        const VerifyOptions& options, const std::function<void(const Finding&)>& report)>& verify) {
  VARVE_ASSIGN_OR_RETURN(const OutputFormat format, ChosenFormat());
  Progress progress;
  VerifyOptions options;
  options.on_progress = [&](uint64_t rows) { progress.Update("verifying", 0, 0, rows); };
  Stdout out;
  const auto writer =
      MakeResultWriter(format, {{"severity"}, {"relation"}, {"key"}, {"rule"}, {"message"}}, &out);
  absl::Status written;
  uint64_t findings = 0;
  VARVE_ASSIGN_OR_RETURN(
      const VerifySummary summary, verify(options, [&](const Finding& finding) {
        ++findings;
        const std::array<Datum, 5> values = {
            Datum::Bytes(finding.severity == Severity::kError ? "error" : "note"),
            Datum::Bytes(finding.relation),
            finding.key.empty() ? Datum() : Datum::Bytes(finding.key), Datum::Bytes(finding.rule),
            Datum::Bytes(finding.message)};
        written.Update(writer->Row(values));
      }));
  progress.Clear();
  VARVE_RETURN_IF_ERROR(written);
  if (format != OutputFormat::kTable || findings > 0) {
    VARVE_RETURN_IF_ERROR(writer->Finish());
  }
  const std::string conclusion =
      StrCat("checked ", Counted(summary.rows_checked, "row"), ": ",
             Counted(summary.errors, "error"), ", ", Counted(summary.notes, "note"), "\n");
  if (format == OutputFormat::kTable) {
    VARVE_RETURN_IF_ERROR(out.Write(conclusion));
  } else {
    std::fputs(conclusion.c_str(), stderr);
  }
  VARVE_RETURN_IF_ERROR(out.Flush());
  return summary.errors > 0 ? kExitFindings : kExitOk;
}

}  // namespace varve
