// Reads the records of a CSV file (RFC 4180), one after the other, in bounded memory.
//
// A field is quoted or not, and the reader says which, because that is how NULL is told from text
// (an unquoted \N, or an unquoted nothing). Records end with LF or CRLF; the last may lack its end;
// quoted fields may hold delimiters, line ends and doubled quotes. A blank line is a record of one
// empty field. A byte order mark at the start of the file is skipped.
//
// Memory: one buffer, of CsvOptions::buffer_bytes unless a record is larger. No allocation per
// field.
//
// Thread-safety: none. Ownership: the reader owns the file and the buffer that fields point into.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace varve {

struct CsvOptions {
  char delimiter = ',';
  char quote = '"';
  // Bytes read at once. A record that does not fit makes the buffer grow, up to max_record_bytes.
  size_t buffer_bytes = size_t{1} << 20;
  size_t max_record_bytes = size_t{256} << 20;
};

struct CsvField {
  std::string_view text;  // without quotes, doubled quotes made single
  bool quoted = false;
};

class CsvReader {
 public:
  // `name` is what messages call the file: "ducklake_table.csv".
  // Errors: NotFound, PermissionDenied, Unavailable as the operating system says.
  static absl::StatusOr<std::unique_ptr<CsvReader>> Open(const std::string& path, std::string name,
                                                         const CsvOptions& options = {});
  ~CsvReader();
  CsvReader(const CsvReader&) = delete;
  CsvReader& operator=(const CsvReader&) = delete;

  // Reads the next record into fields(); false at the end of the file. Errors, which name file and
  // line: a quote that is never closed, a quote inside an unquoted field, text after a closing
  // quote, a carriage return that ends no line (all InvalidArgument), a record above the limit
  // (ResourceExhausted).
  absl::StatusOr<bool> Next();

  // The fields of the record, valid until the next call of Next.
  std::span<const CsvField> fields() const { return fields_; }
  // The line the record began on, from 1.
  uint64_t line() const { return line_; }
  // Bytes of the file consumed so far.
  uint64_t bytes_consumed() const { return bytes_before_buffer_ + position_; }

 private:
  enum class Outcome : uint8_t {
    kRecord,
    kIncomplete,  // the record goes on behind the buffered bytes
    kEnd,
    kUnclosedQuote,
    kQuoteInside,
    kTextAfterQuote,
    kBareCarriageReturn,
  };

  CsvReader(int file, std::string name, const CsvOptions& options);
  Outcome ParseRecord();
  absl::Status Fill();
  absl::Status Malformed(Outcome outcome) const;

  // Positions in buffer_, not pointers: the buffer moves when it grows.
  struct RawField {
    size_t begin;
    size_t end;
    bool quoted;
    bool doubled_quotes;
  };

  int file_;
  std::string name_;
  CsvOptions options_;
  std::array<bool, 256> ends_unquoted_{};  // the bytes an unquoted run stops at
  std::vector<char> buffer_;
  size_t position_ = 0;  // start of the next record
  size_t filled_ = 0;    // end of the bytes read
  bool at_end_of_file_ = false;
  uint64_t bytes_before_buffer_ = 0;
  uint64_t line_ = 0;
  uint64_t next_line_ = 1;
  std::vector<RawField> raw_fields_;
  std::vector<CsvField> fields_;
};

}  // namespace varve
