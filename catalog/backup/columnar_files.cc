#include "catalog/backup/columnar_files.h"

#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "base/failpoint.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/store/durable_file.h"
#include "catalog/tiers/columnar_set.h"

namespace varve {

ColumnarClaims::ColumnarClaims(std::string_view catalog, std::string_view target, bool share)
    : from_(StrCat(catalog, "/", kColumnarDirectory)),
      to_(StrCat(target, "/", kColumnarDirectory)),
      share_(share) {}

absl::Status ColumnarClaims::ClaimOne(uint64_t number) {
  if (Has(number)) {
    return absl::OkStatus();
  }
  const std::string name = ColumnarFileName(number);
  const std::string path = StrCat(from_, "/", name);
  Claim claim;
  absl::Status status;
  if (share_) {
    absl::StatusOr<bool> linked = LinkFile(path, StrCat(to_, "/", name));
    status = linked.status();
    claim.linked = linked.ok() && *linked;
  }
  if (status.ok() && !claim.linked) {
    absl::StatusOr<FileDescriptor> file = OpenForReading(path);
    status = file.status();
    if (file.ok()) {
      claim.file = *std::move(file);
    }
  }
  if (absl::IsNotFound(status)) {
    return absl::OkStatus();
  }
  VARVE_RETURN_IF_ERROR(status);
  claims_.emplace(number, std::move(claim));
  return absl::OkStatus();
}

absl::Status ColumnarClaims::ClaimNamed(const proto::ColumnarManifest& manifest) {
  if (manifest.files().empty()) {
    return absl::OkStatus();
  }
  VARVE_RETURN_IF_ERROR(MakeDirectory(to_));
  for (const proto::ColumnarFileEntry& entry : manifest.files()) {
    VARVE_FAILPOINT("checkpoint/between_files");
    VARVE_RETURN_IF_ERROR(ClaimOne(entry.number()));
  }
  return absl::OkStatus();
}

absl::Status ColumnarClaims::ClaimAll() {
  std::error_code error;
  std::filesystem::directory_iterator it(from_, error);
  if (error == std::errc::no_such_file_or_directory) {
    return absl::OkStatus();  // nothing was ever flushed
  }
  if (!error) {
    VARVE_RETURN_IF_ERROR(MakeDirectory(to_));
  }
  for (; !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    const std::optional<uint64_t> number = ColumnarFileNumber(it->path().filename().string());
    if (number.has_value()) {
      VARVE_FAILPOINT("checkpoint/between_files");
      VARVE_RETURN_IF_ERROR(ClaimOne(*number));
    }
  }
  return error ? absl::InternalError(StrCat("cannot list ", from_, ": ", error.message()))
               : absl::OkStatus();
}

void ColumnarClaims::Clear() {
  claims_.clear();
  std::error_code ignored;
  std::filesystem::remove_all(to_, ignored);
}

absl::StatusOr<std::vector<ColumnarClaims::Stored>> ColumnarClaims::Store(
    const proto::ColumnarManifest& manifest, const ByteCounter& on_bytes) {
  std::set<uint64_t> named;
  for (const proto::ColumnarFileEntry& entry : manifest.files()) {
    if (Has(entry.number())) {
      named.insert(entry.number());
    }
  }
  for (const auto& [number, claim] : claims_) {
    if (claim.linked && !named.contains(number)) {
      const std::string path = StrCat(to_, "/", ColumnarFileName(number));
      std::error_code error;
      std::filesystem::remove(path, error);
      if (error) {
        return absl::InternalError(StrCat("cannot remove ", path, ": ", error.message()));
      }
    }
  }
  std::vector<Stored> stored;
  if (named.empty()) {
    Clear();
    return stored;
  }
  for (const uint64_t number : named) {
    VARVE_FAILPOINT("checkpoint/between_files");
    const Claim& claim = claims_.at(number);
    const std::string path = StrCat(to_, "/", ColumnarFileName(number));
    Stored& result = stored.emplace_back();
    result.linked = claim.linked;
    result.file.name = StrCat(kColumnarDirectory, "/", ColumnarFileName(number));
    if (claim.linked) {
      VARVE_RETURN_IF_ERROR(SyncFile(path));
      VARVE_ASSIGN_OR_RETURN(const FileDescriptor file, OpenForReading(path));
      VARVE_ASSIGN_OR_RETURN(result.file.size, SizeOf(file, path));
      VARVE_ASSIGN_OR_RETURN(result.file.checksum, ChecksumFile(path, result.file.size, on_bytes));
    } else {
      VARVE_ASSIGN_OR_RETURN(result.file.size, SizeOf(claim.file, path));
      VARVE_ASSIGN_OR_RETURN(result.file.checksum, CopyFile(claim.file, result.file.name,
                                                            result.file.size, path, on_bytes));
    }
  }
  claims_.clear();
  VARVE_RETURN_IF_ERROR(SyncDirectory(to_));
  return stored;
}

}  // namespace varve
