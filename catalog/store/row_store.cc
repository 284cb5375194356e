#include "catalog/store/row_store.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <span>
#include <thread>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/store/checked_file_system.h"
#include "catalog/store/durable_file.h"
#include "catalog/store/log_check.h"
#include "catalog/store/store_format.h"

namespace varve {
namespace {

constexpr std::string_view kIdentityFile = "/VARVE";
constexpr std::string_view kIdentityText = "varve catalog, format ";
constexpr std::string_view kRowsDirectory = "/rows";

constexpr size_t kBlockSize = 16 << 10;
constexpr double kBloomBitsPerKey = 10;
constexpr uint64_t kWriteBufferBytes = uint64_t{64} << 20;
constexpr uint64_t kFileBytes = uint64_t{64} << 20;
constexpr size_t kInfoLogFiles = 4;

// A read-only opening writes nothing, not even RocksDB's log of what it does.
class SilentLogger : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, va_list /*args*/) override {}
};

rocksdb::DBOptions DatabaseOptions(bool read_only) {
  rocksdb::DBOptions options;
  options.env = CheckedEnvironment();
  options.max_open_files = -1;
  options.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  options.keep_log_file_num = kInfoLogFiles;
  options.max_background_jobs = 2;
  options.paranoid_checks = true;
  options.track_and_verify_wals_in_manifest = true;
  // A log that ends in the middle of a record is a crash; any other damage to it is corruption and
  // must be reported, not read around.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  options.wal_bytes_per_sync = 1 << 20;
  options.bytes_per_sync = 1 << 20;
  if (read_only) {
    options.info_log = std::make_shared<SilentLogger>();
  }
  return options;
}

std::vector<rocksdb::ColumnFamilyDescriptor> FamilyDescriptors(
    const std::shared_ptr<rocksdb::Cache>& cache) {
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (size_t i = 0; i < kNumFamilies; ++i) {
    descriptors.emplace_back(kFamilyNames[i], FamilyOptions(static_cast<Family>(i), cache));
  }
  return descriptors;
}

// Changes whenever files are added to the database or no longer belong to it.
std::string ManifestMark(const std::string& rows) {
  std::ifstream file(StrCat(rows, "/CURRENT"));
  std::string manifest;
  std::getline(file, manifest);
  std::error_code error;
  return StrCat(manifest, " ", std::filesystem::file_size(StrCat(rows, "/", manifest), error));
}

struct OpenDatabase {
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> families;
};

absl::StatusOr<OpenDatabase> OpenRows(const std::string& rows, const RowStoreOptions& options) {
  VARVE_RETURN_IF_ERROR(CheckLogs(rows));
  const rocksdb::DBOptions db_options = DatabaseOptions(options.read_only);
  const auto families = FamilyDescriptors(rocksdb::NewLRUCache(options.block_cache_bytes));
  OpenDatabase open;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status =
      options.read_only
          ? rocksdb::DB::OpenForReadOnly(db_options, rows, families, &open.families, &db)
          : rocksdb::DB::Open(db_options, rows, families, &open.families, &db);
  VARVE_RETURN_IF_ERROR(FromRocksDb(status, StrCat("opening ", rows)));
  open.db.reset(db);
  return open;
}

void CloseDatabase(rocksdb::DB* db, std::span<rocksdb::ColumnFamilyHandle* const> families) {
  for (rocksdb::ColumnFamilyHandle* handle : families) {
    if (handle != nullptr) {
      db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    }
  }
  // There is no one to report to here; what was acknowledged is in the log either way.
  db->Close().PermitUncheckedError();
}

// Beside a writer, files and logs may be replaced and removed between being listed and being
// opened: the opening fails then, or misses what went from a log into a file meanwhile. Every such
// change is in the manifest before anything is removed, so an opening during which the manifest
// stayed as it was is a whole one.
absl::StatusOr<OpenDatabase> OpenRowsBesideWriter(const std::string& rows,
                                                  const RowStoreOptions& options) {
  constexpr int kAttempts = 100;  // with the pauses between them about five seconds
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(attempt));
    const std::string before = ManifestMark(rows);
    absl::StatusOr<OpenDatabase> open = OpenRows(rows, options);
    if (ManifestMark(rows) == before) {
      return open;
    }
    if (open.ok()) {
      CloseDatabase(open->db.get(), open->families);
    }
  }
  return absl::UnavailableError(
      StrCat("opening ", rows, ": the writer changes its files too fast; try again"));
}

}  // namespace

absl::Status FromRocksDb(const rocksdb::Status& status, std::string_view what) {
  if (status.ok()) {
    return absl::OkStatus();
  }
  const std::string message = StrCat(what, ": ", status.ToString());
  if (status.IsCorruption()) {
    return absl::DataLossError(
        StrCat(message, "; the row store is damaged: restore it from a copy, or import it again"));
  }
  if (status.IsNotFound()) {
    return absl::NotFoundError(message);
  }
  if (status.IsNoSpace()) {
    return absl::ResourceExhaustedError(message);
  }
  if (status.IsIOError() && message.find("No such file") != std::string::npos) {
    return absl::DataLossError(
        StrCat(message,
               "; a file of the row store is missing: restore it from a copy, or import it again"));
  }
  return absl::InternalError(message);
}

rocksdb::ColumnFamilyOptions FamilyOptions(Family family,
                                           const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.block_size = kBlockSize;
  table.format_version = 5;
  table.checksum = rocksdb::kXXH3;
  table.cache_index_and_filter_blocks = false;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kBloomBitsPerKey));
  if (family == Family::kLive) {
    table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
    table.data_block_hash_table_util_ratio = 0.75;
  }
  rocksdb::ColumnFamilyOptions options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.compression = rocksdb::kZSTD;
  options.write_buffer_size = kWriteBufferBytes;
  options.target_file_size_base = kFileBytes;
  options.level_compaction_dynamic_level_bytes = true;
  return options;
}

absl::Status CheckIsCatalog(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return absl::NotFoundError(
        StrCat(path, " does not exist; make a catalog there with `varve init` or `varve import`"));
  }
  std::ifstream file(StrCat(path, kIdentityFile));
  std::string line;
  std::optional<uint32_t> format;
  if (file.is_open() && std::getline(file, line) && line.starts_with(kIdentityText)) {
    format = ParseNumber<uint32_t>(std::string_view(line).substr(kIdentityText.size()));
  }
  if (!format.has_value() &&
      std::filesystem::exists(StrCat(path, kRowsDirectory, "/CURRENT"), error)) {
    return absl::DataLossError(StrCat(
        path,
        ": the file VARVE is missing or damaged, though a row store is there; it holds the line '",
        kIdentityText, kFormatVersion, "'; restore it from a copy"));
  }
  if (!format.has_value()) {
    return absl::NotFoundError(
        StrCat(path,
               " is not a Varve catalog (it has no valid VARVE file); give --catalog the "
               "directory that `varve init` or `varve import` made"));
  }
  if (*format > kFormatVersion) {
    return absl::FailedPreconditionError(StrCat(path, " has format ", *format,
                                                ", this program reads up to format ",
                                                kFormatVersion, "; use a newer varve"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<RowStore>> RowStore::Open(const std::string& path,
                                                         const RowStoreOptions& options) {
  VARVE_RETURN_IF_ERROR(CheckIsCatalog(path));
  std::shared_ptr<RowStore> store(new RowStore());
  store->path_ = path;
  store->read_only_ = options.read_only;
  if (!options.read_only) {
    VARVE_ASSIGN_OR_RETURN(store->lock_, CatalogLock::Acquire(path));
  }
  const std::string rows = StrCat(path, kRowsDirectory);
  VARVE_ASSIGN_OR_RETURN(OpenDatabase open, options.read_only ? OpenRowsBesideWriter(rows, options)
                                                              : OpenRows(rows, options));
  store->db_ = std::move(open.db);
  std::copy(open.families.begin(), open.families.end(), store->families_.begin());
  return store;
}

absl::StatusOr<std::shared_ptr<RowStore>> RowStore::Create(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    return absl::InternalError(StrCat("cannot make ", path, ": ", error.message()));
  }
  std::shared_ptr<RowStore> store(new RowStore());
  store->path_ = path;
  rocksdb::DBOptions db_options = DatabaseOptions(/*read_only=*/false);
  db_options.create_if_missing = true;
  db_options.create_missing_column_families = true;
  db_options.error_if_exists = true;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  const RowStoreOptions defaults;
  VARVE_RETURN_IF_ERROR(FromRocksDb(
      rocksdb::DB::Open(db_options, StrCat(path, kRowsDirectory),
                        FamilyDescriptors(rocksdb::NewLRUCache(defaults.block_cache_bytes)),
                        &handles, &db),
      StrCat("making a row store in ", path)));
  store->db_.reset(db);
  std::copy(handles.begin(), handles.end(), store->families_.begin());
  VARVE_RETURN_IF_ERROR(
      WriteDurableFile(StrCat(path, kIdentityFile), StrCat(kIdentityText, kFormatVersion, "\n")));
  return store;
}

RowStore::~RowStore() {
  if (db_ == nullptr) {
    return;
  }
  if (!read_only_) {
    // So that the next opening has no log to replay. A failure costs that opening time, nothing
    // else.
    Flush().IgnoreError();
  }
  CloseDatabase(db_.get(), families_);
}

absl::StatusOr<std::optional<std::string>> RowStore::GetDefault(
    std::string_view key, const rocksdb::Snapshot* snapshot) const {
  rocksdb::ReadOptions options;
  options.snapshot = snapshot;
  std::string value;
  const rocksdb::Status status = db_->Get(options, family(Family::kDefault), ToSlice(key), &value);
  if (status.IsNotFound()) {
    return std::nullopt;
  }
  VARVE_RETURN_IF_ERROR(FromRocksDb(status, StrCat("reading '", key, "'")));
  return value;
}

absl::Status RowStore::Flush() {
  return FromRocksDb(db_->Flush(rocksdb::FlushOptions(), {families_.begin(), families_.end()}),
                     StrCat("flushing ", path_));
}

}  // namespace varve
