#include "tools/tier_output.h"

#include <string>
#include <vector>

#include "base/status.h"

namespace varve {

absl::Status PrintSummary(std::initializer_list<SummaryNumber> numbers, absl::Duration elapsed,
                          OutputFormat format, Stdout* out) {
  std::vector<ResultColumn> columns;
  std::vector<Datum> values;
  for (const SummaryNumber& number : numbers) {
    columns.push_back({std::string(number.name), TypeKind::kInt64, number.rendering});
    values.push_back(Datum::Int64(static_cast<int64_t>(number.value)));
  }
  columns.push_back({"elapsed_us", TypeKind::kInt64});
  values.push_back(Datum::Int64(absl::ToInt64Microseconds(elapsed)));
  const auto writer = MakeResultWriter(format, std::move(columns), out);
  VARVE_RETURN_IF_ERROR(writer->Row(values));
  return writer->Finish();
}

std::function<void(uint64_t done, uint64_t total)> ShowRows(std::string_view label,
                                                            Progress* progress) {
  return [label = std::string(label), progress](uint64_t done, uint64_t total) {
    progress->Update(label, done, total, done);
  };
}

}  // namespace varve
