// Error propagation for code that returns absl::Status or absl::StatusOr.
//
// Everything that can fail outside the program's control returns a Status whose message names the
// thing, what was expected, what was found and what to do. No exception crosses a module's edge.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns from the enclosing function when `expr` (an absl::Status) is not OK.
#define VARVE_RETURN_IF_ERROR(expr)                                 \
  do {                                                              \
    if (absl::Status varve_status_ = (expr); !varve_status_.ok()) { \
      return varve_status_;                                         \
    }                                                               \
  } while (false)

#define VARVE_STATUS_CONCAT_INNER(a, b) a##b
#define VARVE_STATUS_CONCAT(a, b) VARVE_STATUS_CONCAT_INNER(a, b)

// Evaluates `expr` (an absl::StatusOr<T>), returns its error, or assigns its value to `lhs`.
#define VARVE_ASSIGN_OR_RETURN(lhs, expr) \
  VARVE_ASSIGN_OR_RETURN_INNER(VARVE_STATUS_CONCAT(varve_result_, __LINE__), lhs, expr)

#define VARVE_ASSIGN_OR_RETURN_INNER(result, lhs, expr) \
  auto result = (expr);                                 \
  if (!result.ok()) {                                   \
    return std::move(result).status();                  \
  }                                                     \
  lhs = std::move(result).value()
