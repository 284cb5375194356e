#include "catalog/tiers/file_verdicts.h"

#include <algorithm>
#include <cstring>

namespace varve {

void FileVerdicts::Start() {
  verdicts_.assign(ids_.size(), kSaysNothing);
  next_ = 0;
}

void FileVerdicts::Add(std::span<const int64_t> ids, std::span<const uint8_t> verdicts) {
  if (ids.empty()) {
    return;
  }
  next_ = static_cast<size_t>(
      std::lower_bound(ids_.begin() + static_cast<std::ptrdiff_t>(next_), ids_.end(), ids[0]) -
      ids_.begin());
  // Mostly the rows are those of the next files, one each.
  if (ids.size() <= ids_.size() - next_ &&
      std::memcmp(ids.data(), &ids_[next_], ids.size_bytes()) == 0) {
    for (size_t i = 0; i < ids.size(); ++i) {
      verdicts_[next_ + i] = std::max(verdicts_[next_ + i], verdicts[i]);
    }
    next_ += ids.size() - 1;  // the last file may have more rows
    return;
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    while (next_ < ids_.size() && ids_[next_] < ids[i]) {
      ++next_;
    }
    if (next_ == ids_.size()) {
      return;
    }
    if (ids_[next_] == ids[i]) {
      verdicts_[next_] = std::max(verdicts_[next_], verdicts[i]);
    }
  }
}

std::vector<int64_t> FileVerdicts::Remaining() const {
  std::vector<int64_t> remaining;
  for (size_t i = 0; i < ids_.size(); ++i) {
    if (verdicts_[i] != kNoMatch) {
      remaining.push_back(ids_[i]);
    }
  }
  return remaining;
}

}  // namespace varve
