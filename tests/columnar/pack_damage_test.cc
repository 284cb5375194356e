// Packs whose bytes are not what an encoder wrote: an error or some rows, never a crash, never
// memory out of proportion.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/coding.h"
#include "base/strings.h"
#include "columnar/encoding/compression.h"
#include "columnar/pack_codec.h"
#include "tests/columnar/column_shapes.h"
#include "tests/seed.h"

namespace varve {
namespace {

// Decodes in all three ways from a buffer of exactly this size and checks what must hold whatever
// the bytes are. Returns whether the whole could be decoded.
bool DecodeAnything(std::string_view encoded, PhysicalType type, size_t rows) {
  const std::vector<char> bytes(encoded.begin(), encoded.end());
  const std::string_view view(bytes.data(), bytes.size());
  PackDecoder decoder;
  ColumnVector column(type);
  column.AppendNull();  // what is there stays
  const auto check = [&](const absl::Status& status, size_t expected) {
    EXPECT_EQ(column.size(), status.ok() ? expected + 1 : 1);
    EXPECT_TRUE(column.is_null(0));
    if (!status.ok()) {
      EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << MessageOf(status);
      EXPECT_EQ(MessageOf(status).find('\n'), std::string_view::npos);
      EXPECT_TRUE(MessageOf(status).starts_with("pack: ")) << MessageOf(status);
      EXPECT_EQ(column.heap_size(), 0U);
    }
    for (size_t row = 0; row < column.size(); ++row) {
      if (type == PhysicalType::kBytes) {
        EXPECT_LE(column.ends()[row], column.heap_size());
      } else if (type == PhysicalType::kBool) {
        EXPECT_LE(column.bools()[row], 1);
      }
    }
    EXPECT_TRUE(ExpansionIsBounded(column.heap_size(), encoded.size() * kMaxExpansion));
    column.Truncate(1);
  };
  (void)DescribePack(view, type);
  check(decoder.DecodeRange(view, type, rows, rows / 3, rows / 2, &column), rows / 2 - rows / 3);
  std::vector<uint32_t> selection;
  for (size_t row = rows / 4; row < rows; row += 1 + row / 7) {
    selection.push_back(static_cast<uint32_t>(row));
  }
  check(decoder.DecodeSelected(view, type, rows, selection, &column), selection.size());
  const absl::Status status = decoder.Decode(view, type, rows, &column);
  check(status, rows);
  return status.ok();
}

std::string Encode(const ColumnVector& column) {
  PackEncoder encoder;
  std::string out;
  encoder.Encode(column, 0, column.size(), &out);
  return out;
}

struct Sample {
  PhysicalType type;
  size_t rows;
  std::string encoded;
};

std::vector<Sample> Samples(ColumnShapes* shapes) {
  std::vector<Sample> samples;
  for (const PhysicalType type : kAllPhysicalTypes) {
    for (const Shape shape : kAllShapes) {
      for (const size_t rows : {1, 90, 400}) {
        const NullShape nulls = rows == 90 ? NullShape::kSome : NullShape::kNone;
        samples.push_back({type, rows, Encode(shapes->Make(type, shape, nulls, rows))});
      }
    }
  }
  return samples;
}

TEST(PackDamageTest, APackCutShortAnywhereIsAnError) {
  ColumnShapes shapes(TestSeed());
  for (const Sample& sample : Samples(&shapes)) {
    // The heap of a constant is the rest of the pack: a shorter one is a shorter value.
    const bool any_length =
        sample.type == PhysicalType::kBytes &&
        DescribePack(sample.encoded, sample.type)->encoding == PackEncoding::kConstant;
    for (size_t size = 0; size < sample.encoded.size(); ++size) {
      const bool decoded = DecodeAnything(std::string_view(sample.encoded).substr(0, size),
                                          sample.type, sample.rows);
      ASSERT_TRUE(any_length || !decoded) << size << " of " << sample.encoded.size() << " bytes";
    }
  }
}

TEST(PackDamageTest, BytesAfterAPackAreAnError) {
  ColumnShapes shapes(TestSeed());
  for (const Sample& sample : Samples(&shapes)) {
    if (sample.type != PhysicalType::kBytes) {
      ASSERT_FALSE(DecodeAnything(sample.encoded + "x", sample.type, sample.rows));
    }
  }
}

TEST(PackDamageTest, ChangedBytesNeverDoHarm) {
  constexpr int kRounds = 300;  // for each of 135 samples
  ColumnShapes shapes(TestSeed());
  RandomValues& random = shapes.random();
  int errors = 0;
  for (const Sample& sample : Samples(&shapes)) {
    for (int round = 0; round < kRounds; ++round) {
      std::string damaged = sample.encoded;
      const uint64_t changes = 1 + random.Below(4);
      for (uint64_t i = 0; i < changes; ++i) {
        // As often as not at the front, where the sizes are.
        const size_t at =
            random.Below(random.OneIn(2) ? std::min<size_t>(damaged.size(), 24) : damaged.size());
        switch (random.Below(4)) {
          case 0: damaged[at] = static_cast<char>(damaged[at] ^ (1 << random.Below(8))); break;
          case 1: damaged[at] = static_cast<char>(random.Bits()); break;
          case 2: damaged.insert(at, 1, static_cast<char>(random.Bits())); break;
          default:
            if (damaged.size() > 1) {
              damaged.erase(at, 1);
            }
        }
      }
      errors += DecodeAnything(damaged, sample.type, sample.rows) ? 0 : 1;
    }
    if (HasFailure()) {
      return;
    }
  }
  EXPECT_GT(errors, 1000);
}

TEST(PackDamageTest, NoiseBehindAGoodHeadNeverDoesHarm) {
  RandomValues random(TestSeed());
  for (int round = 0; round < 20000; ++round) {
    const PhysicalType type = kAllPhysicalTypes[random.Below(kAllPhysicalTypes.size())];
    const size_t rows = random.Below(20);
    std::string pack;
    pack.push_back(static_cast<char>(random.Below(9)));
    pack.push_back(static_cast<char>(random.OneIn(4) ? random.Below(7) : 0));
    PutVarint64(&pack, rows);
    for (uint64_t i = random.Below(80); i > 0; --i) {
      pack.push_back(static_cast<char>(random.OneIn(2) ? random.Below(5) : random.Bits()));
    }
    DecodeAnything(pack, type, rows);
    if (HasFailure()) {
      return;
    }
  }
}

TEST(PackDamageTest, AnotherRowCountIsAnError) {
  ColumnVector column(PhysicalType::kInt64);
  column.AppendInt64(1);
  PackDecoder decoder;
  ColumnVector decoded(PhysicalType::kInt64);
  const absl::Status status = decoder.Decode(Encode(column), PhysicalType::kInt64, 2, &decoded);
  EXPECT_EQ(MessageOf(status), "pack: it has 1 rows instead of 2");
}

TEST(PackDamageTest, AnEncodingOfAnotherTypeOrALaterVersionIsAnError) {
  for (const char* head : {"\x03\x00\x01", "\x04\x00\x01", "\x09\x00\x01", "\xff\x00\x01"}) {
    EXPECT_FALSE(DecodeAnything(std::string(head, 3) + "value", PhysicalType::kBytes, 1))
        << head[0];
  }
  EXPECT_FALSE(DescribePack(std::string("\x09\x00\x01", 3), PhysicalType::kInt64).ok());
}

TEST(PackDamageTest, AHugeRowCountIsRefusedBeforeMemoryIsTaken) {
  constexpr size_t kHuge = size_t{1} << 60;
  std::string pack("\x01\x00", 2);
  PutVarint64(&pack, kHuge);
  PutLittleEndian(&pack, uint64_t{7});
  PackDecoder decoder;
  ColumnVector decoded(PhysicalType::kInt64);
  EXPECT_FALSE(decoder.Decode(pack, PhysicalType::kInt64, kHuge, &decoded).ok());
  EXPECT_EQ(decoded.size(), 0U);
}

TEST(PackDamageTest, AFrameThatClaimsToHoldTooMuchIsRefused) {
  std::string pack("\x01\x04\x01", 3);
  PutVarint64(&pack, uint64_t{1} << 40);
  pack.append(50, 'x');
  EXPECT_FALSE(DecodeAnything(pack, PhysicalType::kBytes, 1));
}

TEST(PackDamageTest, AConstantThatWouldExpandTooFarIsRefused) {
  std::string pack("\x01\x00", 2);
  const size_t rows = 100000;
  PutVarint64(&pack, rows);
  pack.append(20000, 'x');
  PackDecoder decoder;
  ColumnVector decoded(PhysicalType::kBytes);
  EXPECT_FALSE(decoder.Decode(pack, PhysicalType::kBytes, rows, &decoded).ok());
  EXPECT_EQ(decoded.size(), 0U);
}

}  // namespace
}  // namespace varve
