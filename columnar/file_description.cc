#include "columnar/file_description.h"

#include <string_view>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "columnar/format.h"

namespace varve {

absl::StatusOr<ColumnDescription> DescribeColumn(const ColumnarFile& file,
                                                 const ColumnarTable& table,
                                                 const ColumnarTable::Column& column) {
  ColumnDescription description;
  std::string bytes;
  for (size_t pack = 0; pack < column.packs.size(); ++pack) {
    const PackLocation& location = column.packs[pack];
    description.bytes += location.length;
    bytes.resize(location.length);
    VARVE_RETURN_IF_ERROR(file.Read(location.offset, bytes.size(), bytes.data()));
    if (bytes.size() < kChecksumSize) {
      ++description.damaged_packs;
      continue;
    }
    const std::string_view encoded(bytes.data(), bytes.size() - kChecksumSize);
    const absl::StatusOr<PackDescription> pack_description =
        DescribePack(encoded, column.info.type.physical());
    if (LoadLittleEndian<uint64_t>(encoded.data() + encoded.size()) != SectionChecksum(encoded) ||
        !pack_description.ok() || pack_description->rows != table.rows_of_pack(pack)) {
      ++description.damaged_packs;
      continue;
    }
    description.uncompressed_bytes += pack_description->uncompressed_bytes + kChecksumSize;
    description.nulls += pack_description->null_count;
    ++description.encodings[pack_description->encoding];
    description.compressed_packs += pack_description->compression == PackCompression::kZstd ? 1 : 0;
  }
  return description;
}

absl::StatusOr<std::vector<std::string>> PropertyDefects(const ColumnarFile& file,
                                                         const ColumnarTable& table) {
  const ColumnarTableProperties& properties = table.properties();
  std::string bytes(properties.meta_length - kChecksumSize, '\0');
  VARVE_RETURN_IF_ERROR(file.Read(properties.meta_offset, bytes.size(), bytes.data()));
  TableMeta meta;
  VARVE_RETURN_IF_ERROR(ParseTableMeta(bytes, kColumnarHeaderSize, properties.meta_offset, &meta));
  std::vector<std::string> defects;
  const auto check = [&](std::string_view key, bool is_used) {
    if (meta.FindProperty(key) == nullptr) {
      defects.push_back(StrCat(key, " is missing"));
    } else if (!is_used) {
      defects.push_back(StrCat(key, " is malformed or of a later version"));
    }
  };
  const auto& stats = table.mvcc_stats();
  const auto& bounds = table.snapshot_bounds();
  check(kPropPackMvccStats, stats.has_value());
  check(kPropMaxVersion, table.max_version().has_value());
  check(kPropPackSnapshotBounds, bounds.has_value());
  check(kPropPackLastHandle, table.last_handles().has_value());
  // Not every table has a filter.
  if (meta.FindProperty(kPropHandleBloom) != nullptr) {
    check(kPropHandleBloom, table.has_handle_filter());
  }
  if (stats.has_value() && bounds.has_value()) {
    for (size_t pack = 0; pack < table.num_packs(); ++pack) {
      if ((*bounds)[pack].Contradicts(stats->flags(pack))) {
        defects.push_back(StrCat("statistics of pack ", pack, " contradict each other"));
      }
    }
  }
  for (const ColumnarTable::Column& column : table.columns()) {
    if (!column.min_max.has_value()) {
      defects.push_back(
          StrCat("the min-max index of column ", column.info.name, " is missing or malformed"));
    }
  }
  return defects;
}

}  // namespace varve
