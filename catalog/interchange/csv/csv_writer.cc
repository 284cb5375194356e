#include "catalog/interchange/csv/csv_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

constexpr size_t kFlushBytes = size_t{1} << 20;

}  // namespace

void AppendCsvField(std::string_view text, std::string* out) {
  // PostgreSQL's COPY takes a lone \. for the end of its input, so that is quoted too.
  const bool quoted =
      text == kCsvNull || text == "\\." || text.find_first_of("\",\n\r") != std::string_view::npos;
  if (!quoted) {
    out->append(text);
    return;
  }
  out->push_back('"');
  for (size_t begin = 0;;) {
    const size_t quote = text.find('"', begin);
    out->append(text.substr(begin, quote - begin));
    if (quote == std::string_view::npos) {
      break;
    }
    out->append("\"\"");
    begin = quote + 1;
  }
  out->push_back('"');
}

absl::StatusOr<std::unique_ptr<FileWriter>> FileWriter::Create(std::string path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) {
    return absl::ErrnoToStatus(errno, StrCat("cannot create ", path));
  }
  return std::unique_ptr<FileWriter>(new FileWriter(file, std::move(path)));
}

FileWriter::~FileWriter() {
  if (file_ >= 0) {
    ::close(file_);
  }
}

absl::Status FileWriter::FlushIfLarge() {
  return buffer_.size() >= kFlushBytes ? Flush() : absl::OkStatus();
}

absl::Status FileWriter::Flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(file_, rest.data(), rest.size());
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      return absl::ErrnoToStatus(errno, StrCat("cannot write ", path_));
    }
    rest.remove_prefix(static_cast<size_t>(written));
  }
  buffer_.clear();
  return absl::OkStatus();
}

absl::Status FileWriter::Close() {
  VARVE_RETURN_IF_ERROR(Flush());
  if (::fsync(file_) != 0) {
    return absl::ErrnoToStatus(errno, StrCat("cannot write ", path_));
  }
  const int file = file_;
  file_ = -1;
  if (::close(file) != 0) {
    return absl::ErrnoToStatus(errno, StrCat("cannot write ", path_));
  }
  return absl::OkStatus();
}

}  // namespace varve
