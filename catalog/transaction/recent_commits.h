// What was committed while transactions are open: their footprints, for the conflict check.
//
// Kept in memory from the oldest open transaction's base on; a transaction lives no longer than its
// process, so nothing of it is stored.
//
// Thread-safety: any thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "catalog/store/commit.h"

namespace varve {

class RecentCommits : public std::enable_shared_from_this<RecentCommits> {
 public:
  // Registers an open transaction at the state `take` gives; the token ends the registration. No
  // commit after that state is forgotten meanwhile.
  std::shared_ptr<const void> Register(const std::function<Csn()>& take);

  // Adds the commits of a group, in csn order, and forgets what no open transaction can meet.
  void Add(const std::vector<CommitFootprint>& commits);

  // The commits after `csn`, oldest first.
  std::vector<CommitFootprint> Since(Csn csn) const;

 private:
  void Trim();

  mutable std::mutex mutex_;
  std::multiset<Csn> open_;
  std::deque<CommitFootprint> commits_;
};

}  // namespace varve
