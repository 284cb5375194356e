// Values as text: the one place where catalog values are parsed and printed.
//
// Parsing accepts what PostgreSQL, DuckDB and SQLite write for a type; printing gives one canonical
// form, which parses back to the same value:
//
//   boolean true/false; integers and decimals as digits (decimals with exactly `scale` digits);
//   floats as the fewest digits that read back (100000, 0.1, 1e+22), NaN, Infinity, -Infinity;
//   dates 2026-11-30, before year 1 as 0044-03-15 (BC), infinity, -infinity; times 23:59:59.999999;
//   timestamps 2026-11-30 08:37:06.331149 and 0044-03-15 (BC) 12:00:00, with zone …+00 (zeros at
//   the end of a fraction are left out); intervals as PostgreSQL does: 1 year 2 mons -3 days
//   -00:00:03; blobs \x6162 (hex); UUIDs in lower case; varchar, json and text as they are.
//
// Nothing is rounded or cut to fit, floats excepted: 1.234 is no decimal(5,2), and a timestamp
// without zone takes no offset but zero. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "base/datum.h"
#include "base/type.h"

namespace varve {

// How binary values are spelled, the one thing the systems disagree on beyond what can be told
// apart.
enum class BlobText : uint8_t {
  kHex,      // PostgreSQL: \x6162
  kEscaped,  // DuckDB: printable bytes as they are, others \xNN
};

// Parses the text of a value. Bytes values point into `text` or are built in `scratch`, which is
// overwritten; varchar, json and text must be valid UTF-8. The error is InvalidArgument, one line
// without context, with long texts shortened: "'abc' is not a bigint", "'300' is out of range for
// tinyint". `value` is left alone then.
absl::Status ParseDatum(const Type& type, std::string_view text, BlobText blob_text,
                        std::string* scratch, Datum* value);

// Appends the canonical text. Requires a non-null datum of the type.
void AppendText(const Type& type, const Datum& value, std::string* out);
std::string ToText(const Type& type, const Datum& value);

// Days since 1970-01-01 of a proleptic Gregorian date; year 0 is 1 BC. Requires: month 1..12,
// |year| below 10^15.
int64_t DaysFromCivil(int64_t year, int month, int day);

// Whether the bytes are valid UTF-8 (no surrogates, no overlong forms).
bool IsValidUtf8(std::string_view text);

}  // namespace varve
