// What the operations that define objects share: finding live objects, names, rows by column name,
// and the parts of operations that restoring uses as well. Private to catalog/transaction.
//
// Functions on a State may write; they run within RunOperation, which takes everything back when
// they fail.
//
// Thread-safety: as the State, one thread at a time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/row.h"
#include "catalog/transaction/action.h"
#include "catalog/transaction/name_index.h"
#include "catalog/transaction/transaction_state.h"

namespace varve {

// --- Rows by column name ---

struct NamedValue {
  std::string_view column;
  Datum value;
};

// A row with these values, NULL elsewhere. Requires: the relation has the columns.
Row RowWith(const RelationSchema& relation, std::initializer_list<NamedValue> values);
void SetColumn(const RelationSchema& relation, const NamedValue& value, Row* row);
const Datum& ColumnOf(const RelationSchema& relation, const Row& row, std::string_view column);
// The text of a VARCHAR column; empty for NULL.
std::string TextOf(const RelationSchema& relation, const Row& row, std::string_view column);
// The number of a BIGINT column; nullopt for NULL.
std::optional<int64_t> IdOf(const RelationSchema& relation, const Row& row,
                            std::string_view column);
// The values of the handle columns, in key order.
std::vector<Datum> HandleValues(const RelationSchema& relation, const Row& row);

inline Datum TextOrNull(const NullableText& text) {
  return text.has_value() ? Datum::Bytes(*text) : Datum();
}

// --- Texts and names ---

// InvalidArgument unless the text can be stored: UTF-8 without NUL. `what`: "the path".
absl::Status CheckText(std::string_view what, std::string_view text);
// The same for names, which are not empty and at most kMaxNameBytes long. `what`: "a table".
inline constexpr size_t kMaxNameBytes = 1000;
absl::Status CheckName(std::string_view what, std::string_view name);

// The UUID to store: the given text's value, a random one when it is empty.
absl::StatusOr<Datum> UuidToStore(std::string_view uuid);
// Where an object keeps its files.
absl::StatusOr<std::string> PathToStore(const ObjectOptions& options, std::string_view name,
                                        const Datum& uuid);

// --- Objects ---

// A schema, table, view or macro that the transaction sees.
struct LiveObject {
  RelationId relation = 0;  // kSchema, kTable, kView or kMacro
  int64_t id = 0;
  int64_t schema_id = -1;  // -1: it is a schema
  std::string schema_name;
  std::string name;
  Row row;
};

// NotFound: there is none with this id, or it has been dropped.
absl::StatusOr<LiveObject> FindLive(const Transaction::State& state, RelationId relation,
                                    int64_t id);
// The same in any rows; nullopt instead of NotFound.
absl::StatusOr<std::optional<LiveObject>> TryFindLive(const TransactionRows& rows,
                                                      RelationId relation, int64_t id);
// An operation on the object, under the name it has.
Action ActionOn(const LiveObject& object, Operation operation);
// For messages: `table "sales"."orders"`.
std::string ObjectText(const LiveObject& object);

// The objects of that name which the transaction sees: one at most, except while an operation is
// under way.
absl::StatusOr<std::vector<NameIndex::Object>> FindNamed(const Transaction::State& state,
                                                         NameSpace space, int64_t schema_id,
                                                         std::string_view name);
// The first of them.
absl::StatusOr<std::optional<NameIndex::Object>> FindName(const Transaction::State& state,
                                                          NameSpace space, int64_t schema_id,
                                                          std::string_view name);
// AlreadyExists when the name is taken, by another object than `but_for`. `action` gives it.
absl::Status ExpectFree(const Transaction::State& state, NameSpace space, const Action& action,
                        std::optional<NameIndex::Object> but_for = std::nullopt);
// What the transaction sees in a schema.
absl::StatusOr<std::vector<NameIndex::Object>> ObjectsIn(const Transaction::State& state,
                                                         int64_t schema_id);
// Whether the table can have rows (a data file or an inlined row is there) that were written before
// a snapshot.
absl::StatusOr<bool> HasRows(const Transaction::State& state, int64_t table_id,
                             SnapshotId before = kNoEnd);

// --- Parts of operations ---

// Makes a schema; returns its id.
absl::StatusOr<int64_t> MakeSchema(Transaction::State* state, std::string_view name,
                                   const ObjectOptions& options);
// Drops an object, of a schema without asking whether it is empty.
absl::Status DropObject(Transaction::State* state, const LiveObject& object);
absl::Status DropTable(Transaction::State* state, const LiveObject& table);

// Ends the rows of an interval relation whose key begins with `prefix`.
absl::Status EndAll(Transaction::State* state, RelationId relation, std::span<const Datum> prefix);

// Erases the rows that the transaction itself added whose key begins with `prefix` and, if given,
// whose `column` has a value. Base rows stay.
absl::Status EraseOwn(Transaction::State* state, RelationId relation, std::span<const Datum> prefix,
                      const std::optional<NamedValue>& where = std::nullopt);

}  // namespace varve
