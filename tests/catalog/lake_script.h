// The history of a small lake, step by step, for tests that need many commits of known content:
// table 1 is made, gets files with statistics, loses files, is renamed, gets inlined rows; now and
// then a snapshot expires. Step n makes snapshot n. Every state is one that `verify` finds nothing
// wrong in.
//
// Thread-safety: values and free functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "catalog/read_view.h"
#include "catalog/verify/verify.h"

namespace varve {

class LakeScript {
 public:
  explicit LakeScript(size_t steps);

  size_t num_steps() const { return steps_.size(); }

  // The changes of a step, 1 to num_steps, in the language of row_text.h. `message` becomes the
  // snapshot's commit message.
  std::string Text(size_t step, std::string_view message = "-") const;

  // Commits a step. Requires: the ones before it are committed.
  absl::Status Commit(Catalog* catalog, size_t step, std::string_view message = "-") const;

 private:
  struct Step {
    std::string head;  // up to the message
    std::string changes;
  };

  Step Make(size_t step);
  void AddFile(size_t step, std::string* changes);
  void AddInlinedRow(size_t step, std::string* changes);
  void PutStatistics(std::string* changes) const;

  std::vector<Step> steps_;
  size_t schema_version_ = 0;
  size_t first_file_ = 0;  // that is live
  size_t next_file_ = 0;
  size_t next_row_ = 0;
  bool has_inlined_table_ = false;
};

// Every version of every relation, and the view's csn and last snapshot.
std::vector<std::string> EverythingIn(const ReadView& view);

// What `verify` finds, errors and notes, one line each.
std::vector<std::string> FindingsIn(const ReadView& view);
std::string FindingText(const Finding& finding);

}  // namespace varve
