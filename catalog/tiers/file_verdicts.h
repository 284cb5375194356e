// The files of a table, and what rows of statistics say of them: both ascend by the file's id, so
// they are walked side by side.
//
// Thread-safety: one thread. Ownership: shares columns of ids, and owns copies of others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "base/column_batch.h"

namespace varve {

// What a row of statistics says of its file. Of several rows of one file the larger verdict counts.
enum Verdict : uint8_t { kSaysNothing = 0, kNoMatch = 1, kMayMatch = 2 };

class FileVerdicts {
 public:
  // Requires: ids ascend, from call to call.
  void AddFiles(std::vector<int64_t> ids);
  // … of all rows of a column of int64, none of them NULL.
  void AddFiles(std::shared_ptr<const ColumnVector> ids);
  void ClearFiles();
  uint64_t num_files() const { return num_files_; }

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
  // Some of the files.
  struct Chunk {
    std::span<const int64_t> ids;
    size_t first = 0;  // the number of its first file
  };
  void AddChunk(std::span<const int64_t> ids);
  // Moves to the first file at or behind `id`; false if there is none.
  bool MoveTo(int64_t id);

  std::vector<Chunk> chunks_;
  std::vector<std::shared_ptr<const ColumnVector>> shared_;
  std::deque<std::vector<int64_t>> owned_;
  size_t num_files_ = 0;
  std::vector<uint8_t> verdicts_;
  // No row that comes is of a file before this one.
  size_t chunk_ = 0;
  size_t next_ = 0;  // in the chunk
};

}  // namespace varve
