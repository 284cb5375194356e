#include "golden/expectations.h"

#include <fstream>
#include <iterator>
#include <system_error>

#include "base/status.h"
#include "base/strings.h"

namespace varve::golden {
namespace {

constexpr std::string_view kNowSuffix = ".txt";
constexpr std::string_view kThenSuffix = ".then.txt";

// What a `then` is if nothing was rewritten since: what is seen now at its snapshot, with no row
// ended. Empty when the snapshot expired.
SnapshotText UnchangedThen(const Observations& observations, const std::string& then_name) {
  const auto found = observations.now.find(then_name.substr(0, then_name.find('.')));
  return found == observations.now.end() ? SnapshotText() : WithoutEnds(found->second);
}

absl::Status WriteFile(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file.fail() ? absl::UnavailableError(StrCat("cannot write ", path.string()))
                     : absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::NotFoundError(StrCat("cannot read ", path.string()));
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

absl::StatusOr<Observations> ReadExpectations(const std::filesystem::path& directory) {
  Observations expected;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    VARVE_ASSIGN_OR_RETURN(const std::string text, ReadFile(entry.path()));
    absl::StatusOr<SnapshotText> snapshot = ParseSnapshotText(text);
    if (!snapshot.ok() || !name.ends_with(kNowSuffix)) {
      return absl::InvalidArgumentError(
          StrCat(entry.path().string(), ": no expectation: ", MessageOf(snapshot.status())));
    }
    if (name.ends_with(kThenSuffix)) {
      expected.then.emplace(name.substr(0, name.size() - kThenSuffix.size()), *snapshot);
    } else {
      expected.now.emplace(name.substr(0, name.size() - kNowSuffix.size()), *snapshot);
    }
  }
  if (error) {
    return absl::NotFoundError(StrCat("cannot read ", directory.string(), ": ", error.message()));
  }
  for (auto& [name, then] : expected.then) {
    then = Overlay(UnchangedThen(expected, name), then);
  }
  return expected;
}

absl::Status WriteExpectations(const std::filesystem::path& directory, const Observations& seen) {
  std::error_code error;
  std::filesystem::remove_all(directory, error);
  std::filesystem::create_directories(directory, error);
  if (error) {
    return absl::UnavailableError(
        StrCat("cannot write ", directory.string(), ": ", error.message()));
  }
  for (const auto& [name, now] : seen.now) {
    VARVE_RETURN_IF_ERROR(WriteFile(directory / StrCat(name, kNowSuffix), FormatSnapshot(now)));
  }
  for (const auto& [name, then] : seen.then) {
    const SnapshotText different = DifferentRelations(UnchangedThen(seen, name), then);
    if (!different.empty()) {
      VARVE_RETURN_IF_ERROR(
          WriteFile(directory / StrCat(name, kThenSuffix), FormatSnapshot(different)));
    }
  }
  return absl::OkStatus();
}

std::string CompareExpectations(const Observations& expected, const Observations& seen) {
  for (const auto& [name, now] : seen.now) {
    const auto found = expected.now.find(name);
    if (found == expected.now.end()) {
      return StrCat(name, kNowSuffix, " is missing\n");
    }
    if (const std::string difference = FirstDifference(found->second, now); !difference.empty()) {
      return StrCat(name, kNowSuffix, ", at this snapshot when all has run: ", difference);
    }
  }
  for (const auto& [name, now] : expected.now) {
    if (!seen.now.contains(name)) {
      return StrCat(name, kNowSuffix, " is of a snapshot that does not exist\n");
    }
  }
  for (const auto& [name, then] : seen.then) {
    const auto found = expected.then.find(name);
    const bool unchanged = found == expected.then.end();
    const SnapshotText text = unchanged ? UnchangedThen(expected, name) : found->second;
    if (const std::string difference = FirstDifference(text, then); !difference.empty()) {
      return StrCat(name, unchanged ? kNowSuffix : kThenSuffix,
                    ", at the current snapshot when it was made: ", difference);
    }
  }
  for (const auto& [name, then] : expected.then) {
    if (!seen.then.contains(name)) {
      return StrCat(name, kThenSuffix, " is of a block that does not exist\n");
    }
  }
  return "";
}

}  // namespace varve::golden
