#include "catalog/store/checked_file_system.h"

#include <string>
#include <utility>

#include "base/strings.h"
#include "catalog/store/table_check.h"

namespace varve {
namespace {

class CheckedFileSystem : public rocksdb::FileSystemWrapper {
 public:
  using rocksdb::FileSystemWrapper::FileSystemWrapper;

  const char* Name() const override { return "VarveCheckedFileSystem"; }

  rocksdb::IOStatus NewRandomAccessFile(const std::string& name,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                        rocksdb::IODebugContext* context) override {
    if (name.ends_with(".sst")) {
      const absl::Status intact = CheckTable(name);
      if (absl::IsDataLoss(intact)) {
        return rocksdb::IOStatus::Corruption(std::string(MessageOf(intact)));
      }
    }
    return rocksdb::FileSystemWrapper::NewRandomAccessFile(name, options, file, context);
  }
};

}  // namespace

rocksdb::Env* CheckedEnvironment() {
  static rocksdb::Env* const env = MakeCheckedEnvironment(rocksdb::FileSystem::Default()).release();
  return env;
}

std::unique_ptr<rocksdb::Env> MakeCheckedEnvironment(std::shared_ptr<rocksdb::FileSystem> base) {
  return rocksdb::NewCompositeEnv(std::make_shared<CheckedFileSystem>(std::move(base)));
}

}  // namespace varve
