#include "tools/scan_explanation.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

std::string_view PathName(ScanPath path) {
  switch (path) {
    case ScanPath::kMemory: return "memory";
    case ScanPath::kColumnar: return "columnar";
    default: return "row";
  }
}

struct Fact {
  std::string name;
  uint64_t number = 0;
  Rendering rendering = Rendering::kPlain;
};

std::string RejectedJson(const ColumnarScanCounters& counters) {
  std::string json = "{";
  for (size_t i = 0; i < counters.rejected.size(); ++i) {
    if (counters.rejected[i] > 0) {
      StrAppend(&json, json.size() == 1 ? "" : ",", "\"",
                CleanReadRejectionName(static_cast<CleanReadRejection>(i)),
                "\":", counters.rejected[i]);
    }
  }
  return json + "}";
}

absl::Status PrintObject(std::string_view path, std::span<const Fact> facts,
                         const std::string& rejected, OutputFormat format, Stdout* out) {
  std::vector<ResultColumn> columns;
  std::vector<Datum> values;
  const auto add = [&](ResultColumn column, const Datum& value) {
    columns.push_back(std::move(column));
    values.push_back(value);
  };
  for (const Fact& fact : facts) {
    if (fact.name == "rows") {
      add({"path"}, Datum::Bytes(path));
    } else if (fact.name == "bytes_read") {
      add({"rejected", TypeKind::kVarchar, Rendering::kEmbeddedJson}, Datum::Bytes(rejected));
    }
    add({fact.name, TypeKind::kInt64}, Datum::Int64(static_cast<int64_t>(fact.number)));
  }
  const auto writer = MakeResultWriter(format, std::move(columns), out);
  VARVE_RETURN_IF_ERROR(writer->Row(values));
  return writer->Finish();
}

// Under each other, for people.
absl::Status PrintLines(std::string_view path, std::span<const Fact> facts,
                        const ColumnarScanCounters& counters, Stdout* out) {
  constexpr size_t kWidth = 20;
  const auto print = [&](std::string_view name, std::string_view value) {
    return out->Write(
        StrCat(name, std::string(kWidth - std::min(kWidth - 1, name.size()), ' '), value, "\n"));
  };
  for (const Fact& fact : facts) {
    if (fact.name == "rows") {
      VARVE_RETURN_IF_ERROR(print("path", path));
    }
    VARVE_RETURN_IF_ERROR(print(fact.name, fact.rendering == Rendering::kByteSize
                                               ? HumanSize(static_cast<int64_t>(fact.number))
                                               : StrCat(fact.number)));
    if (fact.name != "packs_skipped") {
      continue;
    }
    for (size_t i = 0; i < counters.rejected.size(); ++i) {
      if (counters.rejected[i] > 0) {
        const std::string_view reason = CleanReadRejectionName(static_cast<CleanReadRejection>(i));
        VARVE_RETURN_IF_ERROR(print(StrCat("  ", reason), StrCat(counters.rejected[i])));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PrintExplanation(const ReadView& view, RowScan* scan, OutputFormat format,
                              Stdout* out) {
  const auto begin = std::chrono::steady_clock::now();
  ScanBatch batch;
  while (true) {
    VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
    if (!more) {
      break;
    }
  }
  const auto elapsed = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - begin);
  const ScanStats& stats = scan->stats();
  const ColumnarScanCounters& counters = stats.columnar;
  const std::array<Fact, 9> facts = {{
      {"snapshot", view.snapshot()},
      {"rows", stats.rows_returned},
      {"packs_clean", counters.packs_clean},
      {"packs_normal", counters.packs_normal},
      {"packs_skipped", counters.packs_skipped},
      {"bytes_read", counters.bytes_read, Rendering::kByteSize},
      {"mvcc_bytes_read", counters.mvcc_bytes_read, Rendering::kByteSize},
      {"mvcc_bytes_avoided", counters.mvcc_bytes_avoided, Rendering::kByteSize},
      {"elapsed_us", static_cast<uint64_t>(elapsed.count())},
  }};
  const std::string_view path = PathName(stats.path);
  return format == OutputFormat::kTable
             ? PrintLines(path, facts, counters, out)
             : PrintObject(path, facts, RejectedJson(counters), format, out);
}

}  // namespace varve
