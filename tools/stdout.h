// Buffered standard output.
//
// Thread-safety: one thread. Errors: OutputClosed (exit_codes.h) when the reader has gone, Internal
// when writing fails otherwise (a full disk).
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace varve {

class Stdout {
 public:
  // Writes what fills the buffer; call Flush at the end.
  absl::Status Write(std::string_view text);
  absl::Status Flush();

 private:
  std::string buffer_;
};

}  // namespace varve
