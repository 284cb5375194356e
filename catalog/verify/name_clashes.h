// Finds what has the same name (or place) at the same time within one scope.
//
// Thread-safety: one thread. Memory: every entry added until Report; meant for objects, or for the
// columns or files of one table.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/verify/run.h"

namespace varve {

class NameClashes {
 public:
  // Takes the version a cursor stands on. Names are compared as the DuckLake extension does: ASCII
  // letters without case. `id` tells versions of one object from those of another; rows without a
  // name are passed over.
  void Add(std::string scope, std::optional<std::string_view> name, int64_t id,
           const RowCursor& row);

  // Reports every version that meets one of another id, at the later of the two.
  void Report(VerifyRun* run, Rule rule) const;

 private:
  struct Holder {
    Lifetime lifetime;
    int64_t id = 0;
    std::string relation;
    std::string key;
    std::string name;
  };
  std::map<std::pair<std::string, std::string>, std::vector<Holder>> holders_;
};

}  // namespace varve
