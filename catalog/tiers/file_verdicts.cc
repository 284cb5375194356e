#include "catalog/tiers/file_verdicts.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace varve {

void FileVerdicts::AddChunk(std::span<const int64_t> ids) {
  if (!ids.empty()) {
    chunks_.push_back({.ids = ids, .first = num_files_});
    num_files_ += ids.size();
  }
}

void FileVerdicts::AddFiles(std::vector<int64_t> ids) {
  AddChunk(owned_.emplace_back(std::move(ids)));
}

void FileVerdicts::AddFiles(std::shared_ptr<const ColumnVector> ids) {
  AddChunk(shared_.emplace_back(std::move(ids))->int64s());
}

void FileVerdicts::ClearFiles() {
  chunks_.clear();
  shared_.clear();
  owned_.clear();
  num_files_ = 0;
}

void FileVerdicts::Start() {
  verdicts_.assign(num_files_, kSaysNothing);
  chunk_ = 0;
  next_ = 0;
}

bool FileVerdicts::MoveTo(int64_t id) {
  while (chunk_ < chunks_.size() && chunks_[chunk_].ids.back() < id) {
    ++chunk_;
    next_ = 0;
  }
  if (chunk_ == chunks_.size()) {
    return false;
  }
  const std::span<const int64_t> ids = chunks_[chunk_].ids;
  if (ids[next_] < id) {
    ++next_;  // mostly it is the next one
  }
  if (ids[next_] < id) {
    next_ = static_cast<size_t>(
        std::lower_bound(ids.begin() + static_cast<std::ptrdiff_t>(next_), ids.end(), id) -
        ids.begin());
  }
  return true;
}

void FileVerdicts::Add(std::span<const int64_t> ids, std::span<const uint8_t> verdicts) {
  for (size_t i = 0; i < ids.size();) {
    if (!MoveTo(ids[i])) {
      return;
    }
    const Chunk& chunk = chunks_[chunk_];
    if (chunk.ids[next_] != ids[i]) {
      ++i;
      continue;
    }
    // Mostly the rows are those of the next files, one each.
    const std::span<const int64_t> files = chunk.ids.subspan(next_);
    size_t count = std::min(files.size(), ids.size() - i);
    if (std::memcmp(&ids[i], files.data(), count * sizeof(int64_t)) != 0) {
      const auto differ =
          std::mismatch(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(count),
                        ids.begin() + static_cast<std::ptrdiff_t>(i));
      count = static_cast<size_t>(differ.first - files.begin());
    }
    uint8_t* const of_files = verdicts_.data() + chunk.first + next_;
    for (size_t k = 0; k < count; ++k) {
      of_files[k] = std::max(of_files[k], verdicts[i + k]);
    }
    i += count;
    next_ += count - 1;  // the last file may have more rows
  }
}

std::vector<int64_t> FileVerdicts::Remaining() const {
  std::vector<int64_t> remaining;
  for (const Chunk& chunk : chunks_) {
    const uint8_t* const verdicts = verdicts_.data() + chunk.first;
    for (size_t i = 0; i < chunk.ids.size(); ++i) {
      if (verdicts[i] != kNoMatch) {
        remaining.push_back(chunk.ids[i]);
      }
    }
  }
  return remaining;
}

}  // namespace varve
