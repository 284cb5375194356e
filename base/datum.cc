#include "base/datum.h"

#include "base/float_order.h"

namespace varve {

std::strong_ordering CompareDatums(const Datum& a, const Datum& b) {
  if (a.is_null() || b.is_null()) {
    return b.is_null() <=> a.is_null();
  }
  assert(a.physical() == b.physical());
  switch (a.physical()) {
    case PhysicalType::kBool: return a.bool_value() <=> b.bool_value();
    case PhysicalType::kInt64: return a.int64_value() <=> b.int64_value();
    case PhysicalType::kInt128: {
      const int128_t x = a.int128_value();
      const int128_t y = b.int128_value();
      return x < y ? std::strong_ordering::less
                   : (x > y ? std::strong_ordering::greater : std::strong_ordering::equal);
    }
    case PhysicalType::kFloat64:
      return OrderedBitsOfFloat(a.float64_value()) <=> OrderedBitsOfFloat(b.float64_value());
    case PhysicalType::kBytes: return a.bytes().compare(b.bytes()) <=> 0;
  }
  return std::strong_ordering::equal;
}

}  // namespace varve
