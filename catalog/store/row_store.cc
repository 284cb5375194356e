#include "catalog/store/row_store.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>
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

constexpr std::string_view kIdentityText = "varve catalog, format ";

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

// `env` null: CheckedEnvironment().
rocksdb::DBOptions DatabaseOptions(bool read_only, rocksdb::Env* env = nullptr) {
  rocksdb::DBOptions options;
  options.env = env != nullptr ? env : CheckedEnvironment();
  options.max_open_files = -1;
  options.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  options.keep_log_file_num = kInfoLogFiles;
  options.max_background_jobs = 2;
  options.paranoid_checks = true;
  options.track_and_verify_wals_in_manifest = true;
  // A log that ends in the middle of a record is a crash; any other damage to it is corruption and
  // must be reported, not read around.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  // The log may hold a commit that failed. Opening replays it for the families that were not
  // flushed since: for all or for none of them, or there would be half a commit.
  options.atomic_flush = true;
  // After an error RocksDB must not go on by itself: see RowStore::Write.
  options.max_bgerror_resume_count = 0;
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

struct OpenDatabase {
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> families;
};

enum class OpenMode : uint8_t { kWrite, kReadOnly, kFollow };

absl::StatusOr<OpenDatabase> OpenRows(const std::string& rows, OpenMode mode,
                                      const std::shared_ptr<rocksdb::Cache>& cache,
                                      rocksdb::Env* env) {
  VARVE_RETURN_IF_ERROR(CheckLogs(rows));
  const rocksdb::DBOptions db_options = DatabaseOptions(mode != OpenMode::kWrite, env);
  const auto families = FamilyDescriptors(cache);
  OpenDatabase open;
  rocksdb::DB* db = nullptr;
  rocksdb::Status status;
  switch (mode) {
    case OpenMode::kWrite:
      status = rocksdb::DB::Open(db_options, rows, families, &open.families, &db);
      break;
    case OpenMode::kReadOnly:
      status = rocksdb::DB::OpenForReadOnly(db_options, rows, families, &open.families, &db);
      break;
    case OpenMode::kFollow:
      // Nothing goes to the secondary path: it is there for a log of RocksDB's own.
      status = rocksdb::DB::OpenAsSecondary(db_options, rows, /*secondary_path=*/rows, families,
                                            &open.families, &db);
      break;
  }
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

absl::Status CheckIsNoCheckpoint(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(StrCat(path, "/", kCheckpointFile), error)
             ? absl::FailedPreconditionError(
                   StrCat(path,
                          " is a checkpoint and stays as it is; write to a catalog made of it: "
                          "`varve checkpoint restore ",
                          path, " --to=PATH`"))
             : absl::OkStatus();
}

// Beside a writer, files and logs may be replaced and removed between being listed and being
// opened: the opening fails then, or misses what went from a log into a file meanwhile. Every such
// change is in the manifest before anything is removed, so an opening during which the manifest
// stayed as it was, and no log went, is a whole one.
absl::StatusOr<OpenDatabase> OpenRowsBesideWriter(const std::string& rows,
                                                  const std::shared_ptr<rocksdb::Cache>& cache,
                                                  rocksdb::Env* env, DatabaseMark* mark) {
  constexpr int kAttempts = 100;  // with the pauses between them about five seconds
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(attempt));
    *mark = TakeMark(rows);
    absl::StatusOr<OpenDatabase> open = OpenRows(rows, OpenMode::kReadOnly, cache, env);
    if (SameFiles(TakeMark(rows), *mark)) {
      return open;
    }
    if (open.ok()) {
      CloseDatabase(open->db.get(), open->families);
    }
  }
  return absl::UnavailableError(
      StrCat("opening ", rows, ": the writer changes its files too fast; try again"));
}

absl::Status WriterChangedFiles(const std::string& rows) {
  return absl::UnavailableError(
      StrCat(rows, ": the writer has changed its files meanwhile; open the catalog anew"));
}

// The table files a database is made of, by family, with their sizes.
std::vector<std::string> TableFiles(rocksdb::DB* db) {
  std::vector<rocksdb::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  std::vector<std::string> names;
  for (const rocksdb::LiveFileMetaData& file : files) {
    names.push_back(StrCat(file.column_family_name, " ", file.name, " ", file.size));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::string ManifestMark(const std::string& rows) {
  std::ifstream file(StrCat(rows, "/CURRENT"));
  std::string manifest;
  std::getline(file, manifest);
  std::error_code error;
  return StrCat(manifest, " ", std::filesystem::file_size(StrCat(rows, "/", manifest), error));
}

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
  std::ifstream file(StrCat(path, "/", kIdentityFile));
  std::string line;
  std::optional<uint32_t> format;
  if (file.is_open() && std::getline(file, line) && line.starts_with(kIdentityText)) {
    format = ParseNumber<uint32_t>(std::string_view(line).substr(kIdentityText.size()));
  }
  if (!format.has_value() &&
      std::filesystem::exists(StrCat(path, "/", kRowsDirectory, "/CURRENT"), error)) {
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
    VARVE_RETURN_IF_ERROR(CheckIsNoCheckpoint(path));
    VARVE_ASSIGN_OR_RETURN(store->lock_, CatalogLock::Acquire(path));
  }
  if (options.file_system != nullptr) {
    store->env_ = MakeCheckedEnvironment(options.file_system);
  }
  store->options_ = options;
  store->cache_ = rocksdb::NewLRUCache(options.block_cache_bytes);
  rocksdb::Env* const env = store->env_.get();
  const std::string rows = StrCat(path, "/", kRowsDirectory);
  VARVE_ASSIGN_OR_RETURN(OpenDatabase open,
                         options.read_only
                             ? OpenRowsBesideWriter(rows, store->cache_, env, &store->mark_)
                             : OpenRows(rows, OpenMode::kWrite, store->cache_, env));
  store->db_ = std::move(open.db);
  std::copy(open.families.begin(), open.families.end(), store->families_.begin());
  return store;
}

absl::StatusOr<std::shared_ptr<RowStore>> RowStore::OpenFollower() const {
  const std::string rows = StrCat(path_, "/", kRowsDirectory);
  std::shared_ptr<RowStore> store(new RowStore());
  store->path_ = path_;
  store->read_only_ = true;
  store->is_follower_ = true;
  store->options_ = options_;
  store->cache_ = cache_;
  store->mark_ = TakeMark(rows);
  if (store->mark_.manifest != mark_.manifest) {
    return WriterChangedFiles(rows);
  }
  if (options_.file_system != nullptr) {
    store->env_ = MakeCheckedEnvironment(options_.file_system);
  }
  VARVE_ASSIGN_OR_RETURN(OpenDatabase open,
                         OpenRows(rows, OpenMode::kFollow, cache_, store->env_.get()));
  store->db_ = std::move(open.db);
  std::copy(open.families.begin(), open.families.end(), store->families_.begin());
  // A secondary instance takes a damaged or missing file for one it need not know and shows an
  // earlier state: this store, which was opened with the same manifest, says what belongs.
  if (!SameFiles(TakeMark(rows), store->mark_) || TableFiles(&store->db()) != TableFiles(&db())) {
    return WriterChangedFiles(rows);
  }
  return store;
}

absl::Status RowStore::CatchUp() {
  const std::string rows = StrCat(path_, "/", kRowsDirectory);
  DatabaseMark mark = TakeMark(rows);
  if (mark.manifest != mark_.manifest) {
    return WriterChangedFiles(rows);
  }
  VARVE_RETURN_IF_ERROR(
      FromRocksDb(db_->TryCatchUpWithPrimary(), StrCat("reading the log of ", rows)));
  if (ManifestMark(rows) != mark.manifest) {
    return WriterChangedFiles(rows);
  }
  mark_ = std::move(mark);
  return absl::OkStatus();
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
      rocksdb::DB::Open(db_options, StrCat(path, "/", kRowsDirectory),
                        FamilyDescriptors(rocksdb::NewLRUCache(defaults.block_cache_bytes)),
                        &handles, &db),
      StrCat("making a row store in ", path)));
  store->db_.reset(db);
  std::copy(handles.begin(), handles.end(), store->families_.begin());
  VARVE_RETURN_IF_ERROR(WriteDurableFile(StrCat(path, "/", kIdentityFile),
                                         StrCat(kIdentityText, kFormatVersion, "\n")));
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

absl::Status RowStore::CheckWritable() const {
  const std::lock_guard<std::mutex> lock(write_error_mutex_);
  return write_error_.ok() ? absl::OkStatus()
                           : absl::Status(write_error_.code(),
                                          StrCat("an earlier write to ", path_, " failed (",
                                                 MessageOf(write_error_),
                                                 "); open the catalog again to write to it"));
}

absl::Status RowStore::KeepError(absl::Status status) {
  if (!status.ok()) {
    const std::lock_guard<std::mutex> lock(write_error_mutex_);
    write_error_.Update(status);
  }
  return status;
}

absl::Status RowStore::Write(rocksdb::WriteBatch* batch, bool sync) {
  VARVE_RETURN_IF_ERROR(CheckWritable());
  rocksdb::WriteOptions options;
  options.sync = sync;
  return KeepError(
      FromRocksDb(db_->Write(options, batch), StrCat("writing to the log of ", path_)));
}

absl::Status RowStore::SyncLog() {
  VARVE_RETURN_IF_ERROR(CheckWritable());
  return KeepError(FromRocksDb(db_->SyncWAL(), StrCat("syncing the log of ", path_)));
}

absl::Status RowStore::Flush() {
  VARVE_RETURN_IF_ERROR(CheckWritable());
  return FromRocksDb(db_->Flush(rocksdb::FlushOptions(), {families_.begin(), families_.end()}),
                     StrCat("flushing ", path_));
}

}  // namespace varve
