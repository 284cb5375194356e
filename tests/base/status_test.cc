#include "base/status.h"

#include <gtest/gtest.h>

#include <memory>

namespace varve {
namespace {

absl::Status Fails() {
  return absl::NotFoundError("gone");
}

absl::Status ReturnsEarly(const absl::Status& status, bool* reached) {
  VARVE_RETURN_IF_ERROR(status);
  *reached = true;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<int>> Half(int number) {
  if (number % 2 != 0) {
    return absl::InvalidArgumentError("odd");
  }
  return std::make_unique<int>(number / 2);
}

absl::StatusOr<int> Quarter(int number) {
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<int> half, Half(number));
  VARVE_ASSIGN_OR_RETURN(std::unique_ptr<int> quarter, Half(*half));
  return *quarter;
}

TEST(StatusTest, ReturnIfErrorReturnsErrorsOnly) {
  bool reached = false;
  EXPECT_EQ(ReturnsEarly(Fails(), &reached), absl::NotFoundError("gone"));
  EXPECT_FALSE(reached);
  EXPECT_TRUE(ReturnsEarly(absl::OkStatus(), &reached).ok());
  EXPECT_TRUE(reached);
}

TEST(StatusTest, AssignOrReturnMovesTheValueOrReturnsTheError) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(6).status(), absl::InvalidArgumentError("odd"));
  EXPECT_EQ(Quarter(5).status(), absl::InvalidArgumentError("odd"));
}

}  // namespace
}  // namespace varve
