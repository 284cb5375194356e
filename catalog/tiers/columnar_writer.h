// Writes versions of a relation into columnar files.
//
//   DerivedColumns   what a table has beside the columns of its relation
//   ColumnarBuffer   rows of a run, gathered into ColumnarRows
//   L2Writer         live rows to one file, ended rows to another, both cut at the same handles
//
// Thread-safety: one thread. Ownership: owns the files under way, and removes them when it is
// destroyed before they were taken.
#pragma once

#include <rocksdb/file_system.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "catalog/columnar.pb.h"
#include "catalog/relation.h"
#include "catalog/tiers/handle_range.h"
#include "catalog/tiers/version_merger.h"
#include "catalog/tiers/version_source.h"
#include "columnar/columnar_file_writer.h"
#include "mvcc/retention.h"

namespace varve {

// Columns that are made from the rows of a relation. Thread-safety: one thread.
class DerivedColumns {
 public:
  virtual ~DerivedColumns() = default;
  virtual std::span<const ColumnarColumn> columns() const = 0;
  // Positions of columns of the relation that it writes too, otherwise than they are in the row.
  virtual std::span<const size_t> rewritten() const = 0;
  // Appends a value for each of the rows to the columns of `out` from position `first` on, and to
  // those it rewrites. The block has the columns of TableColumnsOf, or those as a table has them
  // and behind them its derived ones (ColumnarSourceOptions::with_derived).
  virtual absl::Status Append(const VersionBlock& block, std::span<const uint32_t> rows,
                              size_t first, ColumnBatch* out) = 0;
};

// Rows on their way into a table, in the columns of TableColumnsOf and derived ones.
class ColumnarBuffer {
 public:
  explicit ColumnarBuffer(const RelationSchema& relation,
                          std::span<const ColumnarColumn> derived = {});

  // Adds rows of a block, ascending. `derived`: those that the buffer was made with; null: none.
  absl::Status Add(const VersionBlock& block, std::span<const uint32_t> rows,
                   DerivedColumns* derived = nullptr);
  const ColumnarRows& rows() const { return rows_; }
  void Clear() { rows_.Clear(); }
  bool is_full() const;

 private:
  HandleType handle_;
  size_t num_relation_columns_;
  ColumnarRows rows_;
};

// Hands on all that a merge has of the relation, markers included, in portions of a buffer's size.
absl::Status AppendMerged(const RelationSchema& relation, VersionMerger* merger,
                          const std::function<absl::Status(const ColumnarRows&)>& append);

// Where columnar files are made.
struct ColumnarPlace {
  rocksdb::FileSystem* file_system = nullptr;
  std::string directory;
  // The number for the next file.
  std::function<uint64_t()> next_number;
};

// A file that is being written. Removed when it is destroyed before Finish.
class NewColumnarFile {
 public:
  static absl::StatusOr<std::unique_ptr<NewColumnarFile>> Create(const ColumnarPlace& place,
                                                                 ColumnarFileWriterOptions options);
  ~NewColumnarFile();
  NewColumnarFile(const NewColumnarFile&) = delete;
  NewColumnarFile& operator=(const NewColumnarFile&) = delete;

  ColumnarFileWriter& writer() { return *writer_; }
  // Completes the file. The entry has its tables without ranges. The file stays until RemoveFiles.
  absl::StatusOr<proto::ColumnarFileEntry> Finish();

 private:
  NewColumnarFile(const ColumnarPlace& place, uint64_t number, uint32_t level, bool ended)
      : place_(place), number_(number), level_(level), ended_(ended) {}

  const ColumnarPlace& place_;
  const uint64_t number_;
  const uint32_t level_;
  const bool ended_;
  std::unique_ptr<ColumnarFileWriter> writer_;
  bool finished_ = false;
};

// Removes files that no manifest came to have.
void RemoveFiles(const ColumnarPlace& place, const std::vector<proto::ColumnarFileEntry>& files);

// The two L2 files that small relations share: a catalog may have thousands of them, and a file of
// its own costs more than a few rows.
class SharedL2Files {
 public:
  // `place` outlives it.
  SharedL2Files(const ColumnarPlace& place, ColumnarFileWriterOptions options)
      : place_(place), options_(std::move(options)) {}

  // Whether the relation has a table in the file already; another one does not go in.
  bool Has(RelationId relation, bool ended) const;
  // Adds a table: the rows of a relation in a range of handles.
  absl::Status Add(const ColumnarTableSchema& schema, const HandleRange& range,
                   const ColumnarRows& rows, bool ended);
  // The entries of the files, with the ranges of their tables. None where nothing was added.
  absl::StatusOr<std::vector<proto::ColumnarFileEntry>> Finish();

 private:
  struct Shared {
    std::unique_ptr<NewColumnarFile> file;
    std::vector<std::pair<RelationId, HandleRange>> tables;
  };
  const ColumnarPlace& place_;
  const ColumnarFileWriterOptions options_;
  std::array<Shared, 2> files_;  // live, ended
};

struct L2WriterOptions {
  // A segment is cut when its files together have so many bytes.
  uint64_t segment_bytes = uint64_t{32} << 20;
  std::optional<uint64_t> csn;  // that the rows are of
  // Columns beside those of the relation; null: none. Outlives the writer.
  DerivedColumns* derived = nullptr;
  // Where rows go that are few; null: to files of their own. Outlives the writer.
  SharedL2Files* shared = nullptr;
  ColumnarTableBuilderOptions table;
};

// Writes the L2 segments of a range of handles.
class L2Writer {
 public:
  // `range`: the whole of what is written; the segments cover it. `place` outlives the writer.
  L2Writer(const ColumnarPlace& place, RelationRef relation, HandleRange range,
           L2WriterOptions options)
      : place_(place),
        relation_(std::move(relation)),
        range_(std::move(range)),
        options_(std::move(options)),
        live_(*relation_, derived_columns()),
        ended_(*relation_, derived_columns()) {}
  ~L2Writer();

  // Adds rows of a block: not erased, and in order.
  absl::Status Add(const VersionBlock& block, std::span<const uint32_t> rows);
  // The entries of the files, with their ranges. None for rows that are none, or that went to the
  // shared files.
  absl::StatusOr<std::vector<proto::ColumnarFileEntry>> Finish();

  uint64_t rows_written() const { return rows_written_; }

 private:
  // One of the two files of the segment under way.
  struct Lane {
    Lane(const RelationSchema& relation, std::span<const ColumnarColumn> derived)
        : buffer(relation, derived) {}
    ColumnarBuffer buffer;
    std::unique_ptr<NewColumnarFile> file;  // null while it has no rows
  };
  absl::Status Flush(Lane* lane, bool ended);
  absl::Status FinishLane(Lane* lane, bool ended, const HandleRange& range);
  // Ends the segment under way in front of a handle; empty: at the end of the range.
  absl::Status Cut(std::string_view handle);
  uint64_t bytes() const;
  std::span<const ColumnarColumn> derived_columns() const {
    return options_.derived == nullptr ? std::span<const ColumnarColumn>()
                                       : options_.derived->columns();
  }

  const ColumnarPlace& place_;
  const RelationRef relation_;
  HandleRange range_;  // what is left of it
  const L2WriterOptions options_;
  Lane live_;
  Lane ended_;
  std::string last_handle_;
  std::vector<uint32_t> live_rows_;
  std::vector<uint32_t> ended_rows_;
  std::vector<proto::ColumnarFileEntry> entries_;
  uint64_t rows_written_ = 0;
};

}  // namespace varve
