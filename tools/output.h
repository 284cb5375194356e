// Results as a table for people, as CSV, or as JSON.
//
//   table  aligned columns under a header; NULL bare, a text that says NULL in quotes; sizes as
//   KiB;
//          a last line with the number of rows
//   csv    a header line, RFC 4180 quoting, NULL as \N, values in their canonical text: what
//          `varve import` reads again
//   json   one object a line; integers and floats as numbers where JSON's are exact, everything
//   else
//          as strings
//
// Thread-safety: one thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/datum.h"
#include "base/type.h"
#include "tools/stdout.h"

namespace varve {

enum class OutputFormat : uint8_t { kTable, kCsv, kJson };

enum class Rendering : uint8_t {
  kPlain,
  kByteSize,      // a number of bytes: human-readable in tables, exact elsewhere
  kEmbeddedJson,  // the text is JSON: part of the object in json, not a string
};

struct ResultColumn {
  std::string name;
  Type type = TypeKind::kVarchar;
  Rendering rendering = Rendering::kPlain;
};

class ResultWriter {
 public:
  virtual ~ResultWriter() = default;
  // `values` has one value a column; nothing is kept of it.
  virtual absl::Status Row(std::span<const Datum> values) = 0;
  // Ends the result. Call once, after the last row.
  virtual absl::Status Finish() = 0;
};

// Writes to `out`, which must outlive the writer.
std::unique_ptr<ResultWriter> MakeResultWriter(OutputFormat format,
                                               std::vector<ResultColumn> columns, Stdout* out);

// "1.5 MiB"
std::string HumanSize(int64_t bytes);

// JSON string literals and values, for texts that are built by hand.
void AppendJsonString(std::string_view text, std::string* out);
void AppendJsonValue(const Type& type, const Datum& value, std::string* out);

}  // namespace varve
