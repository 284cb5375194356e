// The files of a table, and what rows of statistics say of them: both ascend by the file's id, so
// they are walked side by side.
//
// Thread-safety: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace varve {

// What a row of statistics says of its file. Of several rows of one file the larger verdict counts.
enum Verdict : uint8_t { kSaysNothing = 0, kNoMatch = 1, kMayMatch = 2 };

class FileVerdicts {
 public:
  // Requires: ids ascend, from call to call.
  void AddFiles(std::span<const int64_t> ids) { ids_.insert(ids_.end(), ids.begin(), ids.end()); }
  void ClearFiles() { ids_.clear(); }
  uint64_t num_files() const { return ids_.size(); }

  // Before the first verdict, and to begin again.
  void Start();
  // The verdicts of rows of statistics: verdicts[i] is that of a row of the file ids[i]. Files that
  // are not there are passed over. Requires: after Start; ids ascend, from call to call, and may
  // repeat.
  void Add(std::span<const int64_t> ids, std::span<const uint8_t> verdicts);

  // The files, ascending, but for those of which every row of statistics, and there is one, says
  // that nothing matches.
  std::vector<int64_t> Remaining() const;

 private:
  std::vector<int64_t> ids_;
  std::vector<uint8_t> verdicts_;
  size_t next_ = 0;  // no row that comes is of a file before it
};

}  // namespace varve
