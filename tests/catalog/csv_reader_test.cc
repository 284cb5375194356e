#include "catalog/interchange/csv/csv_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/strings.h"
#include "catalog/interchange/csv/csv_writer.h"
#include "tests/catalog/interchange_fixtures.h"
#include "tests/seed.h"

namespace varve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Record {
  std::vector<std::string> fields;  // quoted ones in brackets
  uint64_t line = 0;
  friend bool operator==(const Record&, const Record&) = default;
};

std::ostream& operator<<(std::ostream& out, const Record& record) {
  return out << record.line << ": " << StrJoin(record.fields, "|");
}

// Every record of a text, or the one error in place of the rest.
struct Reading {
  std::vector<Record> records;
  std::string error;
};

Reading ReadAll(std::string_view text, const CsvOptions& options = {}) {
  const TemporaryDirectory directory;
  WriteFile(directory / "x.csv", text);
  Reading reading;
  absl::StatusOr<std::unique_ptr<CsvReader>> reader =
      CsvReader::Open(directory / "x.csv", "x.csv", options);
  if (!reader.ok()) {
    reading.error = reader.status().ToString();
    return reading;
  }
  for (;;) {
    const absl::StatusOr<bool> more = (*reader)->Next();
    if (!more.ok()) {
      reading.error = MessageOf(more.status());
      return reading;
    }
    if (!*more) {
      EXPECT_EQ((*reader)->bytes_consumed(), text.size());
      return reading;
    }
    Record record{.line = (*reader)->line()};
    for (const CsvField& field : (*reader)->fields()) {
      record.fields.push_back(field.quoted ? StrCat("[", field.text, "]")
                                           : std::string(field.text));
    }
    reading.records.push_back(std::move(record));
  }
}

TEST(CsvReader, SplitsRecordsAndFields) {
  const Reading reading = ReadAll("a,b\n1,2\n3,\n");
  EXPECT_EQ(reading.error, "");
  EXPECT_THAT(reading.records,
              ElementsAre(Record{{"a", "b"}, 1}, Record{{"1", "2"}, 2}, Record{{"3", ""}, 3}));
}

TEST(CsvReader, TellsQuotedFieldsFromUnquotedOnes) {
  EXPECT_THAT(ReadAll("\\N,\"\\N\",,\"\"\n").records,
              ElementsAre(Record{{"\\N", "[\\N]", "", "[]"}, 1}));
}

TEST(CsvReader, UndoublesQuotes) {
  EXPECT_THAT(ReadAll("\"a\"\"b\",\"\"\"\",\"\"\"x\"\"\"\n").records,
              ElementsAre(Record{{"[a\"b]", "[\"]", "[\"x\"]"}, 1}));
}

TEST(CsvReader, CountsLinesInsideQuotesAndNamesWhereARecordBegan) {
  EXPECT_THAT(ReadAll("\"a\nb\nc\",1\nd,2\n").records,
              ElementsAre(Record{{"[a\nb\nc]", "1"}, 1}, Record{{"d", "2"}, 4}));
}

TEST(CsvReader, TakesCrLfAndKeepsItInsideQuotes) {
  EXPECT_THAT(ReadAll("a,\"b\r\nc\"\r\n1,\"2\"\r\n").records,
              ElementsAre(Record{{"a", "[b\r\nc]"}, 1}, Record{{"1", "[2]"}, 3}));
}

TEST(CsvReader, TakesALastRecordWithoutALineEnd) {
  EXPECT_THAT(ReadAll("a,b\n1,2").records,
              ElementsAre(Record{{"a", "b"}, 1}, Record{{"1", "2"}, 2}));
  EXPECT_THAT(ReadAll("a,").records, ElementsAre(Record{{"a", ""}, 1}));
  EXPECT_THAT(ReadAll("\"a\"").records, ElementsAre(Record{{"[a]"}, 1}));
  EXPECT_THAT(ReadAll("a\r").records, ElementsAre(Record{{"a"}, 1}));
}

TEST(CsvReader, ABlankLineIsARecordOfOneEmptyField) {
  EXPECT_THAT(ReadAll("s\n\n\"\"\n").records,
              ElementsAre(Record{{"s"}, 1}, Record{{""}, 2}, Record{{"[]"}, 3}));
}

TEST(CsvReader, AnEmptyFileHasNoRecords) {
  const Reading reading = ReadAll("");
  EXPECT_EQ(reading.error, "");
  EXPECT_TRUE(reading.records.empty());
}

TEST(CsvReader, PassesOverAByteOrderMark) {
  EXPECT_THAT(ReadAll("\xEF\xBB\xBF\"a\",b\n").records, ElementsAre(Record{{"[a]", "b"}, 1}));
}

TEST(CsvReader, KeepsNulBytesAndUtf8) {
  EXPECT_THAT(ReadAll(std::string_view("a\0b,größe\n", 11)).records,
              ElementsAre(Record{{std::string("a\0b", 3), "größe"}, 1}));
}

TEST(CsvReader, TakesOtherDelimitersAndQuotes) {
  EXPECT_THAT(ReadAll("a|'b|''c'|\"\n", {.delimiter = '|', .quote = '\''}).records,
              ElementsAre(Record{{"a", "[b|'c]", "\""}, 1}));
}

TEST(CsvReader, RefusesAQuoteThatIsNeverClosedAndNamesItsRecord) {
  EXPECT_EQ(ReadAll("a,b\n1,\"2\n3,4\n").error,
            "x.csv line 2, field 2: a quote opened in this record is never closed");
}

TEST(CsvReader, RefusesAQuoteInsideAnUnquotedField) {
  EXPECT_THAT(ReadAll("a\nb\"c\n").error,
              HasSubstr("x.csv line 2, field 1: a quote stands inside"));
}

TEST(CsvReader, RefusesTextBehindAClosingQuote) {
  EXPECT_THAT(ReadAll("x,\"a\"b\n").error, HasSubstr("x.csv line 1, field 2: text follows"));
}

TEST(CsvReader, RefusesACarriageReturnThatEndsNoLine) {
  EXPECT_THAT(ReadAll("a\rb\n").error,
              HasSubstr("line 1, field 1: a carriage return ends no line"));
}

TEST(CsvReader, RefusesARecordAboveTheLimit) {
  const std::string text = StrCat("a\n\"", std::string(1000, 'x'), "\"\n");
  EXPECT_THAT(ReadAll(text, {.buffer_bytes = 16, .max_record_bytes = 512}).error,
              HasSubstr("x.csv line 2: the record that begins here is larger than 512 bytes"));
  EXPECT_EQ(ReadAll(text, {.buffer_bytes = 16, .max_record_bytes = 4096}).error, "");
}

TEST(CsvReader, NamesAFileThatIsNotThere) {
  const absl::Status status = CsvReader::Open("/nowhere/x.csv", "x.csv").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(MessageOf(status)), HasSubstr("/nowhere/x.csv"));
}

// Random fields written by AppendCsvField come back as they were, whatever the size of the buffer
// and the line ends are.
TEST(CsvReader, ReadsBackWhatTheWriterWrites) {
  std::mt19937_64 random(TestSeed());
  const std::string_view alphabet = "ab,\"\n\r\\N.;\t ";
  for (int round = 0; round < 200; ++round) {
    const std::string_view line_end = round % 2 == 0 ? "\n" : "\r\n";
    std::vector<std::vector<std::string>> expected;
    std::string text;
    const size_t columns = 1 + random() % 4;
    for (size_t records = random() % 20; records > 0; --records) {
      std::vector<std::string> fields;
      for (size_t i = 0; i < columns; ++i) {
        std::string field;
        for (size_t size = random() % 12; size > 0; --size) {
          field.push_back(alphabet[random() % alphabet.size()]);
        }
        text.append(i == 0 ? "" : ",");
        AppendCsvField(field, &text);
        fields.push_back(std::move(field));
      }
      text.append(line_end);
      expected.push_back(std::move(fields));
    }
    const Reading reading = ReadAll(text, {.buffer_bytes = 16 + random() % 32});
    ASSERT_EQ(reading.error, "") << text;
    ASSERT_EQ(reading.records.size(), expected.size()) << text;
    uint64_t line = 1;
    for (size_t i = 0; i < expected.size(); ++i) {
      const Record& record = reading.records[i];
      ASSERT_EQ(record.line, line) << text;
      ASSERT_EQ(record.fields.size(), columns);
      for (size_t c = 0; c < columns; ++c) {
        std::string field = record.fields[c];
        if (field.starts_with('[')) {
          field = field.substr(1, field.size() - 2);
        } else {
          ASSERT_NE(field, "\\N") << "text that reads as NULL must be quoted";
        }
        ASSERT_EQ(field, expected[i][c]) << text;
        line += static_cast<uint64_t>(std::count(field.begin(), field.end(), '\n'));
      }
      ++line;
    }
  }
}

}  // namespace
}  // namespace varve
