#include "base/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/interval.h"
#include "base/strings.h"
#include "base/temporal.h"
#include "tests/base/random_values.h"
#include "tests/seed.h"

namespace varve {
namespace {

using namespace std::string_view_literals;

struct Accepted {
  Type type;
  std::string_view text;
  std::string_view canonical;
};

struct Refused {
  Type type;
  std::string_view text;
  std::string_view message;
};

absl::Status Parse(const Type& type, std::string_view text, std::string* canonical,
                   BlobText blob_text = BlobText::kHex) {
  std::string scratch;
  Datum value;
  absl::Status status = ParseDatum(type, text, blob_text, &scratch, &value);
  if (status.ok()) {
    *canonical = ToText(type, value);
  }
  return status;
}

TEST(TextTest, AcceptedTextsAndTheirCanonicalForm) {
  const std::vector<Accepted> table = {
      {TypeKind::kBoolean, "t", "true"},
      {TypeKind::kBoolean, "F", "false"},
      {TypeKind::kBoolean, "True", "true"},
      {TypeKind::kBoolean, "FALSE", "false"},
      {TypeKind::kBoolean, "1", "true"},
      {TypeKind::kBoolean, "0", "false"},
      {TypeKind::kInt8, "-128", "-128"},
      {TypeKind::kInt8, "+127", "127"},
      {TypeKind::kInt16, "-32768", "-32768"},
      {TypeKind::kInt32, "2147483647", "2147483647"},
      {TypeKind::kInt64, "-9223372036854775808", "-9223372036854775808"},
      {TypeKind::kInt64, "9223372036854775807", "9223372036854775807"},
      {TypeKind::kInt64, "0000000000000000000000000007", "7"},
      {TypeKind::kInt64, "-0", "0"},
      {TypeKind::kUInt8, "255", "255"},
      {TypeKind::kUInt16, "65535", "65535"},
      {TypeKind::kUInt32, "4294967295", "4294967295"},
      {TypeKind::kUInt64, "18446744073709551615", "18446744073709551615"},
      {TypeKind::kUInt64, "0", "0"},
      {TypeKind::kInt128, "-170141183460469231731687303715884105728",
       "-170141183460469231731687303715884105728"},
      {TypeKind::kUInt128, "340282366920938463463374607431768211455",
       "340282366920938463463374607431768211455"},
      {TypeKind::kUInt128, "+0", "0"},
      {TypeKind::kFloat64, "0.1", "0.1"},
      {TypeKind::kFloat64, "+.5", "0.5"},
      {TypeKind::kFloat64, "-0", "-0"},
      {TypeKind::kFloat64, "5.", "5"},
      {TypeKind::kFloat64, "1e3", "1000"},
      {TypeKind::kFloat64, "1E+22", "1e+22"},
      {TypeKind::kFloat64, "100000", "100000"},
      {TypeKind::kFloat64, "0.00001", "0.00001"},
      {TypeKind::kFloat64, "1e-7", "1e-07"},
      {TypeKind::kFloat64, "5e-324", "5e-324"},
      {TypeKind::kFloat64, "1.7976931348623157e308", "1.7976931348623157e+308"},
      {TypeKind::kFloat64, "nan", "NaN"},
      {TypeKind::kFloat64, "NaN", "NaN"},
      {TypeKind::kFloat64, "-nan", "NaN"},
      {TypeKind::kFloat64, "inf", "Infinity"},
      {TypeKind::kFloat64, "Infinity", "Infinity"},
      {TypeKind::kFloat64, "-inf", "-Infinity"},
      {TypeKind::kFloat64, "-Infinity", "-Infinity"},
      {TypeKind::kFloat32, "0.1", "0.1"},
      {TypeKind::kFloat32, "16777217", "16777216"},
      {TypeKind::kFloat32, "3.4028235e38", "3.4028235e+38"},
      {Type::Decimal(5, 2), "12", "12.00"},
      {Type::Decimal(5, 2), "-12.5", "-12.50"},
      {Type::Decimal(5, 2), "999.99", "999.99"},
      {Type::Decimal(5, 2), "1.230000", "1.23"},
      {Type::Decimal(5, 2), ".5", "0.50"},
      {Type::Decimal(5, 2), "5.", "5.00"},
      {Type::Decimal(5, 2), "-0.00", "0.00"},
      {Type::Decimal(5, 2), "00000000000000000000000000000000000000000000001", "1.00"},
      {Type::Decimal(5, 0), "12345", "12345"},
      {Type::Decimal(2, 2), "-0.07", "-0.07"},
      {Type::Decimal(38, 0), "99999999999999999999999999999999999999",
       "99999999999999999999999999999999999999"},
      {Type::Decimal(38, 38), "-0.99999999999999999999999999999999999999",
       "-0.99999999999999999999999999999999999999"},
      {TypeKind::kDate, "2026-11-30", "2026-11-30"},
      {TypeKind::kDate, "12026-11-30", "12026-11-30"},
      {TypeKind::kDate, "0044-03-15 BC", "0044-03-15 (BC)"},
      {TypeKind::kTime, "23:59:59.999999", "23:59:59.999999"},
      {TypeKind::kTime, "24:00:00", "24:00:00"},
      {TypeKind::kTimestamp, "2026-11-30T08:37:06.331149", "2026-11-30 08:37:06.331149"},
      {TypeKind::kTimestampTz, "2026-11-30 08:37:06.331149+00", "2026-11-30 08:37:06.331149+00"},
      {TypeKind::kTimestampTz, "2026-11-30 08:37:06", "2026-11-30 08:37:06+00"},
      {TypeKind::kTimestampTz, "2026-11-30 08:37:06-08", "2026-11-30 16:37:06+00"},
      {TypeKind::kTimestampS, "2026-11-30 08:37:06", "2026-11-30 08:37:06"},
      {TypeKind::kTimestampMs, "2026-11-30 08:37:06.331", "2026-11-30 08:37:06.331"},
      {TypeKind::kTimestampNs, "2026-11-30 08:37:06.331149123", "2026-11-30 08:37:06.331149123"},
      {TypeKind::kTimestampNs, "-infinity", "-infinity"},
      {TypeKind::kInterval, "1 month 2 days 00:00:03", "1 mon 2 days 00:00:03"},
      {TypeKind::kVarchar, "", ""},
      {TypeKind::kVarchar, "Größe 'x'", "Größe 'x'"},
      {TypeKind::kJson, R"({"a": [1, 2]})", R"({"a": [1, 2]})"},
      {TypeKind::kText, "[{'a': 1, 'b': [x]}]", "[{'a': 1, 'b': [x]}]"},
      {TypeKind::kBlob, "\\x", "\\x"},
      {TypeKind::kBlob, "\\x00fFa1", "\\x00ffa1"},
      {TypeKind::kUuid, "00112233-4455-6677-8899-AABBCCDDEEFF",
       "00112233-4455-6677-8899-aabbccddeeff"},
      {TypeKind::kUuid, "ffffffff-ffff-ffff-ffff-ffffffffffff",
       "ffffffff-ffff-ffff-ffff-ffffffffffff"},
  };
  for (const Accepted& row : table) {
    std::string canonical;
    const absl::Status status = Parse(row.type, row.text, &canonical);
    EXPECT_TRUE(status.ok()) << TypeName(row.type) << ": " << status;
    EXPECT_EQ(canonical, row.canonical) << TypeName(row.type) << " '" << row.text << "'";
  }
}

TEST(TextTest, RefusedTextsAndTheirMessages) {
  const std::vector<Refused> table = {
      {TypeKind::kBoolean, "yes", "'yes' is not a boolean"},
      {TypeKind::kBoolean, "", "'' is not a boolean"},
      {TypeKind::kInt64, "abc", "'abc' is not a bigint"},
      {TypeKind::kInt64, "", "'' is not a bigint"},
      {TypeKind::kInt64, "1 ", "'1 ' is not a bigint"},
      {TypeKind::kInt64, "+-1", "'+-1' is not a bigint"},
      {TypeKind::kInt64, "+", "'+' is not a bigint"},
      {TypeKind::kInt64, "1.0", "'1.0' is not a bigint"},
      {TypeKind::kInt64, "9223372036854775808", "'9223372036854775808' is out of range for bigint"},
      {TypeKind::kInt64, "99999999999999999999x", "'99999999999999999999x' is not a bigint"},
      {TypeKind::kInt8, "300", "'300' is out of range for tinyint"},
      {TypeKind::kInt8, "-129", "'-129' is out of range for tinyint"},
      {TypeKind::kInt16, "32768", "'32768' is out of range for smallint"},
      {TypeKind::kInt32, "2147483648", "'2147483648' is out of range for integer"},
      {TypeKind::kInt32, "x", "'x' is not an integer"},
      {TypeKind::kUInt8, "-1", "'-1' is out of range for utinyint"},
      {TypeKind::kUInt16, "65536", "'65536' is out of range for usmallint"},
      {TypeKind::kUInt32, "4294967296", "'4294967296' is out of range for uinteger"},
      {TypeKind::kUInt64, "18446744073709551616",
       "'18446744073709551616' is out of range for ubigint"},
      {TypeKind::kUInt64, "-1", "'-1' is out of range for ubigint"},
      {TypeKind::kUInt64, "x", "'x' is not a ubigint"},
      {TypeKind::kInt128, "170141183460469231731687303715884105728",
       "'170141183460469231731687303715884105728' is out of range for hugeint"},
      {TypeKind::kUInt128, "-1", "'-1' is out of range for uhugeint"},
      {TypeKind::kUInt128, "--1", "'--1' is not a uhugeint"},
      {TypeKind::kFloat64, "1e400", "'1e400' is out of range for double precision"},
      {TypeKind::kFloat64, "1e-400", "'1e-400' is out of range for double precision"},
      {TypeKind::kFloat64, "0x10", "'0x10' is not a double precision"},
      {TypeKind::kFloat64, "nan(1)", "'nan(1)' is not a double precision"},
      {TypeKind::kFloat64, "--1", "'--1' is not a double precision"},
      {TypeKind::kFloat64, ".", "'.' is not a double precision"},
      {TypeKind::kFloat64, "1e", "'1e' is not a double precision"},
      {TypeKind::kFloat32, "1e39", "'1e39' is out of range for real"},
      {Type::Decimal(5, 2), "1000", "'1000' is out of range for decimal(5,2)"},
      {Type::Decimal(5, 2), "-1000.00", "'-1000.00' is out of range for decimal(5,2)"},
      {Type::Decimal(5, 2), "1.234",
       "'1.234' has more digits after the point than decimal(5,2) holds"},
      {Type::Decimal(38, 0), "100000000000000000000000000000000000000",
       "'100000000000000000000000000000000000000' is out of range for decimal(38,0)"},
      {Type::Decimal(5, 2), ".", "'.' is not a decimal(5,2)"},
      {Type::Decimal(5, 2), "1e2", "'1e2' is not a decimal(5,2)"},
      {Type::Decimal(5, 2), "1.2.3", "'1.2.3' is not a decimal(5,2)"},
      {Type::Decimal(5, 2), "NaN", "'NaN' is not a decimal(5,2)"},
      {TypeKind::kDate, "2024-02-30", "'2024-02-30' is not a date: the calendar has no such day"},
      {TypeKind::kDate, "30.11.2026", "'30.11.2026' is not a date"},
      {TypeKind::kTime, "25:00:00", "'25:00:00' is out of range for time"},
      {TypeKind::kTimestamp, "2024-01-01 00:00:00+02",
       "'2024-01-01 00:00:00+02' is not a timestamp: it names an offset from UTC"},
      {TypeKind::kTimestampS, "2024-01-01 00:00:00.5",
       "'2024-01-01 00:00:00.5' has more digits after the point than timestamp_s holds"},
      {TypeKind::kTimestampTz, "yesterday", "'yesterday' is not a timestamp with time zone"},
      {TypeKind::kInterval, "long", "'long' is not an interval"},
      {TypeKind::kBlob, "abc", "'abc' is not a blob: expected \\x and pairs of hex digits"},
      {TypeKind::kBlob, "\\x0", "'\\x0' is not a blob: expected \\x and pairs of hex digits"},
      {TypeKind::kBlob, "\\x0g", "'\\x0g' is not a blob: expected \\x and pairs of hex digits"},
      {TypeKind::kUuid, "00112233445566778899aabbccddeeff",
       "'00112233445566778899aabbccddeeff' is not a uuid"},
      {TypeKind::kUuid, "00112233-4455-6677-8899-aabbccddeefg",
       "'00112233-4455-6677-8899-aabbccddeefg' is not a uuid"},
      {TypeKind::kUuid, "00112233x4455-6677-8899-aabbccddeeff",
       "'00112233x4455-6677-8899-aabbccddeeff' is not a uuid"},
      {TypeKind::kVarchar, "a\xff", "'a\\xff' is not a varchar: it is not valid UTF-8"},
      {TypeKind::kJson, "\xc0\x80", "'\\xc0\\x80' is not a json: it is not valid UTF-8"},
      {TypeKind::kText, "\x80", "'\\x80' is not a text: it is not valid UTF-8"},
      {TypeKind::kInt64, "line\nbreak\t", "'line\\x0abreak\\x09' is not a bigint"},
  };
  for (const Refused& row : table) {
    std::string canonical;
    const absl::Status status = Parse(row.type, row.text, &canonical);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument)
        << TypeName(row.type) << " '" << row.text << "' gave " << canonical;
    EXPECT_EQ(MessageOf(status), row.message);
  }
}

TEST(TextTest, LongTextsAreShortenedInMessages) {
  std::string canonical;
  const absl::Status status =
      Parse(TypeKind::kInt64, std::string(59, 'x') + "é" + std::string(1'000, 'y'), &canonical);
  EXPECT_EQ(MessageOf(status),
            StrCat("'", std::string(59, 'x'), "...' (1061 bytes) is not a bigint"));
}

TEST(TextTest, RefusalLeavesTheValueAlone) {
  std::string scratch;
  Datum value = Datum::Int64(5);
  EXPECT_FALSE(ParseDatum(TypeKind::kBlob, "\\x0g", BlobText::kHex, &scratch, &value).ok());
  EXPECT_EQ(value.int64_value(), 5);
}

TEST(TextTest, EscapedBlobsAreThoseOfDuckDb) {
  const std::vector<std::pair<std::string_view, std::string_view>> accepted = {
      {"", "\\x"},
      {"abc", "\\x616263"},
      {"\\x61\\x00\\xFF", "\\x6100ff"},
      {"a\\x5Cx", "\\x615c78"},
      {"\\x6162", "\\x613632"},  // one escaped byte and two plain characters
  };
  for (const auto& [text, canonical] : accepted) {
    std::string got;
    const absl::Status status = Parse(TypeKind::kBlob, text, &got, BlobText::kEscaped);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(got, canonical) << text;
  }
  for (const std::string_view text : {"\\", "\\x", "\\x4", "\\y41", "a\\x4g", "é"}) {
    std::string got;
    EXPECT_EQ(MessageOf(Parse(TypeKind::kBlob, text, &got, BlobText::kEscaped)),
              StrCat("'", text, "' is not a blob: expected ASCII, other bytes as \\xNN"));
  }
}

TEST(TextTest, BytesPointIntoTheTextOrTheScratch) {
  const std::string text = "some text";
  std::string scratch = "old";
  Datum value;
  ASSERT_TRUE(ParseDatum(TypeKind::kVarchar, text, BlobText::kHex, &scratch, &value).ok());
  EXPECT_EQ(value.bytes().data(), text.data());
  ASSERT_TRUE(ParseDatum(TypeKind::kBlob, "\\x6162", BlobText::kHex, &scratch, &value).ok());
  EXPECT_EQ(value.bytes().data(), scratch.data());
  EXPECT_EQ(value.bytes(), "ab");
}

// The physical encodings that base/type.h promises.
TEST(TextTest, PhysicalOrderIsValueOrder) {
  const std::vector<std::pair<Type, std::vector<std::string_view>>> table = {
      {TypeKind::kUInt128,
       {"0", "1", "170141183460469231731687303715884105727",
        "170141183460469231731687303715884105728", "340282366920938463463374607431768211455"}},
      {TypeKind::kUuid,
       {"00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000001",
        "7fffffff-ffff-ffff-ffff-ffffffffffff", "80000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff"}},
      {TypeKind::kInterval,
       {"-1 mons", "-1 mons +1 day", "-1 days", "-1 days +00:00:01", "-00:00:01", "00:00:00",
        "00:00:01", "1 day -00:00:01", "1 day", "400 days", "1 mon -1 days", "1 mon", "1 year"}},
      {TypeKind::kDate, {"-infinity", "0044-03-15 (BC)", "1969-12-31", "1970-01-01", "infinity"}},
      {TypeKind::kTimestampNs, {"-infinity", "1969-12-31 23:59:59", "1970-01-01", "infinity"}},
      {Type::Decimal(20, 2), {"-1.01", "-1.00", "0", "0.01", "10"}},
      {TypeKind::kFloat32, {"-inf", "-1", "-0", "0", "1", "inf", "nan"}},
  };
  for (const auto& [type, texts] : table) {
    for (size_t i = 1; i < texts.size(); ++i) {
      std::string scratch;
      Datum less;
      Datum more;
      ASSERT_TRUE(ParseDatum(type, texts[i - 1], BlobText::kHex, &scratch, &less).ok());
      ASSERT_TRUE(ParseDatum(type, texts[i], BlobText::kHex, &scratch, &more).ok());
      EXPECT_TRUE(CompareDatums(less, more) < 0) << texts[i - 1] << " and " << texts[i];
    }
  }
}

std::vector<Type> AllTypes() {
  std::vector<Type> types;
  for (int kind = 0; kind <= static_cast<int>(TypeKind::kText); ++kind) {
    if (static_cast<TypeKind>(kind) != TypeKind::kDecimal) {
      types.emplace_back(static_cast<TypeKind>(kind));
    }
  }
  for (const int precision : {1, 5, 18, 19, 38}) {
    for (const int scale : {0, 1, precision}) {
      types.push_back(Type::Decimal(static_cast<uint8_t>(precision), static_cast<uint8_t>(scale)));
    }
  }
  return types;
}

int128_t PowerOfTen(int exponent) {
  int128_t power = 1;
  for (int i = 0; i < exponent; ++i) {
    power *= 10;
  }
  return power;
}

template <typename T>
Datum RandomInteger(RandomValues* random) {
  return Datum::Int64(static_cast<T>(random->Int64()));
}

// A random value of a type, within its range.
Datum RandomOf(const Type& type, RandomValues* random, std::string* storage) {
  switch (type.kind()) {
    case TypeKind::kBoolean: return Datum::Bool(random->OneIn(2));
    case TypeKind::kInt8: return RandomInteger<int8_t>(random);
    case TypeKind::kInt16: return RandomInteger<int16_t>(random);
    case TypeKind::kInt32: return RandomInteger<int32_t>(random);
    case TypeKind::kInt64: return RandomInteger<int64_t>(random);
    case TypeKind::kUInt8: return RandomInteger<uint8_t>(random);
    case TypeKind::kUInt16: return RandomInteger<uint16_t>(random);
    case TypeKind::kUInt32: return RandomInteger<uint32_t>(random);
    case TypeKind::kUInt64: return Datum::Int128(static_cast<uint64_t>(random->Int64()));
    case TypeKind::kInt128:
    case TypeKind::kUInt128:
    case TypeKind::kUuid:
    case TypeKind::kInterval: return Datum::Int128(random->Int128());
    case TypeKind::kFloat32:
      return Datum::Float64(static_cast<double>(
          random->OneIn(2) ? std::bit_cast<float>(static_cast<uint32_t>(random->Bits()))
                           : static_cast<float>(random->Int64())));
    case TypeKind::kFloat64: return Datum::Float64(random->Float64());
    case TypeKind::kDecimal: {
      const int128_t value = random->Int128() % PowerOfTen(type.precision());
      return type.physical() == PhysicalType::kInt64 ? Datum::Int64(static_cast<int64_t>(value))
                                                     : Datum::Int128(value);
    }
    case TypeKind::kDate: {
      const int64_t value = random->Int64();
      return Datum::Int64(value == kInfinity || value == kMinusInfinity ? value
                                                                        : value % (kMaxDate + 1));
    }
    case TypeKind::kTime:
      return Datum::Int64(static_cast<int64_t>(random->Below(kMicrosPerDay + 1)));
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs: return Datum::Int64(random->Int64());
    case TypeKind::kTimestampS: return Datum::Int64(random->Int64() % (kMaxDate * 86'400));
    case TypeKind::kTimestampMs: return Datum::Int64(random->Int64() % (kMaxDate * 86'400'000));
    case TypeKind::kVarchar:
    case TypeKind::kJson:
    case TypeKind::kText:
      storage->clear();
      for (uint64_t n = random->Below(20); n > 0; --n) {
        static constexpr std::array<std::string_view, 7> kPieces = {"a", "\\",   "'",   "é",
                                                                    "😀", "\n"sv, "\0"sv};
        storage->append(kPieces[random->Below(kPieces.size())]);
      }
      return Datum::Bytes(*storage);
    case TypeKind::kBlob: *storage = random->Bytes(); return Datum::Bytes(*storage);
  }
  return Datum::Null();
}

TEST(TextTest, RandomValuesOfEveryTypeReadBack) {
  RandomValues random(TestSeed());
  for (const Type& type : AllTypes()) {
    for (int i = 0; i < 3'000; ++i) {
      std::string storage;
      const Datum value = RandomOf(type, &random, &storage);
      const std::string text = ToText(type, value);
      std::string scratch;
      Datum read;
      const absl::Status status = ParseDatum(type, text, BlobText::kHex, &scratch, &read);
      ASSERT_TRUE(status.ok()) << TypeName(type) << ": " << status;
      ASSERT_EQ(read, value) << TypeName(type) << " " << text;
      ASSERT_EQ(ToText(type, read), text) << TypeName(type);
    }
  }
}

// Whatever the bytes, parsing neither crashes nor returns what does not print and read back.
TEST(TextTest, DamagedTextsAreRefusedOrReadAsAValue) {
  RandomValues random(TestSeed());
  for (const Type& type : AllTypes()) {
    for (int i = 0; i < 3'000; ++i) {
      std::string storage;
      std::string text = ToText(type, RandomOf(type, &random, &storage));
      if (random.OneIn(8)) {
        text = random.Bytes();
      }
      static constexpr std::string_view kLetters = "0123456789+-.:T eBC()\\x\xff"sv;
      for (uint64_t n = random.Below(3); n > 0; --n) {
        const size_t at = random.Below(text.size() + 1);
        if (random.OneIn(2)) {
          text.insert(at, 1, kLetters[random.Below(kLetters.size())]);
        } else if (at < text.size()) {
          text.erase(at, 1);
        }
      }
      std::string scratch;
      Datum value;
      const absl::Status status = ParseDatum(type, text, BlobText::kHex, &scratch, &value);
      if (!status.ok()) {
        ASSERT_EQ(MessageOf(status).find('\n'), std::string_view::npos);
        continue;
      }
      const std::string canonical = ToText(type, value);
      std::string other_scratch;
      Datum again;
      ASSERT_TRUE(ParseDatum(type, canonical, BlobText::kHex, &other_scratch, &again).ok())
          << TypeName(type) << " " << canonical;
      ASSERT_EQ(again, value) << TypeName(type) << " '" << text << "' " << canonical;
    }
  }
}

TEST(TextTest, PrintingAppends) {
  std::string out = "a,";
  AppendText(TypeKind::kInt64, Datum::Int64(-4), &out);
  AppendText(TypeKind::kUuid, Datum::Int128(0), &out);
  EXPECT_EQ(out, "a,-480000000-0000-0000-0000-000000000000");
}

}  // namespace
}  // namespace varve
