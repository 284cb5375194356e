// The text language of row_text.h for open transactions, and definitions of columns as text.
//
//   columns   NAME TYPE [not null] [default 'TEXT'], …     id int64 not null, s struct(x int32)
//   types     a word, decimal(12,2), struct(columns), list(TYPE), map(TYPE, TYPE)
//
// Text that does not read fails the running test.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/transaction/transaction.h"
#include "tests/catalog/catalog_fixture.h"

namespace varve {

std::vector<ColumnDefinition> ColumnsOf(std::string_view text);
ColumnDefinition ColumnOf(std::string_view text);

// The rows of a relation as the transaction sees them, one text each. Provisional ids are written
// c0, c1, … (catalog ids), f0, … (file ids) and r0, … (row ids).
std::vector<std::string> SeenTexts(const Transaction& transaction, std::string_view relation);
// Those of all relations, each with its relation's name.
std::vector<std::string> EverythingSeen(const Transaction& transaction);

// A catalog with a transaction open on it.
class TransactionFixture : public CatalogFixture {
 protected:
  void SetUp() override {
    CatalogFixture::SetUp();
    Begin();
  }

  // Commits are a second apart, as in row_text.h.
  void Begin() {
    const auto snapshot = static_cast<int64_t>(catalog_->Current().last_snapshot()) + 1;
    absl::StatusOr<Transaction> transaction = catalog_->Begin({.time = SnapshotTime(snapshot)});
    ASSERT_TRUE(transaction.ok()) << transaction.status();
    transaction_.emplace(*std::move(transaction));
  }
  Transaction& tx() { return *transaction_; }

  // Commits the transaction and begins the next.
  CommitResult Commit() {
    absl::StatusOr<CommitResult> result = tx().Commit();
    EXPECT_TRUE(result.ok()) << result.status();
    Begin();
    return result.ok() ? *std::move(result) : CommitResult();
  }

  std::vector<std::string> Seen(std::string_view relation) { return SeenTexts(tx(), relation); }
  std::string ChangesMade(SnapshotId snapshot) {
    return GetText(catalog_->Current(), "ducklake_snapshot_changes", std::to_string(snapshot));
  }

  // Expects the operation to be refused with this error, and to leave no trace.
  template <typename Work>
  void ExpectRefused(absl::StatusCode code, std::string_view message, const Work& work) {
    const std::vector<std::string> before = EverythingSeen(tx());
    const absl::Status status = work();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_EQ(MessageOf(status), message);
    EXPECT_EQ(EverythingSeen(tx()), before) << status;
    EXPECT_TRUE(tx().is_open());
  }

  // The id, or a failed test.
  int64_t Must(const absl::StatusOr<int64_t>& id) {
    EXPECT_TRUE(id.ok()) << id.status();
    return id.value_or(-1);
  }
  void Must(const absl::Status& status) { EXPECT_TRUE(status.ok()) << status; }

  std::optional<Transaction> transaction_;
};

}  // namespace varve
