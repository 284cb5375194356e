// Finds out the type of a column from its texts, where nothing declares it.
//
// A type is chosen only if printing its values gives back every text seen: bigint, double, boolean,
// else varchar. So a code like 007 stays the text it is.
//
// Thread-safety: none.
#pragma once

#include <string>
#include <string_view>

namespace varve {

class TypeGuess {
 public:
  // Takes a value that is not NULL into account.
  void Add(std::string_view text);

  // The SQL type that fits everything seen; varchar when nothing was.
  std::string_view SqlType() const;

 private:
  bool seen_ = false;
  bool bigint_ = true;
  bool float64_ = true;
  bool boolean_ = true;
  std::string scratch_;
};

}  // namespace varve
