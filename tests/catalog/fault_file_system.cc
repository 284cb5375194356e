#include "tests/catalog/fault_file_system.h"

#include <algorithm>
#include <filesystem>
#include <ranges>
#include <utility>

#include "base/strings.h"

namespace varve {
namespace {

namespace fs = std::filesystem;

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

bool IsInfoLog(const std::string& path) {
  return fs::path(path).filename().string().starts_with("LOG");
}

IOStatus NotOffered(const char* what) {
  return IOStatus::NotSupported(what);
}

}  // namespace

class FaultFileSystem::File : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  File(FaultFileSystem* system, std::string name, std::unique_ptr<rocksdb::FSWritableFile> file)
      : FSWritableFileOwnerWrapper(std::move(file)), system_(system), name_(std::move(name)) {}

  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  IODebugContext* context) override {
    const std::lock_guard<std::mutex> lock(system_->mutex_);
    IOStatus status = system_->Count("append to", name_, /*is_data=*/true);
    const bool is_torn = system_->fault_.kind == Fault::Kind::kTornAppend;
    const rocksdb::Slice part(data.data(), status.ok() ? data.size()
                                           : is_torn   ? data.size() / 2
                                                       : 0);
    if (!part.empty()) {
      if (IOStatus written = target()->Append(part, options, context); !written.ok()) {
        return written;
      }
      if (!system_->power_is_cut_) {
        system_->accounts_[name_].written += part.size();
        system_->last_written_ = name_;
      }
    }
    return status;
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& /*verification*/,
                  IODebugContext* context) override {
    return Append(data, options, context);
  }
  IOStatus PositionedAppend(const rocksdb::Slice& /*data*/, uint64_t /*offset*/,
                            const IOOptions& /*options*/, IODebugContext* /*context*/) override {
    return NotOffered("positioned append");
  }
  IOStatus PositionedAppend(const rocksdb::Slice& /*data*/, uint64_t /*offset*/,
                            const IOOptions& /*options*/,
                            const rocksdb::DataVerificationInfo& /*verification*/,
                            IODebugContext* /*context*/) override {
    return NotOffered("positioned append");
  }
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* context) override {
    const std::lock_guard<std::mutex> lock(system_->mutex_);
    IOStatus status = system_->Count("truncate", name_);
    if (status.ok()) {
      status = target()->Truncate(size, options, context);
      system_->accounts_[name_].written = size;
    }
    return status;
  }
  IOStatus Sync(const IOOptions& /*options*/, IODebugContext* /*context*/) override {
    const std::lock_guard<std::mutex> lock(system_->mutex_);
    IOStatus status = system_->Count("sync", name_, /*is_data=*/true);
    if (status.ok() && !system_->power_is_cut_) {
      Account& account = system_->accounts_[name_];
      account.synced = account.written;
    }
    return status;
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* context) override {
    return Sync(options, context);
  }
  // A hint that writing may begin: nothing is durable by it.
  IOStatus RangeSync(uint64_t /*offset*/, uint64_t /*size*/, const IOOptions& /*options*/,
                     IODebugContext* /*context*/) override {
    return IOStatus::OK();
  }

 private:
  FaultFileSystem* system_;
  std::string name_;
};

class FaultFileSystem::Directory : public rocksdb::FSDirectoryWrapper {
 public:
  Directory(FaultFileSystem* system, std::string name,
            std::unique_ptr<rocksdb::FSDirectory> directory)
      : FSDirectoryWrapper(std::move(directory)), system_(system), name_(std::move(name)) {}

  IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*context*/) override {
    const std::lock_guard<std::mutex> lock(system_->mutex_);
    IOStatus status = system_->Count("sync", name_);
    if (status.ok() && !system_->power_is_cut_) {
      system_->SyncNames(name_);
    }
    return status;
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* context,
                               const rocksdb::DirFsyncOptions& /*reason*/) override {
    return Fsync(options, context);
  }

 private:
  FaultFileSystem* system_;
  std::string name_;
};

FaultFileSystem::FaultFileSystem(std::string attic)
    : FileSystemWrapper(rocksdb::FileSystem::Default()), attic_(std::move(attic)) {
  fs::create_directories(attic_);
}

// --- Faults --------------------------------------------------------------------------------------

void FaultFileSystem::Arm(const Fault& fault) {
  const std::lock_guard<std::mutex> lock(mutex_);
  fault_ = fault;
  power_is_cut_ = false;
  calls_ = 0;
  failures_ = 0;
  log_failures_ = 0;
  failed_calls_.clear();
}

uint64_t FaultFileSystem::calls() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return calls_;
}

uint64_t FaultFileSystem::failures() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return failures_;
}

uint64_t FaultFileSystem::log_failures() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return log_failures_;
}

std::string FaultFileSystem::failed_calls() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return failed_calls_;
}

void FaultFileSystem::CutPower() {
  const std::lock_guard<std::mutex> lock(mutex_);
  power_is_cut_ = true;
}

bool FaultFileSystem::power_is_cut() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return power_is_cut_;
}

IOStatus FaultFileSystem::Count(std::string_view what, const std::string& name, bool is_data) {
  ++calls_;
  const bool is_hit =
      fault_.at != 0 && (fault_.lasting ? calls_ >= fault_.at : calls_ == fault_.at);
  if (is_hit && fault_.kind == Fault::Kind::kPowerCut) {
    power_is_cut_ = true;
  }
  if (!is_hit || power_is_cut_) {
    return IOStatus::OK();
  }
  ++failures_;
  log_failures_ += is_data && name.ends_with(".log") ? 1 : 0;
  StrAppend(&failed_calls_, failed_calls_.empty() ? "" : ", ", what, " ",
            fs::path(name).filename().string());
  const std::string message = StrCat("the test fails writing call ", calls_);
  if (fault_.kind == Fault::Kind::kNoSpace) {
    IOStatus status = IOStatus::NoSpace(message);
    status.SetRetryable(true);  // as RocksDB's own file system marks it
    return status;
  }
  return IOStatus::IOError(message);
}

// --- What is durable -----------------------------------------------------------------------------

void FaultFileSystem::Displace(const std::string& name, const std::string& from) {
  NameChange change{.name = name, .from = from};
  if (fs::exists(name)) {
    change.displaced = StrCat(attic_, "/", displaced_files_++);
    fs::rename(name, change.displaced);
    if (const auto account = accounts_.extract(name); !account.empty()) {
      change.displaced_account = account.mapped();
    } else {
      change.displaced_account.written = fs::file_size(change.displaced);
      change.displaced_account.synced = change.displaced_account.written;
    }
  }
  unsynced_names_.push_back(std::move(change));
}

void FaultFileSystem::SyncNames(const std::string& directory) {
  const auto is_in_it = [&](const NameChange& change) {
    return fs::path(change.name).parent_path() == fs::path(directory);
  };
  for (const NameChange& change : unsynced_names_) {
    if (is_in_it(change) && !change.displaced.empty()) {
      fs::remove(change.displaced);
    }
  }
  unsynced_names_.erase(std::remove_if(unsynced_names_.begin(), unsynced_names_.end(), is_in_it),
                        unsynced_names_.end());
}

void FaultFileSystem::Undo(const NameChange& change) {
  if (fs::exists(change.name)) {
    const auto account = accounts_.extract(change.name);
    if (change.from.empty()) {
      fs::remove(change.name);
    } else {
      fs::rename(change.name, change.from);
      accounts_[change.from] = account.empty() ? Account() : account.mapped();
    }
  }
  if (!change.displaced.empty()) {
    fs::rename(change.displaced, change.name);
    accounts_[change.name] = change.displaced_account;
  }
}

void FaultFileSystem::DropUnsynced(Tail tail) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const NameChange& change : std::views::reverse(unsynced_names_)) {
    Undo(change);
  }
  unsynced_names_.clear();
  for (const auto& [name, account] : accounts_) {
    const bool is_torn = tail == Tail::kTorn && name == last_written_;
    const uint64_t kept = account.synced + (is_torn ? (account.written - account.synced) / 2 : 0);
    if (fs::exists(name) && fs::file_size(name) > kept) {
      fs::resize_file(name, kept);
    }
  }
  accounts_.clear();
}

// --- The calls -----------------------------------------------------------------------------------

IOStatus FaultFileSystem::NewWritableFile(const std::string& name,
                                          const rocksdb::FileOptions& options,
                                          std::unique_ptr<rocksdb::FSWritableFile>* file,
                                          IODebugContext* context) {
  if (IsInfoLog(name)) {
    return FileSystemWrapper::NewWritableFile(name, options, file, context);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (IOStatus status = Count("make", name); !status.ok()) {
    return status;
  }
  Displace(name, "");
  std::unique_ptr<rocksdb::FSWritableFile> target;
  IOStatus status = FileSystemWrapper::NewWritableFile(name, options, &target, context);
  if (status.ok()) {
    accounts_[name] = {};
    *file = std::make_unique<File>(this, name, std::move(target));
  }
  return status;
}

IOStatus FaultFileSystem::ReopenWritableFile(const std::string& /*name*/,
                                             const rocksdb::FileOptions& /*options*/,
                                             std::unique_ptr<rocksdb::FSWritableFile>* /*file*/,
                                             IODebugContext* /*context*/) {
  return NotOffered("writing to an old file");
}

IOStatus FaultFileSystem::ReuseWritableFile(const std::string& /*name*/,
                                            const std::string& /*old_name*/,
                                            const rocksdb::FileOptions& /*options*/,
                                            std::unique_ptr<rocksdb::FSWritableFile>* /*file*/,
                                            IODebugContext* /*context*/) {
  return NotOffered("writing to an old file");
}

IOStatus FaultFileSystem::NewRandomRWFile(const std::string& /*name*/,
                                          const rocksdb::FileOptions& /*options*/,
                                          std::unique_ptr<rocksdb::FSRandomRWFile>* /*file*/,
                                          IODebugContext* /*context*/) {
  return NotOffered("writing in the middle of a file");
}

IOStatus FaultFileSystem::NewDirectory(const std::string& name, const IOOptions& options,
                                       std::unique_ptr<rocksdb::FSDirectory>* directory,
                                       IODebugContext* context) {
  std::unique_ptr<rocksdb::FSDirectory> target;
  IOStatus status = FileSystemWrapper::NewDirectory(name, options, &target, context);
  if (status.ok()) {
    *directory = std::make_unique<Directory>(this, name, std::move(target));
  }
  return status;
}

IOStatus FaultFileSystem::DeleteFile(const std::string& name, const IOOptions& options,
                                     IODebugContext* context) {
  if (IsInfoLog(name) || !fs::exists(name)) {
    return FileSystemWrapper::DeleteFile(name, options, context);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  IOStatus status = Count("delete", name);
  if (status.ok()) {
    Displace(name, "");
  }
  return status;
}

IOStatus FaultFileSystem::Truncate(const std::string& name, size_t size, const IOOptions& options,
                                   IODebugContext* context) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (IOStatus status = Count("truncate", name); !status.ok()) {
    return status;
  }
  return FileSystemWrapper::Truncate(name, size, options, context);
}

IOStatus FaultFileSystem::CreateDir(const std::string& name, const IOOptions& options,
                                    IODebugContext* context) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (IOStatus status = Count("make directory", name); !status.ok()) {
    return status;
  }
  return FileSystemWrapper::CreateDir(name, options, context);
}

IOStatus FaultFileSystem::RenameFile(const std::string& from, const std::string& to,
                                     const IOOptions& options, IODebugContext* context) {
  if (IsInfoLog(from)) {
    return FileSystemWrapper::RenameFile(from, to, options, context);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (IOStatus status = Count("rename", from); !status.ok()) {
    return status;
  }
  Displace(to, from);
  IOStatus status = FileSystemWrapper::RenameFile(from, to, options, context);
  if (const auto account = accounts_.extract(from); status.ok() && !account.empty()) {
    accounts_[to] = account.mapped();
  }
  return status;
}

IOStatus FaultFileSystem::LinkFile(const std::string& from, const std::string& to,
                                   const IOOptions& options, IODebugContext* context) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (IOStatus status = Count("link", from); !status.ok()) {
    return status;
  }
  Displace(to, "");
  IOStatus status = FileSystemWrapper::LinkFile(from, to, options, context);
  if (const auto account = accounts_.find(from); status.ok() && account != accounts_.end()) {
    accounts_[to] = Account(account->second);
  }
  return status;
}

}  // namespace varve
