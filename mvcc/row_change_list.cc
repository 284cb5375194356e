#include "mvcc/row_change_list.h"

#include <bit>
#include <cstring>

#include "base/strings.h"

namespace varve {
namespace {

// Values are copied between lists and memory as they are.
static_assert(std::endian::native == std::endian::little);

constexpr char kDeleteBytes[] = {static_cast<char>(ChangeType::kDelete)};

template <typename T>
std::string_view BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

template <typename T>
T ValueOf(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

absl::Status Malformed(RowChangeList list, std::string_view fault) {
  return absl::DataLossError(
      StrCat("a change list of ", list.bytes().size(), " bytes is malformed: ", fault));
}

}  // namespace

std::string_view ChangeTypeName(ChangeType type) {
  switch (type) {
    case ChangeType::kUpdate: return "UPDATE";
    case ChangeType::kDelete: return "DELETE";
    case ChangeType::kReinsert: return "REINSERT";
  }
  return "unknown";
}

RowChangeList RowChangeList::Delete() {
  return RowChangeList({kDeleteBytes, sizeof(kDeleteBytes)});
}

absl::Status RowChangeList::CheckForm() const {
  if (bytes_.empty()) {
    return Malformed(*this, "it has no type");
  }
  const auto type_byte = static_cast<uint8_t>(bytes_[0]);
  if (type_byte < static_cast<uint8_t>(ChangeType::kUpdate) ||
      type_byte > static_cast<uint8_t>(ChangeType::kReinsert)) {
    return Malformed(*this, StrCat("its type is 1, 2 or 3, not ", static_cast<int>(type_byte)));
  }
  if (is_delete() && bytes_.size() > 1) {
    return Malformed(*this, "a DELETE is one byte");
  }
  if (type() == ChangeType::kUpdate && bytes_.size() == 1) {
    return Malformed(*this, "an UPDATE has at least one column");
  }
  RowChangeListDecoder decoder(*this);
  ColumnChange change;
  size_t num_columns = 0;
  while (decoder.Next(&change)) {
    ++num_columns;
  }
  if (decoder.corrupt()) {
    return Malformed(*this, StrCat("it breaks off in its column number ", num_columns + 1));
  }
  return absl::OkStatus();
}

std::string RowChangeList::ToString() const {
  std::string text(ChangeTypeName(type()));
  RowChangeListDecoder decoder(*this);
  ColumnChange change;
  while (decoder.Next(&change)) {
    StrAppend(&text, " ", change.id, "=", change.is_null ? "NULL" : BytesToHexString(change.value));
  }
  return text;
}

void RowChangeListEncoder::AddColumn(uint32_t id, const Datum& value) {
  if (value.is_null()) {
    AddEncoded(id, true, {});
    return;
  }
  switch (value.physical()) {
    case PhysicalType::kBool: AddEncoded(id, false, BytesOf(value.bool_value())); return;
    case PhysicalType::kInt64: AddEncoded(id, false, BytesOf(value.int64_value())); return;
    case PhysicalType::kInt128: AddEncoded(id, false, BytesOf(value.int128_value())); return;
    case PhysicalType::kFloat64: AddEncoded(id, false, BytesOf(value.float64_value())); return;
    case PhysicalType::kBytes: AddEncoded(id, false, value.bytes()); return;
  }
}

void RowChangeListEncoder::AddEncoded(uint32_t id, bool is_null, std::string_view value) {
  assert(!buffer_->empty() && !list().is_delete());
  PutVarint64(buffer_, id);
  PutVarint64(buffer_, is_null ? 0 : value.size() + 1);
  buffer_->append(value);
}

bool FitsType(std::string_view value, PhysicalType type) {
  if (type == PhysicalType::kBytes) {
    return true;
  }
  if (value.size() != static_cast<size_t>(FixedWidth(type))) {
    return false;
  }
  return type != PhysicalType::kBool || static_cast<uint8_t>(value[0]) <= 1;
}

Datum DecodeValue(std::string_view value, PhysicalType type) {
  assert(FitsType(value, type));
  switch (type) {
    case PhysicalType::kBool: return Datum::Bool(value[0] != 0);
    case PhysicalType::kInt64: return Datum::Int64(ValueOf<int64_t>(value));
    case PhysicalType::kInt128: return Datum::Int128(ValueOf<int128_t>(value));
    case PhysicalType::kFloat64: return Datum::Float64(ValueOf<double>(value));
    case PhysicalType::kBytes: return Datum::Bytes(value);
  }
  return Datum::Null();
}

}  // namespace varve
