// Writes CSV (RFC 4180) as PostgreSQL's COPY … (FORMAT csv, NULL '\N') does.
//
// Thread-safety: none.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace varve {

// How NULL is written: unquoted. Text that reads \N is quoted.
inline constexpr std::string_view kCsvNull = "\\N";

// Appends a text, quoted where reading it back needs that.
void AppendCsvField(std::string_view text, std::string* out);

// Buffered writing to a new file. Destroying it without Close leaves an unfinished file.
class FileWriter {
 public:
  // Errors: AlreadyExists and others as the operating system says.
  static absl::StatusOr<std::unique_ptr<FileWriter>> Create(std::string path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  // Append to this; it is written out by FlushIfLarge and Close.
  std::string& buffer() { return buffer_; }
  absl::Status FlushIfLarge();
  // Writes the rest and makes it durable.
  absl::Status Close();

 private:
  FileWriter(int file, std::string path) : file_(file), path_(std::move(path)) {}
  absl::Status Flush();

  int file_;
  std::string path_;
  std::string buffer_;
};

}  // namespace varve
