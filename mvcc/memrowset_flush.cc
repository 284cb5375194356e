#include "mvcc/memrowset_flush.h"

#include <cassert>
#include <utility>

#include "base/strings.h"
#include "mvcc/memrowset.h"

namespace varve {

absl::StatusOr<RowChangeListProjector> RowChangeListProjector::Create(const Schema& from,
                                                                      const Schema& to) {
  RowChangeListProjector projector;
  const RowLayout layout(from);
  for (const ColumnSchema& column : to.columns()) {
    const size_t source = layout.IndexOf(column.field);
    if (source != RowLayout::kNoColumn) {
      if (layout.column(source).type != column.type.physical()) {
        return absl::InvalidArgumentError(StrCat("column ", column.name, " (id ", column.field,
                                                 ") was ", from.column(source).SqlType(),
                                                 " and cannot become ", column.SqlType()));
      }
      projector.kept_ids_.insert(column.field);
    }
    projector.sources_.push_back(source);
  }
  // Of the same columns, that is. With new ones a list would have to be searched for ids that only
  // `to` knows: what they were set to was never checked.
  projector.is_identity_ =
      projector.kept_ids_.size() == from.num_columns() && to.num_columns() == from.num_columns();
  return projector;
}

bool RowChangeListProjector::Project(RowChangeList list, std::string* out) const {
  RowChangeListEncoder encoder(out);
  encoder.SetTo(list.type());
  RowChangeListDecoder decoder(list);
  ColumnChange change;
  while (decoder.Next(&change)) {
    if (kept_ids_.contains(change.id)) {
      encoder.AddEncoded(change.id, change.is_null, change.value);
    }
  }
  return encoder.has_columns() || list.type() != ChangeType::kUpdate;
}

MemRowSetFlushIterator::MemRowSetFlushIterator(std::shared_ptr<const MemRowSet> rows,
                                               Timestamp flush_at, RowChangeListProjector projector)
    : row_set_(std::move(rows)),
      flush_at_(flush_at),
      projector_(std::move(projector)),
      tree_(row_set_->tree_.NewIterator()) {
  tree_.SeekToStart();
}

MemRowSetFlushIterator::~MemRowSetFlushIterator() = default;

const FlushedRow* MemRowSetFlushIterator::Next() {
  while (tree_.IsValid()) {
    const MrsRow& row = *tree_.value();
    tree_.Next();
    if (IsPartOfFlush(row)) {
      Take(row);
      return &row_;
    }
  }
  return nullptr;
}

bool MemRowSetFlushIterator::IsPartOfFlush(const MrsRow& row) const {
  if (row.inserted_at() > flush_at_) {
    return false;
  }
  // Nobody saw the row when its last change is a DELETE by the operation that inserted it.
  const Mutation* last = nullptr;
  for (const Mutation* redo = row.redo_head(); redo != nullptr && redo->timestamp() <= flush_at_;
       redo = redo->next()) {
    if (redo->timestamp() != row.inserted_at()) {
      return true;
    }
    last = redo;
  }
  return last == nullptr || !last->list().is_delete();
}

void MemRowSetFlushIterator::Take(const MrsRow& row) {
  const RowLayout& layout = row_set_->layout();
  base_.clear();
  for (const size_t source : projector_.sources()) {
    base_.push_back(source == RowLayout::kNoColumn ? Datum::Null() : row.Cell(layout, source));
  }
  redos_.clear();
  if (projector_.is_identity()) {
    for (const Mutation* redo = row.redo_head(); redo != nullptr && redo->timestamp() <= flush_at_;
         redo = redo->next()) {
      redos_.push_back({.at = redo->timestamp(), .list = redo->list()});
    }
  } else {
    TakeProjectedRedos(row);
  }
  row_ = {.key = row.key(layout), .inserted_at = row.inserted_at(), .base = base_, .redos = redos_};
}

void MemRowSetFlushIterator::TakeProjectedRedos(const MrsRow& row) {
  projected_.clear();
  projected_redos_.clear();
  for (const Mutation* redo = row.redo_head(); redo != nullptr && redo->timestamp() <= flush_at_;
       redo = redo->next()) {
    if (projector_.Project(redo->list(), &projected_list_)) {
      projected_.append(projected_list_);
      projected_redos_.push_back({.at = redo->timestamp(), .size = projected_list_.size()});
    }
  }
  std::string_view rest = projected_;
  for (const ProjectedRedo& redo : projected_redos_) {
    redos_.push_back({.at = redo.at, .list = RowChangeList(rest.substr(0, redo.size))});
    rest.remove_prefix(redo.size);
  }
}

RowState RollForward(const RowLayout& layout, const FlushedRow& row, Timestamp at,
                     std::span<Datum> cells) {
  assert(row.inserted_at <= at);
  RowState state{.written_at = row.inserted_at};
  for (const Redo& redo : row.redos) {
    if (redo.at > at) {
      break;
    }
    ApplyChange(layout, redo.at, redo.list, &state, cells);
  }
  return state;
}

}  // namespace varve
