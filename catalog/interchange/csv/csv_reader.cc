#include "catalog/interchange/csv/csv_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

absl::StatusOr<std::unique_ptr<CsvReader>> CsvReader::Open(const std::string& path,
                                                           std::string name,
                                                           const CsvOptions& options) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    return absl::InvalidArgumentError(StrCat(name, " is no regular file; expected a CSV file"));
  }
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return absl::ErrnoToStatus(errno, StrCat("cannot open ", path));
  }
  std::unique_ptr<CsvReader> reader(new CsvReader(file, std::move(name), options));
  VARVE_RETURN_IF_ERROR(reader->Fill());
  if (std::string_view(reader->buffer_.data(), reader->filled_).substr(0, 3) == kByteOrderMark) {
    reader->position_ = kByteOrderMark.size();
  }
  return reader;
}

CsvReader::CsvReader(int file, std::string name, const CsvOptions& options)
    : file_(file), name_(std::move(name)), options_(options) {
  for (const char c : {options_.delimiter, options_.quote, '\n', '\r'}) {
    ends_unquoted_[static_cast<uint8_t>(c)] = true;
  }
  buffer_.resize(std::max<size_t>(options_.buffer_bytes, 16));
}

CsvReader::~CsvReader() {
  ::close(file_);
}

absl::StatusOr<bool> CsvReader::Next() {
  for (;;) {
    const Outcome outcome = ParseRecord();
    switch (outcome) {
      case Outcome::kRecord: return true;
      case Outcome::kEnd: return false;
      case Outcome::kIncomplete: VARVE_RETURN_IF_ERROR(Fill()); break;
      default: return Malformed(outcome);
    }
  }
}

// Parses one record from position_. Nothing is changed before the whole record is there: an
// incomplete one is parsed again from its start when more bytes have come. The buffer at least
// doubles for a record that does not fit, so this costs a small factor for huge records and nothing
// for others.
CsvReader::Outcome CsvReader::ParseRecord() {
  const char* const base = buffer_.data();
  const char* const limit = base + filled_;
  const char* p = base + position_;
  if (p == limit) {
    return at_end_of_file_ ? Outcome::kEnd : Outcome::kIncomplete;
  }
  raw_fields_.clear();
  line_ = next_line_;
  for (;;) {
    if (p < limit && *p == options_.quote) {
      const char* const begin = ++p;
      bool doubled_quotes = false;
      for (;;) {
        p = static_cast<const char*>(
            std::memchr(p, options_.quote, static_cast<size_t>(limit - p)));
        if (p == nullptr) {
          return at_end_of_file_ ? Outcome::kUnclosedQuote : Outcome::kIncomplete;
        }
        if (p + 1 == limit && !at_end_of_file_) {
          return Outcome::kIncomplete;
        }
        if (p + 1 == limit || p[1] != options_.quote) {
          break;
        }
        doubled_quotes = true;
        p += 2;
      }
      raw_fields_.push_back({static_cast<size_t>(begin - base), static_cast<size_t>(p - base),
                             /*quoted=*/true, doubled_quotes});
      ++p;
    } else {
      const char* const begin = p;
      while (p < limit && !ends_unquoted_[static_cast<uint8_t>(*p)]) {
        ++p;
      }
      if (p == limit && !at_end_of_file_) {
        return Outcome::kIncomplete;
      }
      if (p < limit && *p == options_.quote) {
        return Outcome::kQuoteInside;
      }
      raw_fields_.push_back({static_cast<size_t>(begin - base), static_cast<size_t>(p - base),
                             /*quoted=*/false, /*doubled_quotes=*/false});
    }
    if (p == limit) {
      break;  // the last record, without a line end
    }
    if (*p == options_.delimiter) {
      ++p;
      continue;
    }
    if (*p == '\n') {
      ++p;
      break;
    }
    if (*p != '\r') {
      return Outcome::kTextAfterQuote;
    }
    if (p + 1 == limit) {
      if (!at_end_of_file_) {
        return Outcome::kIncomplete;
      }
      ++p;
      break;
    }
    if (p[1] != '\n') {
      return Outcome::kBareCarriageReturn;
    }
    p += 2;
    break;
  }

  position_ = static_cast<size_t>(p - base);
  ++next_line_;
  fields_.clear();
  for (const RawField& raw : raw_fields_) {
    char* const begin = buffer_.data() + raw.begin;
    char* end = buffer_.data() + raw.end;
    if (raw.quoted) {
      next_line_ += static_cast<uint64_t>(std::count(begin, end, '\n'));
    }
    if (raw.doubled_quotes) {
      char* out = begin;
      for (const char* in = begin; in < end; ++in) {
        *out++ = *in;
        if (*in == options_.quote) {
          ++in;
        }
      }
      end = out;
    }
    fields_.push_back({std::string_view(begin, static_cast<size_t>(end - begin)), raw.quoted});
  }
  return Outcome::kRecord;
}

// Reads more bytes behind those of the unfinished record, which move to the front of the buffer.
absl::Status CsvReader::Fill() {
  const size_t kept = filled_ - position_;
  std::memmove(buffer_.data(), buffer_.data() + position_, kept);
  bytes_before_buffer_ += position_;
  position_ = 0;
  filled_ = kept;
  if (filled_ == buffer_.size()) {
    if (buffer_.size() >= options_.max_record_bytes) {
      return absl::ResourceExhaustedError(
          StrCat(name_, " line ", next_line_, ": the record that begins here is larger than ",
                 options_.max_record_bytes, " bytes; is a closing quote missing?"));
    }
    buffer_.resize(std::min(buffer_.size() * 2, options_.max_record_bytes));
  }
  for (;;) {
    const ssize_t got = ::read(file_, buffer_.data() + filled_, buffer_.size() - filled_);
    if (got > 0) {
      filled_ += static_cast<size_t>(got);
      return absl::OkStatus();
    }
    if (got == 0) {
      at_end_of_file_ = true;
      return absl::OkStatus();
    }
    if (errno != EINTR) {
      return absl::ErrnoToStatus(errno, StrCat("cannot read ", name_));
    }
  }
}

absl::Status CsvReader::Malformed(Outcome outcome) const {
  std::string_view what;
  switch (outcome) {
    case Outcome::kUnclosedQuote: what = "a quote opened in this record is never closed"; break;
    case Outcome::kQuoteInside:
      what = "a quote stands inside an unquoted field; quote the field and double the quote";
      break;
    case Outcome::kTextAfterQuote:
      what = "text follows a closing quote; expected a delimiter or the end of the line";
      break;
    default: what = "a carriage return ends no line; quote the field that holds it"; break;
  }
  return absl::InvalidArgumentError(StrCat(
      name_, " line ", next_line_, ", field ",
      raw_fields_.size() + (outcome == Outcome::kUnclosedQuote || outcome == Outcome::kQuoteInside),
      ": ", what));
}

}  // namespace varve
