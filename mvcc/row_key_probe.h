// The key one operation asks for, encoded once and handed to every row set that is asked.
//
// Thread-safety: immutable. Ownership: borrows the bytes.
#pragma once

#include <cstddef>
#include <string_view>

namespace varve {

class RowKeyProbe {
 public:
  // The largest key a row set takes.
  static constexpr size_t kMaxKeySize = 65'535;

  // `encoded_key`: bytes that sort as the keys do, unique to the row (in the catalog: the handle,
  // then begin as 8 big-endian bytes).
  explicit RowKeyProbe(std::string_view encoded_key) : key_(encoded_key) {}

  std::string_view key() const { return key_; }

 private:
  std::string_view key_;
};

}  // namespace varve
