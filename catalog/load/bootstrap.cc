#include "catalog/load/bootstrap.h"

#include <array>
#include <random>

#include "absl/strings/str_format.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/load/bulk_loader.h"

namespace varve {
namespace {

constexpr std::string_view kCatalogVersion = "1.0";
constexpr std::string_view kCreatedBy = "Varve 0.1.0";
constexpr std::string_view kMainSchema = "main";

absl::Status AddSetting(BulkLoader* loader, std::string_view key, std::string_view value) {
  const std::array<Datum, 4> row = {Datum::Bytes(key), Datum::Bytes(value), Datum::Null(),
                                    Datum::Null()};
  return loader->AddRow(*BuiltinRelationById(kMetadata), row, 0, 0);
}

}  // namespace

std::string RandomUuid() {
  std::random_device device;
  std::array<uint32_t, 4> words;
  for (uint32_t& word : words) {
    word = static_cast<uint32_t>(device());
  }
  words[1] = (words[1] & 0xffff'0fffU) | 0x4000U;       // version 4
  words[2] = (words[2] & 0x3fff'ffffU) | 0x8000'0000U;  // variant 1
  return absl::StrFormat("%08x-%04x-%04x-%04x-%04x%08x", words[0], words[1] >> 16,
                         words[1] & 0xffffU, words[2] >> 16, words[2] & 0xffffU, words[3]);
}

absl::Status MakeBootstrapCatalog(const std::string& path, const Catalog::InitOptions& options) {
  if (options.data_path.find('\0') != std::string::npos || !IsValidUtf8(options.data_path)) {
    return absl::InvalidArgumentError("the data path is no valid UTF-8 text");
  }
  std::string data_path = options.data_path;
  if (!data_path.empty() && data_path.back() != '/') {
    data_path.push_back('/');
  }
  const std::string uuid = options.schema_uuid.empty() ? RandomUuid() : options.schema_uuid;
  std::string scratch;
  Datum uuid_value;
  VARVE_RETURN_IF_ERROR(ParseDatum(TypeKind::kUuid, uuid, BlobText::kHex, &scratch, &uuid_value));

  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<BulkLoader> loader,
                         BulkLoader::Create(path, BulkLoadOptions()));
  const std::array<Datum, 5> snapshot = {Datum::Int64(0),
                                         Datum::Int64(absl::ToUnixMicros(options.now)),
                                         Datum::Int64(0), Datum::Int64(1), Datum::Int64(0)};
  VARVE_RETURN_IF_ERROR(loader->AddRow(*BuiltinRelationById(kSnapshot), snapshot, 0, 0));
  const std::array<Datum, 5> changes = {Datum::Int64(0), Datum::Bytes("created_schema:\"main\""),
                                        Datum::Null(), Datum::Null(), Datum::Null()};
  VARVE_RETURN_IF_ERROR(loader->AddRow(*BuiltinRelationById(kSnapshotChanges), changes, 0, 0));
  VARVE_RETURN_IF_ERROR(AddSetting(loader.get(), "version", kCatalogVersion));
  VARVE_RETURN_IF_ERROR(AddSetting(loader.get(), "created_by", kCreatedBy));
  VARVE_RETURN_IF_ERROR(AddSetting(loader.get(), "data_path", data_path));
  VARVE_RETURN_IF_ERROR(
      AddSetting(loader.get(), "encrypted", options.encrypted ? "true" : "false"));
  const std::array<Datum, 7> schema = {Datum::Int64(0),           uuid_value,
                                       Datum::Int64(0),           Datum::Null(),
                                       Datum::Bytes(kMainSchema), Datum::Bytes("main/"),
                                       Datum::Bool(true)};
  VARVE_RETURN_IF_ERROR(loader->AddRow(*BuiltinRelationById(kSchema), schema, 0, 0));
  return loader->Finish().status();
}

}  // namespace varve
