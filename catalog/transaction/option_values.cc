#include "catalog/transaction/option_values.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/relation_directory.h"
#include "catalog/transaction/action.h"

namespace varve {
namespace {

enum class OptionKind : uint8_t {
  kBoolean,
  kCount,
  kPositiveCount,
  kSize,  // bytes, or a number with a unit
  kPositiveSize,
  kInterval,  // or empty
  kShare,     // 0 to 1
  kCompression,
  kParquetVersion,
};

struct Option {
  std::string_view key;
  OptionKind kind;
  bool has_scopes = true;
};
constexpr auto kOptions = std::to_array<Option>({
    {"auto_compact", OptionKind::kBoolean},
    {"data_inlining_row_limit", OptionKind::kCount},
    {"delete_older_than", OptionKind::kInterval, false},
    {"expire_older_than", OptionKind::kInterval, false},
    {"hive_file_pattern", OptionKind::kBoolean},
    {"parquet_compression", OptionKind::kCompression},
    {"parquet_compression_level", OptionKind::kCount},
    {"parquet_row_group_size", OptionKind::kPositiveCount},
    {"parquet_row_group_size_bytes", OptionKind::kPositiveSize},
    {"parquet_version", OptionKind::kParquetVersion},
    {"per_thread_output", OptionKind::kBoolean},
    {"require_commit_message", OptionKind::kBoolean},
    {"rewrite_delete_threshold", OptionKind::kShare},
    {"sort_on_insert", OptionKind::kBoolean},
    {"target_file_size", OptionKind::kSize},
    {"write_deletion_vectors", OptionKind::kBoolean},
});

// What a lake is made with.
constexpr auto kFixed =
    std::to_array<std::string_view>({"version", "created_by", "data_path", "encrypted"});

constexpr auto kCompressions = std::to_array<std::string_view>(
    {"uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4", "lz4_raw"});

struct Unit {
  std::string_view name;
  uint64_t bytes;
};
constexpr auto kUnits = std::to_array<Unit>({
    {"", 1},
    {"b", 1},
    {"byte", 1},
    {"bytes", 1},
    {"kb", 1'000},
    {"mb", 1'000'000},
    {"gb", 1'000'000'000},
    {"tb", 1'000'000'000'000},
    {"kib", uint64_t{1} << 10},
    {"mib", uint64_t{1} << 20},
    {"gib", uint64_t{1} << 30},
    {"tib", uint64_t{1} << 40},
});

const Option* FindOption(std::string_view key) {
  const auto* found = std::find_if(kOptions.begin(), kOptions.end(),
                                   [&](const Option& option) { return option.key == key; });
  return found == kOptions.end() ? nullptr : found;
}

// "512MB", "1000000" in bytes. Fractions are taken as DuckDB takes them: "1.5GB".
std::optional<uint64_t> SizeOf(std::string_view text) {
  const size_t number = std::min(text.find_first_not_of("0123456789."), text.size());
  std::string unit = AsciiStrToLower(text.substr(number));
  std::erase(unit, ' ');
  const auto* found = std::find_if(kUnits.begin(), kUnits.end(),
                                   [&](const Unit& candidate) { return candidate.name == unit; });
  if (found == kUnits.end()) {
    return std::nullopt;
  }
  if (const std::optional<uint64_t> whole = ParseNumber<uint64_t>(text.substr(0, number));
      whole.has_value()) {
    return *whole <= std::numeric_limits<uint64_t>::max() / found->bytes
               ? std::optional(*whole * found->bytes)
               : std::nullopt;
  }
  const std::optional<double> value = ParseNumber<double>(text.substr(0, number));
  const double bytes = value.value_or(-1) * static_cast<double>(found->bytes);
  return bytes >= 0 && bytes < 1e18 ? std::optional(static_cast<uint64_t>(bytes)) : std::nullopt;
}

// The value's canonical text as one of a type; nullopt when it is none.
std::optional<std::string> Canonical(const Type& type, std::string_view text) {
  Datum datum;
  std::string scratch;
  return ParseDatum(type, text, BlobText::kHex, &scratch, &datum).ok()
             ? std::optional(ToText(type, datum))
             : std::nullopt;
}

std::optional<std::string> NumberText(const std::optional<uint64_t>& number, bool positive) {
  return number.has_value() && (*number > 0 || !positive) ? std::optional(StrCat(*number))
                                                          : std::nullopt;
}

std::optional<std::string> StoredValue(OptionKind kind, std::string_view value) {
  const std::string lower = AsciiStrToLower(value);
  switch (kind) {
    case OptionKind::kBoolean: return Canonical(TypeKind::kBoolean, value);
    case OptionKind::kCount: return NumberText(ParseNumber<uint64_t>(value), false);
    case OptionKind::kPositiveCount: return NumberText(ParseNumber<uint64_t>(value), true);
    case OptionKind::kSize: return NumberText(SizeOf(value), false);
    case OptionKind::kPositiveSize: return NumberText(SizeOf(value), true);
    case OptionKind::kInterval:
      return value.empty() || Canonical(TypeKind::kInterval, value).has_value()
                 ? std::optional(std::string(value))
                 : std::nullopt;
    case OptionKind::kShare: {
      const std::optional<double> share = ParseNumber<double>(value);
      return share.has_value() && *share >= 0 && *share <= 1 ? Canonical(TypeKind::kFloat64, value)
                                                             : std::nullopt;
    }
    case OptionKind::kCompression:
      return std::find(kCompressions.begin(), kCompressions.end(), lower) != kCompressions.end()
                 ? std::optional(lower)
                 : std::nullopt;
    case OptionKind::kParquetVersion:
      return lower == "1" || lower == "v1"   ? std::optional<std::string>("V1")
             : lower == "2" || lower == "v2" ? std::optional<std::string>("V2")
                                             : std::nullopt;
  }
  return std::nullopt;
}

std::string Expected(OptionKind kind) {
  switch (kind) {
    case OptionKind::kBoolean: return "true or false";
    case OptionKind::kCount: return "a number";
    case OptionKind::kPositiveCount: return "a number above 0";
    case OptionKind::kSize: return "a size, as in 512MB";
    case OptionKind::kPositiveSize: return "a size above 0, as in 512MB";
    case OptionKind::kInterval: return "an interval, as in '7 days'";
    case OptionKind::kShare: return "a number from 0 to 1";
    case OptionKind::kCompression: return StrCat("one of ", StrJoin(kCompressions, ", "));
    case OptionKind::kParquetVersion: return "1 or 2";
  }
  return "another value";
}

}  // namespace

absl::Status CheckOption(std::string_view key) {
  if (FindOption(key) != nullptr) {
    return absl::OkStatus();
  }
  if (std::find(kFixed.begin(), kFixed.end(), key) != kFixed.end()) {
    return absl::InvalidArgumentError(
        StrCat("option ", key, " is fixed when the lake is made; it cannot be set"));
  }
  std::vector<std::string_view> keys;
  for (const Option& option : kOptions) {
    keys.push_back(option.key);
  }
  const std::string_view nearest = NearestName(key, keys);
  return absl::NotFoundError(StrCat("there is no option ", ShownName(key),
                                    nearest.empty()
                                        ? StrCat("; the options are ", StrJoin(keys, ", "))
                                        : StrCat("; did you mean ", nearest, "?")));
}

absl::StatusOr<std::string> OptionToStore(std::string_view key, std::string_view value) {
  VARVE_RETURN_IF_ERROR(CheckOption(key));
  const OptionKind kind = FindOption(key)->kind;
  std::optional<std::string> stored = StoredValue(kind, value);
  if (!stored.has_value()) {
    return absl::InvalidArgumentError(
        StrCat("option ", key, ": expected ", Expected(kind), ", found ", ShownName(value)));
  }
  return *std::move(stored);
}

bool HasScopes(std::string_view key) {
  return FindOption(key)->has_scopes;
}

}  // namespace varve
