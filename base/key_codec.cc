#include "base/key_codec.h"

#include "base/coding.h"
#include "base/float_order.h"

namespace varve {
namespace {

constexpr uint8_t kNullCode = 0x00;
constexpr uint8_t kBytesCode = 0x01;
constexpr uint8_t kIntZeroCode = 0x20;  // 0x10..0x1f negative, 0x21..0x30 positive
constexpr uint8_t kFloatCode = 0x40;
constexpr uint8_t kFalseCode = 0x50;
constexpr uint8_t kTrueCode = 0x51;
constexpr int kMaxIntBytes = 16;

// The end of a byte string. It never occurs inside one, so the first 00 is the end, and no encoding
// begins another; as the smallest byte it makes a string sort before those it begins.
constexpr char kBytesEnd = '\x00';
// Begins an escape: 01 01 stands for 00, 01 02 for 01. Both sort below 02, in this order.
constexpr char kEscape = '\x01';
constexpr char kEscapedZero = '\x01';
constexpr char kEscapedOne = '\x02';

int SignificantBytes(uint128_t magnitude) {
  int n = 0;
  while (magnitude != 0) {
    magnitude >>= 8;
    ++n;
  }
  return n;
}

// 256^n - 1, the largest magnitude that n bytes hold.
uint128_t MaxMagnitude(int n) {
  return n == kMaxIntBytes ? ~static_cast<uint128_t>(0)
                           : (static_cast<uint128_t>(1) << (8 * n)) - 1;
}

void AppendInteger(int128_t value, std::string* out) {
  if (value >= 0) {
    const auto magnitude = static_cast<uint128_t>(value);
    const int n = SignificantBytes(magnitude);
    out->push_back(static_cast<char>(kIntZeroCode + n));
    for (int i = n - 1; i >= 0; --i) {
      out->push_back(static_cast<char>(magnitude >> (8 * i)));
    }
    return;
  }
  const uint128_t magnitude = ~static_cast<uint128_t>(value) + 1;
  const int n = SignificantBytes(magnitude);
  const uint128_t complement = MaxMagnitude(n) - magnitude;
  out->push_back(static_cast<char>(kIntZeroCode - n));
  for (int i = n - 1; i >= 0; --i) {
    out->push_back(static_cast<char>(complement >> (8 * i)));
  }
}

bool ReadInteger(std::string_view* in, uint8_t code, int128_t* value) {
  const int n = code >= kIntZeroCode ? code - kIntZeroCode : kIntZeroCode - code;
  if (n > kMaxIntBytes || in->size() < static_cast<size_t>(n)) {
    return false;
  }
  uint128_t raw = 0;
  for (int i = 0; i < n; ++i) {
    raw = (raw << 8) | static_cast<uint8_t>((*in)[static_cast<size_t>(i)]);
  }
  in->remove_prefix(static_cast<size_t>(n));
  if (code >= kIntZeroCode) {
    if (raw >= kInt128SignBit || SignificantBytes(raw) != n) {
      return false;  // out of range, or not the one encoding of this value
    }
    *value = static_cast<int128_t>(raw);
    return true;
  }
  const uint128_t magnitude = MaxMagnitude(n) - raw;
  if (magnitude > kInt128SignBit || SignificantBytes(magnitude) != n) {
    return false;
  }
  *value = static_cast<int128_t>(~magnitude + 1);
  return true;
}

void AppendBytes(std::string_view bytes, std::string* out) {
  out->push_back(static_cast<char>(kBytesCode));
  for (const char c : bytes) {
    if (c == kBytesEnd || c == kEscape) {
      out->push_back(kEscape);
      out->push_back(c == kBytesEnd ? kEscapedZero : kEscapedOne);
    } else {
      out->push_back(c);
    }
  }
  out->push_back(kBytesEnd);
}

bool Unescape(std::string_view body, std::string* out) {
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != kEscape) {
      out->push_back(body[i]);
      continue;
    }
    ++i;
    if (i == body.size() || (body[i] != kEscapedZero && body[i] != kEscapedOne)) {
      return false;
    }
    out->push_back(body[i] == kEscapedZero ? '\x00' : '\x01');
  }
  return true;
}

bool ReadBytes(std::string_view* in, std::string* scratch, Datum* value) {
  const size_t end = in->find(kBytesEnd);
  if (end == std::string_view::npos) {
    return false;
  }
  const std::string_view body = in->substr(0, end);
  in->remove_prefix(end + 1);
  if (body.find(kEscape) == std::string_view::npos) {
    *value = Datum::Bytes(body);
    return true;
  }
  const size_t start = scratch->size();
  if (!Unescape(body, scratch)) {
    scratch->resize(start);
    return false;
  }
  *value = Datum::Bytes(std::string_view(*scratch).substr(start));
  return true;
}

}  // namespace

void AppendKey(const Datum& value, std::string* out) {
  if (value.is_null()) {
    out->push_back(static_cast<char>(kNullCode));
    return;
  }
  switch (value.physical()) {
    case PhysicalType::kBool:
      out->push_back(static_cast<char>(value.bool_value() ? kTrueCode : kFalseCode));
      return;
    case PhysicalType::kInt64: AppendInteger(value.int64_value(), out); return;
    case PhysicalType::kInt128: AppendInteger(value.int128_value(), out); return;
    case PhysicalType::kFloat64:
      out->push_back(static_cast<char>(kFloatCode));
      PutBigEndian(out, OrderedBitsOfFloat(value.float64_value()));
      return;
    case PhysicalType::kBytes: AppendBytes(value.bytes(), out); return;
  }
}

bool ReadKey(std::string_view* in, PhysicalType type, std::string* scratch, Datum* value) {
  if (in->empty()) {
    return false;
  }
  const auto code = static_cast<uint8_t>(in->front());
  in->remove_prefix(1);
  if (code == kNullCode) {
    *value = Datum::Null();
    return true;
  }
  switch (type) {
    case PhysicalType::kBool:
      if (code != kFalseCode && code != kTrueCode) {
        return false;
      }
      *value = Datum::Bool(code == kTrueCode);
      return true;
    case PhysicalType::kInt64: {
      int128_t wide = 0;
      if (code < kIntZeroCode - 8 || code > kIntZeroCode + 8 || !ReadInteger(in, code, &wide) ||
          wide < INT64_MIN || wide > INT64_MAX) {
        return false;
      }
      *value = Datum::Int64(static_cast<int64_t>(wide));
      return true;
    }
    case PhysicalType::kInt128: {
      int128_t wide = 0;
      if (code < kIntZeroCode - kMaxIntBytes || code > kIntZeroCode + kMaxIntBytes ||
          !ReadInteger(in, code, &wide)) {
        return false;
      }
      *value = Datum::Int128(wide);
      return true;
    }
    case PhysicalType::kFloat64: {
      uint64_t ordered = 0;
      if (code != kFloatCode || !GetBigEndian(in, &ordered)) {
        return false;
      }
      const double number = FloatOfOrderedBits(ordered);
      if (OrderedBitsOfFloat(number) != ordered) {
        return false;  // a NaN other than the one that is written
      }
      *value = Datum::Float64(number);
      return true;
    }
    case PhysicalType::kBytes: return code == kBytesCode && ReadBytes(in, scratch, value);
  }
  return false;
}

bool SkipKey(std::string_view* in) {
  if (in->empty()) {
    return false;
  }
  const auto code = static_cast<uint8_t>(in->front());
  in->remove_prefix(1);
  if (code == kNullCode || code == kFalseCode || code == kTrueCode) {
    return true;
  }
  size_t body = 0;
  if (code == kBytesCode) {
    const size_t end = in->find(kBytesEnd);
    if (end == std::string_view::npos) {
      return false;
    }
    body = end + 1;
  } else if (code == kFloatCode) {
    body = 8;
  } else if (code >= kIntZeroCode - kMaxIntBytes && code <= kIntZeroCode + kMaxIntBytes) {
    body = code >= kIntZeroCode ? code - kIntZeroCode : kIntZeroCode - code;
  } else {
    return false;
  }
  if (in->size() < body) {
    return false;
  }
  in->remove_prefix(body);
  return true;
}

void AppendIntHandle(int64_t value, std::string* out) {
  PutBigEndian(out, IntHandleBits(value));
}

bool ReadIntHandle(std::string_view* in, int64_t* value) {
  uint64_t bits = 0;
  if (!GetBigEndian(in, &bits)) {
    return false;
  }
  *value = IntOfHandleBits(bits);
  return true;
}

std::string PrefixSuccessor(std::string_view prefix) {
  std::string successor(prefix);
  while (!successor.empty() && static_cast<uint8_t>(successor.back()) == 0xff) {
    successor.pop_back();
  }
  if (!successor.empty()) {
    successor.back() = static_cast<char>(static_cast<uint8_t>(successor.back()) + 1);
  }
  return successor;
}

}  // namespace varve
