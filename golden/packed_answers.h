// PostgreSQL's answers for the small catalog: what is visible at each snapshot, packed by
// golden/data/pack_visible.py (golden/data/README.md has the format).
//
// Thread-safety: value types and functions without state.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "mvcc/visibility.h"

namespace varve::golden {

// A row as PostgreSQL wrote it: the text of each column; nullopt is NULL.
using AnsweredRow = std::vector<std::optional<std::string>>;

struct PackedAnswers {
  std::vector<std::string> columns;
  std::map<SnapshotId, std::vector<AnsweredRow>> rows;  // an entry for every snapshot
};

// Reads one packed file. Errors: the file is not there or not in the format.
absl::StatusOr<PackedAnswers> ReadPackedAnswers(const std::filesystem::path& path);

// The fields of a CSV line as PostgreSQL's COPY writes it with NULL '\N'.
AnsweredRow SplitCsvLine(std::string_view line);

}  // namespace varve::golden
