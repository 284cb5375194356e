// varve inspect: what a columnar file holds.

#include <gflags/gflags.h>
#include <rocksdb/file_system.h>

#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/handle.h"
#include "catalog/relation.h"
#include "catalog/tiers/columnar_format.h"
#include "columnar/columnar_file.h"
#include "columnar/file_description.h"
#include "tools/commands.h"
#include "tools/flags.h"
#include "tools/retention_output.h"

DEFINE_bool(packs, false, "print packs, not columns");

namespace varve {
namespace {

Datum Number(uint64_t n) {
  return Datum::Int64(static_cast<int64_t>(n));
}

std::string_view KindName(ColumnarFileKind kind) {
  switch (kind) {
    case ColumnarFileKind::kLive: return "live rows";
    case ColumnarFileKind::kEnded: return "ended rows";
    case ColumnarFileKind::kMixed: return "live and ended rows";
  }
  return "";
}

// nullptr: it is none of those that every catalog has. A file does not say how others are called.
RelationRef FindBuiltin(RelationId id) {
  for (const RelationRef& relation : BuiltinRelations()) {
    if (relation->id == id) {
      return relation;
    }
  }
  return nullptr;
}

std::string RelationName(RelationId id) {
  const RelationRef relation = FindBuiltin(id);
  return relation == nullptr ? StrCat("relation ", id) : relation->name;
}

std::string EncodingsText(const ColumnDescription& column) {
  std::vector<std::string> parts;
  for (const auto& [encoding, packs] : column.encodings) {
    parts.push_back(StrCat(PackEncodingName(encoding), " ", packs));
  }
  return StrJoin(parts, ", ");
}

absl::Status PrintColumns(const ColumnarFile& file, OutputFormat format, Stdout* out) {
  const auto writer =
      MakeResultWriter(format,
                       {{"relation"},
                        {"column"},
                        {"type"},
                        {"packs", TypeKind::kInt64},
                        {"nulls", TypeKind::kInt64},
                        {"encodings"},
                        {"zstd_packs", TypeKind::kInt64},
                        {"bytes", TypeKind::kInt64, Rendering::kByteSize},
                        {"uncompressed_bytes", TypeKind::kInt64, Rendering::kByteSize},
                        {"damaged_packs", TypeKind::kInt64}},
                       out);
  for (const ColumnarTable& table : file.tables()) {
    const std::string relation = RelationName(table.schema().relation);
    const auto print = [&](const ColumnarTable::Column& column,
                           std::string_view name) -> absl::Status {
      VARVE_ASSIGN_OR_RETURN(const ColumnDescription described,
                             DescribeColumn(file, table, column));
      const std::string type = TypeName(column.info.type);
      const std::string encodings = EncodingsText(described);
      return writer->Row(std::vector<Datum>{
          Datum::Bytes(relation), Datum::Bytes(name), Datum::Bytes(type),
          Number(column.packs.size()), Number(described.nulls), Datum::Bytes(encodings),
          Number(described.compressed_packs), Number(described.bytes),
          Number(described.uncompressed_bytes), Number(described.damaged_packs)});
    };
    VARVE_RETURN_IF_ERROR(print(table.handle_column(), "(handle)"));
    VARVE_RETURN_IF_ERROR(print(table.version_column(), "(version)"));
    VARVE_RETURN_IF_ERROR(print(table.end_column(), "(end)"));
    for (const ColumnarTable::Column& column : table.columns()) {
      VARVE_RETURN_IF_ERROR(print(column, column.info.name));
    }
  }
  return writer->Finish();
}

// "delete multi_version"; "-" for none.
std::string FlagsText(const PackMvccStats& stats, size_t pack) {
  std::vector<std::string_view> flags;
  if (stats.has_delete(pack)) {
    flags.emplace_back("delete");
  }
  if (stats.has_multi_version(pack)) {
    flags.emplace_back("multi_version");
  }
  return flags.empty() ? "-" : StrJoin(flags, " ");
}

// "table_id=4", or the encoded bytes.
std::string HandleText(const ColumnarTable& table, const Datum& handle) {
  const std::string encoded = EncodedHandle(table.schema().handle, handle);
  const RelationRef relation = FindBuiltin(table.schema().relation);
  return relation == nullptr ? StrCat("0x", BytesToHexString(encoded))
                             : HandleToText(*relation, encoded);
}

absl::Status PrintPacks(const ColumnarFile& file, OutputFormat format, Stdout* out) {
  const auto writer = MakeResultWriter(format,
                                       {{"relation"},
                                        {"pack", TypeKind::kInt64},
                                        {"rows", TypeKind::kInt64},
                                        {"first_handle"},
                                        {"last_handle"},
                                        {"flags"},
                                        {"min_begin", TypeKind::kInt64},
                                        {"max_begin", TypeKind::kInt64},
                                        {"min_end", TypeKind::kInt64},
                                        {"max_end", TypeKind::kInt64}},
                                       out);
  const auto snapshot = [](SnapshotId id) { return id == kNoEnd ? Datum() : Number(id); };
  for (const ColumnarTable& table : file.tables()) {
    const std::string relation = RelationName(table.schema().relation);
    for (size_t pack = 0; pack < table.num_packs(); ++pack) {
      const std::string first = HandleText(table, table.first_handle(pack));
      const std::string last =
          table.last_handles().has_value() ? HandleText(table, table.last_handles()->at(pack)) : "";
      const std::string flags =
          table.mvcc_stats().has_value() ? FlagsText(*table.mvcc_stats(), pack) : "";
      std::vector<Datum> row = {Datum::Bytes(relation),
                                Number(pack),
                                Number(table.rows_of_pack(pack)),
                                Datum::Bytes(first),
                                last.empty() ? Datum() : Datum::Bytes(last),
                                flags.empty() ? Datum() : Datum::Bytes(flags)};
      if (const auto& bounds = table.snapshot_bounds(); bounds.has_value()) {
        const PackSnapshotBounds& of_pack = (*bounds)[pack];
        row.insert(row.end(), {snapshot(of_pack.min_begin), snapshot(of_pack.max_begin),
                               snapshot(of_pack.min_end), snapshot(of_pack.max_end)});
      } else {
        row.resize(row.size() + 4);
      }
      VARVE_RETURN_IF_ERROR(writer->Row(row));
    }
  }
  return writer->Finish();
}

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments) {
  VARVE_ASSIGN_OR_RETURN(const OutputFormat format, ChosenFormat());
  const std::shared_ptr<rocksdb::FileSystem> file_system = rocksdb::FileSystem::Default();
  VARVE_ASSIGN_OR_RETURN(const std::shared_ptr<const ColumnarFile> file,
                         ColumnarFile::Open(file_system.get(), arguments[0]));
  const ColumnarFileProperties& properties = file->properties();
  Stdout out;
  VARVE_RETURN_IF_ERROR(PrintRemark(
      StrCat("level ", properties.level, ", ", KindName(properties.kind), "; ",
             properties.flushed_csn.has_value() ? StrCat("csn ", *properties.flushed_csn)
                                                : std::string("no csn"),
             "; ",
             properties.max_version.has_value()
                 ? StrCat("the last begin is ", *properties.max_version)
                 : std::string("the last begin is not known"),
             "; ", HumanSize(static_cast<int64_t>(file->file_size()))),
      format, &out));
  for (const ColumnarTable& table : file->tables()) {
    const std::string relation = RelationName(table.schema().relation);
    VARVE_RETURN_IF_ERROR(PrintRemark(
        StrCat(relation, ": ", Counted(table.num_rows(), "row"), " in ",
               Counted(table.num_packs(), "pack"), ", by ",
               table.schema().handle == HandleType::kInt ? "integer" : "byte", " handles"),
        format, &out));
    VARVE_ASSIGN_OR_RETURN(const std::vector<std::string> defects, PropertyDefects(*file, table));
    for (const std::string& defect : defects) {
      VARVE_RETURN_IF_ERROR(PrintRemark(StrCat(relation, ": ", defect), format, &out));
    }
  }
  for (const Property& property : properties.others) {
    VARVE_RETURN_IF_ERROR(
        PrintRemark(StrCat("a property this program does not know: ", property.key), format, &out));
  }
  VARVE_RETURN_IF_ERROR(FLAGS_packs ? PrintPacks(*file, format, &out)
                                    : PrintColumns(*file, format, &out));
  VARVE_RETURN_IF_ERROR(out.Flush());
  return kExitOk;
}

}  // namespace

Command InspectCommand() {
  return {
      .name = "inspect",
      .arguments = "FILE",
      .summary = "show what a columnar file holds, and how",
      .details =
          "FILE is one of the directory 'columnar' of a catalog. Prints level, kind and commit of\n"
          "the file, its tables, which statistics are missing or malformed, and for each column\n"
          "how its packs are encoded and what they take. What is beside the table goes to "
          "standard\n"
          "error in csv and json.",
      .flags = {{"packs", "", "for each pack its handles, flags and bounds instead"}, kFormatFlag},
      .min_arguments = 1,
      .max_arguments = 1,
      .run = Run};
}

}  // namespace varve
