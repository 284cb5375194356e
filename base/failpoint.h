// Named places at which a test can have the process killed, as a crash would kill it.
//
//   VARVE_FAILPOINT("commit/before_write");
//
// While none is armed, passing one costs a relaxed atomic load. One is armed by the environment
// variable VARVE_FAILPOINT="name" or "name:n" (read once, when the program starts), or by a test
// through ArmFailpoint; its n-th pass from then on sends SIGKILL to the process: nothing is closed,
// flushed or released. Every name stands in kFailpoints, so that tests can try them all; one that
// does not is an error of the compiler.
//
// Thread-safety: any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

namespace varve {

struct Failpoint {
  std::string_view name;
  std::string_view place;  // where it stands
};

inline constexpr auto kFailpoints = std::to_array<Failpoint>({
    {"commit/before_write", "a group of commits is checked, nothing of it is written"},
    {"commit/after_write", "the group is written and synced, not yet published"},
    {"gc/before_floor", "the new retention floor is decided, not yet written"},
    {"gc/after_floor", "the floor is written and synced, nothing is told yet"},
    {"excise/before_step", "before each step of an excision deletes anything"},
    {"excise/between_steps", "a step of an excision is done, more are to come"},
    {"excise/before_audit", "all steps are done, the audit entry is not yet closed"},
    {"expire/after_snapshots", "snapshot rows are gone, files are not yet scheduled for deletion"},
    {"checkpoint/before_files", "the working directory is there, empty"},
    {"checkpoint/between_files",
     "between two files, while they are linked and while they are copied"},
    {"checkpoint/before_rename", "all is written and synced, the directory has its working name"},
    {"import/before_rows", "the working directory is there, no row is in it"},
    {"import/before_finish", "all rows are in the scratch store, none is in the catalog"},
    {"import/before_rename", "the catalog is built and synced, under its working name"},
    {"flush/frozen", "MemRowSets are frozen, no file is begun"},
    {"flush/written", "the L1 file is written and synced, no manifest has it"},
    {"flush/installed", "the manifest has the L1 file, nothing is told yet"},
    {"compaction/range_written",
     "the files of a range are written and synced, no manifest has them"},
    {"compaction/before_install", "all files are written and synced, no manifest has them"},
    {"compaction/installed", "the manifest has the new files, the old ones may still be there"},
});

// The place of a name in kFailpoints.
class FailpointName {
 public:
  // Implicit, so that a literal can be given where a name is wanted. Requires: it is in the table.
  // NOLINTNEXTLINE(google-explicit-constructor)
  consteval FailpointName(const char* name) {
    while (kFailpoints[index_].name != name) {  // past the end is no constant expression
      ++index_;
    }
  }
  constexpr size_t index() const { return index_; }

 private:
  size_t index_ = 0;
};

namespace failpoint_internal {

inline constexpr size_t kNone = kFailpoints.size();
inline constinit std::atomic<size_t> armed = kNone;
void Pass(size_t index);

}  // namespace failpoint_internal

inline void PassFailpoint(FailpointName name) {
  if (failpoint_internal::armed.load(std::memory_order_relaxed) != failpoint_internal::kNone) {
    failpoint_internal::Pass(name.index());
  }
}

#define VARVE_FAILPOINT(name) ::varve::PassFailpoint(name)

// Has the `pass`-th pass of the failpoint from now on (1: the next) kill the process; disarms any
// other. Not meant to be called while threads pass failpoints. NotFound: there is none of that
// name; InvalidArgument: a pass of 0.
absl::Status ArmFailpoint(std::string_view name, uint64_t pass = 1);

// "name" or "name:n", as the environment variable has it. InvalidArgument: n is no number.
absl::Status ArmFailpointFromText(std::string_view text);

void DisarmFailpoint();

}  // namespace varve
