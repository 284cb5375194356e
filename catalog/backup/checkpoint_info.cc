#include "catalog/backup/checkpoint_info.h"

#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "absl/strings/str_format.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/store/row_store.h"
#include "catalog/tiers/columnar_set.h"

namespace varve {
namespace {

// Without columnar files in it a checkpoint is one of the first format.
constexpr uint32_t kFirstFormat = 1;
constexpr uint32_t kFormat = 2;
constexpr std::string_view kTitle = "varve checkpoint, format ";
constexpr size_t kChecksumDigits = 16;

std::string ChecksumText(uint64_t checksum) {
  return absl::StrFormat("%016x", checksum);
}

std::optional<uint64_t> ParseChecksum(std::string_view text) {
  uint64_t checksum = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), checksum, /*base=*/16);
  return error == std::errc() && end == text.data() + text.size() && text.size() == kChecksumDigits
             ? std::optional(checksum)
             : std::nullopt;
}

// A file of a catalog, and no path that leads elsewhere: it is written to when it is restored.
bool IsFileOfCatalog(std::string_view name) {
  if (name == kIdentityFile) {
    return true;
  }
  if (const std::string columnar = StrCat(kColumnarDirectory, "/"); name.starts_with(columnar)) {
    return ColumnarFileNumber(name.substr(columnar.size())).has_value();
  }
  const std::string prefix = StrCat(kRowsDirectory, "/");
  return name.starts_with(prefix) && name.size() > prefix.size() &&
         name.find('/', prefix.size()) == std::string_view::npos && !name.ends_with("/.") &&
         !name.ends_with("/..");
}

// Takes lines off the front of a text.
class LineReader {
 public:
  explicit LineReader(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }

  std::string_view Next() {
    const std::string_view line = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
    return line;
  }

  // The rest of the next line, which begins with the word; nullopt when it begins otherwise.
  std::optional<std::string_view> Next(std::string_view word) {
    std::string_view line = Next();
    if (!line.starts_with(word) || line.size() <= word.size() || line[word.size()] != ' ') {
      return std::nullopt;
    }
    line.remove_prefix(word.size() + 1);
    return line;
  }

 private:
  std::string_view rest_;
};

absl::Status Malformed(std::string_view what) {
  return absl::DataLossError(StrCat("its ", what, " is missing or malformed"));
}

std::optional<absl::Time> ParseTime(std::string_view text) {
  std::string scratch;
  Datum value;
  if (!ParseDatum(TypeKind::kTimestampTz, text, BlobText::kHex, &scratch, &value).ok()) {
    return std::nullopt;
  }
  return absl::FromUnixMicros(value.int64_value());
}

std::optional<CheckpointFile> ParseFile(std::string_view line) {
  const size_t size_at = line.find(' ');
  const size_t checksum_at = line.rfind(' ');
  if (size_at == std::string_view::npos || size_at == checksum_at) {
    return std::nullopt;
  }
  const std::optional<uint64_t> size =
      ParseNumber<uint64_t>(line.substr(size_at + 1, checksum_at - size_at - 1));
  const std::optional<uint64_t> checksum = ParseChecksum(line.substr(checksum_at + 1));
  const std::string_view name = line.substr(0, size_at);
  if (!size.has_value() || !checksum.has_value() || !IsFileOfCatalog(name)) {
    return std::nullopt;
  }
  return CheckpointFile{.name = std::string(name), .size = *size, .checksum = *checksum};
}

// The text without its last line, when that one is the checksum of the others.
absl::StatusOr<std::string_view> CheckedText(std::string_view text) {
  const std::string_view without_end = text.substr(0, text.empty() ? 0 : text.size() - 1);
  const size_t last_line = without_end.rfind('\n') + 1;  // npos + 1 is 0
  LineReader reader(text.substr(last_line));
  const std::optional<std::string_view> checksum = reader.Next("checksum");
  if (!text.ends_with('\n') || !checksum.has_value() || !ParseChecksum(*checksum).has_value()) {
    return absl::DataLossError("its last line is no checksum: its end is missing");
  }
  const std::string_view body = text.substr(0, last_line);
  if (XXH3_64bits(body.data(), body.size()) != *ParseChecksum(*checksum)) {
    return absl::DataLossError("its lines do not fit its checksum");
  }
  return body;
}

}  // namespace

uint64_t CheckpointInfo::total_bytes() const {
  uint64_t total = 0;
  for (const CheckpointFile& file : files) {
    total += file.size;
  }
  return total;
}

std::string SerializeCheckpointInfo(const CheckpointInfo& info) {
  const bool has_columnar =
      std::any_of(info.files.begin(), info.files.end(), [](const CheckpointFile& file) {
        return file.name.starts_with(StrCat(kColumnarDirectory, "/"));
      });
  std::string text =
      StrCat(kTitle, has_columnar ? kFormat : kFirstFormat, "\nuuid ", info.uuid, "\ncsn ",
             info.csn, "\nlast_snapshot ", info.last_snapshot, "\ncreated ",
             ToText(TypeKind::kTimestampTz, Datum::Int64(absl::ToUnixMicros(info.created))), "\n");
  for (const CheckpointFile& file : info.files) {
    StrAppend(&text, "file ", file.name, " ", file.size, " ", ChecksumText(file.checksum), "\n");
  }
  StrAppend(&text, "checksum ", ChecksumText(XXH3_64bits(text.data(), text.size())), "\n");
  return text;
}

absl::StatusOr<CheckpointInfo> ParseCheckpointInfo(std::string_view text) {
  // The format comes first: what follows it may look different in another one.
  const std::string_view title = LineReader(text).Next();
  const std::optional<uint32_t> format =
      title.starts_with(kTitle) ? ParseNumber<uint32_t>(title.substr(kTitle.size())) : std::nullopt;
  if (format.has_value() && *format > kFormat) {
    return absl::FailedPreconditionError(StrCat("it has format ", *format,
                                                ", this program reads up to format ", kFormat,
                                                "; use a newer varve"));
  }
  VARVE_ASSIGN_OR_RETURN(const std::string_view body, CheckedText(text));
  if (!format.has_value()) {
    return Malformed("first line");
  }
  LineReader lines(body);
  lines.Next();
  CheckpointInfo info;
  const auto uuid = lines.Next("uuid");
  const auto csn = ParseNumber<Csn>(lines.Next("csn").value_or(""));
  const auto last = ParseNumber<SnapshotId>(lines.Next("last_snapshot").value_or(""));
  const auto created = ParseTime(lines.Next("created").value_or(""));
  if (!uuid.has_value() || !csn.has_value() || !last.has_value() || !created.has_value()) {
    return Malformed(!uuid.has_value()   ? "uuid"
                     : !csn.has_value()  ? "csn"
                     : !last.has_value() ? "last_snapshot"
                                         : "time");
  }
  info = {.uuid = std::string(*uuid), .csn = *csn, .last_snapshot = *last, .created = *created};
  while (!lines.at_end()) {
    const std::optional<CheckpointFile> file = ParseFile(lines.Next("file").value_or(""));
    if (!file.has_value()) {
      return Malformed("list of files");
    }
    info.files.push_back(*file);
  }
  return info;
}

absl::StatusOr<CheckpointInfo> ReadCheckpointInfo(const std::string& directory) {
  const std::string path = StrCat(directory, "/", kCheckpointFile);
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) {
    std::error_code error;
    return absl::NotFoundError(
        std::filesystem::exists(directory, error)
            ? StrCat(directory, " is no checkpoint (it has no file ", kCheckpointFile,
                     "); give the directory that `varve checkpoint create` made")
            : StrCat(directory,
                     " does not exist; make a checkpoint there with `varve checkpoint "
                     "create`"));
  }
  const std::string text(std::istreambuf_iterator<char>(file), {});
  absl::StatusOr<CheckpointInfo> info = ParseCheckpointInfo(text);
  if (!info.ok()) {
    return absl::Status(info.status().code(), StrCat(path, ": ", MessageOf(info.status())));
  }
  return info;
}

}  // namespace varve
