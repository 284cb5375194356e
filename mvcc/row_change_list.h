// The bytes of one change of a row: what kind of change it is, and the new values of columns.
//
//   type (1): UPDATE 1, DELETE 2, REINSERT 3
//   per column: varint column id | varint length + 1, 0 for NULL | value (length bytes)
//
// Values: a boolean is 1 byte, 0 or 1; integers are 8 or 16 little-endian bytes; a float is the 8
// little-endian bytes of its IEEE form; bytes are themselves. Columns are named by their id
// (ColumnSchema::field), so that a list outlives a change of schema; ids that a reader does not
// know are skipped. Example: setting column 3 to "ab" and column 4 to NULL is 01 | 03 03 61 62 |
// 04 00.
//
// A DELETE has no columns and an UPDATE has at least one. A REINSERT revives a deleted row and has
// all of its columns; it has none where a row consists of its key.
//
// Thread-safety: lists are views of immutable bytes; encoders and decoders belong to one thread.
// Ownership: a list borrows its bytes, an encoder writes into its caller's buffer.
#pragma once

#include <cassert>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "base/coding.h"
#include "base/datum.h"

namespace varve {

enum class ChangeType : uint8_t { kUpdate = 1, kDelete = 2, kReinsert = 3 };

std::string_view ChangeTypeName(ChangeType type);

class RowChangeList {
 public:
  explicit RowChangeList(std::string_view bytes) : bytes_(bytes) {}

  static RowChangeList Delete();

  std::string_view bytes() const { return bytes_; }

  // Require: the list is well-formed (CheckForm).
  ChangeType type() const {
    assert(!bytes_.empty());
    return static_cast<ChangeType>(bytes_[0]);
  }
  bool is_delete() const { return type() == ChangeType::kDelete; }

  // DataLoss, unless the list is one that an encoder can have written, whatever the columns are.
  absl::Status CheckForm() const;

  // For people: "UPDATE 3=6162 4=NULL"; values as hexadecimal bytes. Requires: well-formed.
  std::string ToString() const;

 private:
  std::string_view bytes_;
};

// Writes one list. The buffer is overwritten by SetTo…, and must outlive the list.
class RowChangeListEncoder {
 public:
  explicit RowChangeListEncoder(std::string* buffer) : buffer_(buffer) {}

  void SetToUpdate() { SetTo(ChangeType::kUpdate); }
  void SetToReinsert() { SetTo(ChangeType::kReinsert); }
  void SetTo(ChangeType type) { buffer_->assign(1, static_cast<char>(type)); }

  // The new value of a column. Requires: SetToUpdate or SetToReinsert came first.
  void AddColumn(uint32_t id, const Datum& value);
  // The same, from bytes that a decoder gave.
  void AddEncoded(uint32_t id, bool is_null, std::string_view value);

  // Whether the list names a column.
  bool has_columns() const { return buffer_->size() > 1; }
  RowChangeList list() const { return RowChangeList(*buffer_); }

 private:
  std::string* buffer_;
};

// The new value of one column.
struct ColumnChange {
  uint32_t id = 0;
  bool is_null = false;
  std::string_view value;  // as encoded; empty for NULL
};

// Whether the encoded value has the form of a physical type.
bool FitsType(std::string_view value, PhysicalType type);

// The value as a datum; bytes point into `value`. Requires: FitsType(value, type).
Datum DecodeValue(std::string_view value, PhysicalType type);

// Reads the columns of a list one after the other, in a single pass.
class RowChangeListDecoder {
 public:
  // Requires: the list has a type.
  explicit RowChangeListDecoder(RowChangeList list) : rest_(list.bytes().substr(1)) {}

  // false: there is no further column, or the bytes make none (corrupt() tells).
  bool Next(ColumnChange* change) {
    uint64_t id = 0;
    uint64_t length_plus_one = 0;
    if (rest_.empty()) {
      return false;
    }
    if (!GetVarint64(&rest_, &id) || id > UINT32_MAX || !GetVarint64(&rest_, &length_plus_one) ||
        (length_plus_one != 0 && length_plus_one - 1 > rest_.size())) {
      corrupt_ = true;
      return false;
    }
    const size_t length = length_plus_one == 0 ? 0 : length_plus_one - 1;
    change->id = static_cast<uint32_t>(id);
    change->is_null = length_plus_one == 0;
    change->value = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return true;
  }
  bool corrupt() const { return corrupt_; }

 private:
  std::string_view rest_;
  bool corrupt_ = false;
};

}  // namespace varve
