#include "catalog/store/database_mark.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "catalog/store/row_store.h"

namespace varve {

DatabaseMark TakeMark(const std::string& rows) {
  DatabaseMark mark;
  std::error_code error;
  // Logs first: what a log loses to a file meanwhile shows in the manifest.
  for (auto it = std::filesystem::directory_iterator(rows, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    if (it->path().extension() == ".log") {
      std::error_code gone;
      const uint64_t size = it->file_size(gone);
      if (!gone) {
        mark.logs[it->path().filename().string()] = size;
      }
    }
  }
  mark.manifest = ManifestMark(rows);
  return mark;
}

bool SameFiles(const DatabaseMark& a, const DatabaseMark& b) {
  return a.manifest == b.manifest &&
         std::equal(a.logs.begin(), a.logs.end(), b.logs.begin(), b.logs.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first; });
}

}  // namespace varve
