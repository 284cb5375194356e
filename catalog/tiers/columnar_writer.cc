#include "catalog/tiers/columnar_writer.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/tiers/columnar_format.h"
#include "catalog/tiers/columnar_set.h"
#include "catalog/tiers/memory_format.h"

namespace varve {
namespace {

constexpr size_t kBufferedRows = 8'192;

}  // namespace

ColumnarBuffer::ColumnarBuffer(const RelationSchema& relation,
                               std::span<const ColumnarColumn> derived)
    : handle_(HandleTypeOf(relation)),
      num_relation_columns_(TableColumnsOf(relation).size()),
      rows_(TableSchemaOf(relation, derived)) {}

bool ColumnarBuffer::is_full() const {
  return rows_.num_rows() >= kBufferedRows;
}

absl::Status ColumnarBuffer::Add(const VersionBlock& block, std::span<const uint32_t> rows,
                                 DerivedColumns* derived) {
  if (!block.erased.empty() && rows_.erased.empty()) {
    rows_.erased.resize(rows_.num_rows());
  }
  for (const uint32_t row : rows) {
    const std::string_view handle = HandleOfVersionKey(block.keys[row]);
    if (handle_ == HandleType::kCommon) {
      rows_.handles.AppendBytes(handle);
    } else {
      rows_.handles.Append(DecodeTableHandle(handle_, handle));
    }
    rows_.begins.push_back(block.begins[row]);
    rows_.ends.push_back(block.ends[row]);
  }
  if (!block.erased.empty() || !rows_.erased.empty()) {
    for (const uint32_t row : rows) {
      rows_.erased.push_back(block.is_erased(row) ? 1 : 0);
    }
  }
  const auto is_rewritten = [&](size_t column) {
    const std::span<const size_t> rewritten =
        derived == nullptr ? std::span<const size_t>() : derived->rewritten();
    return std::find(rewritten.begin(), rewritten.end(), column) != rewritten.end();
  };
  for (size_t i = 0; i < num_relation_columns_; ++i) {
    if (!is_rewritten(i)) {
      rows_.columns.mutable_column(i).AppendSelected(block.columns.column(i), rows);
    }
  }
  if (derived != nullptr) {
    VARVE_RETURN_IF_ERROR(derived->Append(block, rows, num_relation_columns_, &rows_.columns));
  }
  rows_.columns.SetNumRows(rows_.num_rows());
  return absl::OkStatus();
}

absl::Status AppendMerged(const RelationSchema& relation, VersionMerger* merger,
                          const std::function<absl::Status(const ColumnarRows&)>& append) {
  ColumnarBuffer buffer(relation);
  VersionMerger::Run run;
  std::vector<uint32_t> rows;
  while (true) {
    VARVE_ASSIGN_OR_RETURN(const bool more, merger->Next(&run));
    if (!more) {
      break;
    }
    rows.resize(run.to - run.from);
    std::iota(rows.begin(), rows.end(), static_cast<uint32_t>(run.from));
    VARVE_RETURN_IF_ERROR(buffer.Add(*run.block, rows));
    if (buffer.is_full()) {
      VARVE_RETURN_IF_ERROR(append(buffer.rows()));
      buffer.Clear();
    }
  }
  return buffer.rows().num_rows() > 0 ? append(buffer.rows()) : absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<NewColumnarFile>> NewColumnarFile::Create(
    const ColumnarPlace& place, ColumnarFileWriterOptions options) {
  const uint64_t number = place.next_number();
  std::unique_ptr<NewColumnarFile> file(
      new NewColumnarFile(place, number, static_cast<uint32_t>(options.level),
                          options.kind == ColumnarFileKind::kEnded));
  VARVE_ASSIGN_OR_RETURN(
      file->writer_, ColumnarFileWriter::Create(
                         place.file_system, StrCat(place.directory, "/", ColumnarFileName(number)),
                         std::move(options)));
  return file;
}

NewColumnarFile::~NewColumnarFile() {
  if (!finished_) {
    writer_.reset();
    proto::ColumnarFileEntry entry;
    entry.set_number(number_);
    RemoveFiles(place_, {entry});
  }
}

absl::StatusOr<proto::ColumnarFileEntry> NewColumnarFile::Finish() {
  VARVE_ASSIGN_OR_RETURN(const ColumnarFileProperties properties, writer_->Finish());
  finished_ = true;
  proto::ColumnarFileEntry entry;
  entry.set_number(number_);
  entry.set_bytes(writer_->file_size());
  entry.set_level(level_);
  entry.set_ended(ended_);
  for (const ColumnarTableProperties& table : properties.tables) {
    proto::ColumnarTableEntry* const of_table = entry.add_tables();
    of_table->set_relation(table.schema.relation);
    of_table->set_rows(table.row_count);
  }
  return entry;
}

void RemoveFiles(const ColumnarPlace& place, const std::vector<proto::ColumnarFileEntry>& files) {
  for (const proto::ColumnarFileEntry& file : files) {  // what stays is removed at the next opening
    place.file_system
        ->DeleteFile(StrCat(place.directory, "/", ColumnarFileName(file.number())),
                     rocksdb::IOOptions(), nullptr)
        .PermitUncheckedError();
  }
}

bool SharedL2Files::Has(RelationId relation, bool ended) const {
  const auto& tables = files_[ended ? 1 : 0].tables;
  return std::any_of(tables.begin(), tables.end(),
                     [&](const auto& table) { return table.first == relation; });
}

absl::Status SharedL2Files::Add(const ColumnarTableSchema& schema, const HandleRange& range,
                                const ColumnarRows& rows, bool ended) {
  Shared& shared = files_[ended ? 1 : 0];
  if (shared.file == nullptr) {
    ColumnarFileWriterOptions options = options_;
    options.kind = ended ? ColumnarFileKind::kEnded : ColumnarFileKind::kLive;
    VARVE_ASSIGN_OR_RETURN(shared.file, NewColumnarFile::Create(place_, std::move(options)));
  }
  VARVE_RETURN_IF_ERROR(shared.file->writer().BeginTable(schema));
  shared.tables.emplace_back(schema.relation, range);
  return shared.file->writer().Append(rows);
}

absl::StatusOr<std::vector<proto::ColumnarFileEntry>> SharedL2Files::Finish() {
  std::vector<proto::ColumnarFileEntry> entries;
  for (Shared& shared : files_) {
    if (shared.file == nullptr) {
      continue;
    }
    absl::StatusOr<proto::ColumnarFileEntry> entry = shared.file->Finish();
    if (!entry.ok()) {
      RemoveFiles(place_, entries);
      return entry.status();
    }
    shared.file.reset();
    for (size_t i = 0; i < shared.tables.size(); ++i) {
      AddRange(shared.tables[i].second, entry->mutable_tables(static_cast<int>(i)));
    }
    entries.push_back(*std::move(entry));
  }
  return entries;
}

L2Writer::~L2Writer() {
  RemoveFiles(place_, entries_);
}

uint64_t L2Writer::bytes() const {
  uint64_t bytes = 0;
  for (const Lane* lane : {&live_, &ended_}) {
    bytes += lane->file == nullptr ? 0 : lane->file->writer().file_size();
  }
  return bytes;
}

absl::Status L2Writer::Flush(Lane* lane, bool ended) {
  if (lane->buffer.rows().num_rows() == 0) {
    return absl::OkStatus();
  }
  if (lane->file == nullptr) {
    VARVE_ASSIGN_OR_RETURN(
        lane->file, NewColumnarFile::Create(
                        place_, {.level = 2,
                                 .kind = ended ? ColumnarFileKind::kEnded : ColumnarFileKind::kLive,
                                 .flushed_csn = options_.csn,
                                 .table = options_.table}));
    VARVE_RETURN_IF_ERROR(
        lane->file->writer().BeginTable(TableSchemaOf(*relation_, derived_columns())));
  }
  rows_written_ += lane->buffer.rows().num_rows();
  VARVE_RETURN_IF_ERROR(lane->file->writer().Append(lane->buffer.rows()));
  lane->buffer.Clear();
  return absl::OkStatus();
}

absl::Status L2Writer::FinishLane(Lane* lane, bool ended, const HandleRange& range) {
  const uint64_t rows = lane->buffer.rows().num_rows();
  if (lane->file == nullptr && rows > 0 && options_.shared != nullptr &&
      !options_.shared->Has(relation_->id, ended)) {
    VARVE_RETURN_IF_ERROR(options_.shared->Add(TableSchemaOf(*relation_, derived_columns()), range,
                                               lane->buffer.rows(), ended));
    lane->buffer.Clear();
    rows_written_ += rows;
    return absl::OkStatus();
  }
  VARVE_RETURN_IF_ERROR(Flush(lane, ended));
  if (lane->file == nullptr) {
    return absl::OkStatus();
  }
  VARVE_ASSIGN_OR_RETURN(proto::ColumnarFileEntry entry, lane->file->Finish());
  lane->file.reset();
  AddRange(range, entry.mutable_tables(0));
  entries_.push_back(std::move(entry));
  return absl::OkStatus();
}

absl::Status L2Writer::Cut(std::string_view handle) {
  const HandleRange segment = {.lower = range_.lower,
                               .upper = handle.empty() ? range_.upper : std::string(handle)};
  VARVE_RETURN_IF_ERROR(FinishLane(&live_, false, segment));
  VARVE_RETURN_IF_ERROR(FinishLane(&ended_, true, segment));
  range_.lower = segment.upper;
  return absl::OkStatus();
}

absl::Status L2Writer::Add(const VersionBlock& block, std::span<const uint32_t> rows) {
  // Where packs are small, files are to grow with them.
  const size_t buffered_rows = std::min(kBufferedRows, options_.table.rows_per_pack);
  live_rows_.clear();
  ended_rows_.clear();
  const auto flush_rows = [&]() -> absl::Status {
    VARVE_RETURN_IF_ERROR(live_.buffer.Add(block, live_rows_, options_.derived));
    VARVE_RETURN_IF_ERROR(ended_.buffer.Add(block, ended_rows_, options_.derived));
    live_rows_.clear();
    ended_rows_.clear();
    if (live_.buffer.rows().num_rows() >= buffered_rows) {
      VARVE_RETURN_IF_ERROR(Flush(&live_, false));
    }
    return ended_.buffer.rows().num_rows() >= buffered_rows ? Flush(&ended_, true)
                                                            : absl::OkStatus();
  };
  std::string_view previous = last_handle_;
  for (const uint32_t row : rows) {
    const std::string_view handle = HandleOfVersionKey(block.keys[row]);
    if (bytes() >= options_.segment_bytes && handle != previous) {
      VARVE_RETURN_IF_ERROR(flush_rows());
      VARVE_RETURN_IF_ERROR(Cut(handle));
    }
    previous = handle;
    (IsCurrent(block.ends[row]) ? live_rows_ : ended_rows_).push_back(row);
    if (live_rows_.size() + ended_rows_.size() >= buffered_rows) {
      VARVE_RETURN_IF_ERROR(flush_rows());
    }
  }
  VARVE_RETURN_IF_ERROR(flush_rows());
  last_handle_ = previous;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<proto::ColumnarFileEntry>> L2Writer::Finish() {
  VARVE_RETURN_IF_ERROR(Cut(""));
  return std::exchange(entries_, {});
}

}  // namespace varve
