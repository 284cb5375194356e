// Feeds what libFuzzer makes up to everything that reads bytes of a columnar file below its
// checksums: file properties, table metas, statistics, min-max indexes, bloom filters, packs. They
// may refuse or accept, but must neither read out of bounds nor allocate without bound; what they
// accept must say the same when it is written and read again, where there is a writer.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/column_batch.h"
#include "columnar/bloom_filter.h"
#include "columnar/columnar_file_properties.h"
#include "columnar/min_max_index.h"
#include "columnar/pack_codec.h"
#include "columnar/pack_mvcc_stats.h"
#include "columnar/table_meta.h"

namespace varve {
namespace {

constexpr PhysicalType kTypes[] = {PhysicalType::kBool, PhysicalType::kInt64, PhysicalType::kInt128,
                                   PhysicalType::kFloat64, PhysicalType::kBytes};

void Require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

void ReadFileProperties(std::string_view bytes) {
  ColumnarFileProperties properties;
  if (!ParseFileProperties(bytes, &properties).ok()) {
    return;
  }
  std::string written;
  AppendFileProperties(properties, &written);
  ColumnarFileProperties again;
  Require(ParseFileProperties(written, &again).ok() && again == properties);
}

void ReadStatistics(std::string_view bytes, size_t num_packs) {
  if (const auto stats = PackMvccStats::Parse(bytes, num_packs); stats.has_value()) {
    Require(PackMvccStats::Parse(stats->Encode(), num_packs) == stats);
  }
  if (const auto bounds = ParsePackSnapshotBounds(bytes, num_packs); bounds.has_value()) {
    Require(ParsePackSnapshotBounds(EncodePackSnapshotBounds(*bounds), num_packs) == bounds);
  }
}

void ReadMinMax(std::string_view bytes, PhysicalType type, size_t num_packs) {
  const auto index = MinMaxIndex::Parse(bytes, type, num_packs);
  for (size_t pack = 0; index.has_value() && pack < num_packs; ++pack) {
    static_cast<void>(index->pack(pack));
  }
}

// A pack decoded whole, in part and by selection says the same.
void ReadPack(std::string_view bytes, PhysicalType type, size_t rows) {
  PackDecoder decoder;
  ColumnVector whole(type);
  if (!decoder.Decode(bytes, type, rows, &whole).ok()) {
    return;
  }
  Require(whole.size() == rows);
  ColumnVector half(type);
  Require(decoder.DecodeRange(bytes, type, rows, rows / 2, rows, &half).ok());
  std::vector<uint32_t> odd;
  for (uint32_t row = 1; row < rows; row += 2) {
    odd.push_back(row);
  }
  ColumnVector chosen(type);
  Require(decoder.DecodeSelected(bytes, type, rows, odd, &chosen).ok());
  for (size_t row = 0; row < half.size(); ++row) {
    Require(half.at(row) == whole.at(rows / 2 + row));
  }
  for (size_t i = 0; i < odd.size(); ++i) {
    Require(chosen.at(i) == whole.at(odd[i]));
  }
}

}  // namespace
}  // namespace varve

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace varve;
  constexpr size_t kHead = 3;  // what is read, its type, how many packs or rows
  if (size < kHead) {
    return 0;
  }
  const std::string_view bytes(reinterpret_cast<const char*>(data) + kHead, size - kHead);
  const PhysicalType type = kTypes[data[1] % std::size(kTypes)];
  const size_t count = data[2];
  switch (data[0] % 6) {
    case 0: ReadFileProperties(bytes); break;
    case 1: {
      TableMeta meta;
      static_cast<void>(ParseTableMeta(bytes, 0, 1 << 20, &meta).ok());
      break;
    }
    case 2: ReadStatistics(bytes, count); break;
    case 3: ReadMinMax(bytes, type, count); break;
    case 4: static_cast<void>(BloomFilter(bytes).MayContain(count)); break;
    default: ReadPack(bytes, type, count); break;
  }
  return 0;
}
