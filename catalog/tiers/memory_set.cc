#include "catalog/tiers/memory_set.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/relation_directory.h"
#include "catalog/store/change_record.h"

namespace varve {
namespace {

absl::Status Unknown(const RelationSchema& relation, const ChangeRecord& record) {
  return absl::DataLossError(StrCat("the change log speaks of ", relation.name, " ",
                                    HandleToText(relation, record.handle), " from snapshot ",
                                    record.begin, ", which it does not describe"));
}

}  // namespace

RelationMemory::RelationMemory(RelationRef relation)
    : format(std::move(relation)), rows(MemRowSet::Create(format.schema())) {}

const RelationMemory* MemorySet::Find(RelationId relation) const {
  const auto it = relations.find(relation);
  return it == relations.end() ? nullptr : it->second.get();
}

bool MemorySet::Holds(RelationId relation, std::string_view handle, SnapshotId begin) const {
  const RelationMemory* const memory = Find(relation);
  if (memory == nullptr) {
    return false;
  }
  std::string key;
  AppendVersionKey(handle, begin, &key);
  return memory->rows->CheckRowPresent(RowKeyProbe(key)) != RowPresence::kAbsent;
}

uint64_t MemorySet::bytes() const {
  uint64_t bytes = 0;
  for (const auto& [relation, memory] : relations) {
    bytes += memory->rows->memory_footprint();
  }
  return bytes;
}

MemoryWriter::MemoryWriter(Csn from) : applied_(from) {
  auto set = std::make_shared<MemorySet>();
  set->from = from;
  set_ = std::move(set);
}

const RelationMemory* MemoryWriter::Open(RelationId relation, const RelationDirectory& directory) {
  if (const RelationMemory* const memory = set_->Find(relation); memory != nullptr) {
    return memory;
  }
  RelationRef schema = directory.FindById(relation);
  if (schema == nullptr) {
    return nullptr;
  }
  auto memory = std::make_shared<const RelationMemory>(std::move(schema));
  auto next = std::make_shared<MemorySet>(*set_);
  const RelationMemory* const opened = memory.get();
  next->relations[relation] = std::move(memory);
  set_ = std::move(next);
  return opened;
}

void MemoryWriter::Drop(RelationId relation) {
  // In frozen sets, too: they belong to states that may still read them.
  const auto without = [&](const std::shared_ptr<const MemorySet>& set, const auto& self) {
    if (set == nullptr) {
      return set;
    }
    auto next = std::make_shared<MemorySet>(*set);
    next->relations.erase(relation);
    next->older = self(set->older, self);
    return std::shared_ptr<const MemorySet>(std::move(next));
  };
  set_ = without(set_, without);
}

void MemoryWriter::Freeze() {
  for (const auto& [relation, memory] : set_->relations) {
    memory->rows->Freeze();
  }
  auto next = std::make_shared<MemorySet>();
  next->from = applied_;
  next->older = set_;
  set_ = std::move(next);
}

void MemoryWriter::DropFlushed(Csn csn) {
  if (set_->older == nullptr || set_->from > csn) {
    return;
  }
  auto next = std::make_shared<MemorySet>(*set_);
  next->older = nullptr;
  set_ = std::move(next);
}

absl::Status MemoryWriter::Update(Csn csn, const ChangeRecord& record,
                                  const RelationMemory& memory) {
  const RowKeyProbe probe(key_);
  const RelationSchema& relation = *memory.format.relation();
  RowChangeListEncoder encoder(&change_);
  encoder.SetToUpdate();
  // A version of an interval is changed once or twice. A row that is overwritten in place may be so
  // with every commit: to find what differs would take a walk along all of its changes.
  std::optional<RowImage> newest;
  if (relation.versioning == Versioning::kInterval) {
    newest = memory.rows->ImageAt(probe);
    if (!newest.has_value() || newest->deleted) {
      return Unknown(relation, record);
    }
  }
  for (size_t cell = 0; cell < cells_.size(); ++cell) {
    if (!newest.has_value() || newest->cells[cell] != cells_[cell]) {
      encoder.AddColumn(memory.format.schema()->column(cell).field, cells_[cell]);
    }
  }
  if (!encoder.has_columns()) {
    return absl::OkStatus();
  }
  const absl::Status status = memory.rows->Mutate(csn, probe, encoder.list());
  return absl::IsNotFound(status) ? Unknown(relation, record) : status;
}

absl::Status MemoryWriter::ApplyRecord(Csn csn, const ChangeRecord& record,
                                       const RelationMemory& memory) {
  key_.clear();
  AppendVersionKey(record.handle, record.begin, &key_);
  const RowKeyProbe probe(key_);
  cells_.resize(memory.format.num_cells());
  if (record.before.has_value() && memory.rows->CheckRowPresent(probe) == RowPresence::kAbsent) {
    VARVE_RETURN_IF_ERROR(memory.format.Decode(record.handle, record.begin, record.before->end,
                                               record.before->payload, &scratch_, cells_));
    VARVE_RETURN_IF_ERROR(memory.rows->InsertPreImage(record.before->csn, probe, cells_));
  }
  if (record.kind == ChangeKind::kErase) {
    const absl::Status status = memory.rows->Mutate(csn, probe, RowChangeList::Delete());
    return absl::IsNotFound(status) ? Unknown(*memory.format.relation(), record) : status;
  }
  VARVE_RETURN_IF_ERROR(memory.format.Decode(record.handle, record.begin, record.end,
                                             record.payload, &scratch_, cells_));
  return record.kind == ChangeKind::kInsert ? memory.rows->Insert(csn, probe, cells_)
                                            : Update(csn, record, memory);
}

absl::Status MemoryWriter::ApplyEntry(Csn csn, RelationId relation, std::string_view records,
                                      const RelationDirectory& directory) {
  applied_ = std::max(applied_, csn);
  if (relation == kCommitEntry) {
    return absl::OkStatus();
  }
  VARVE_ASSIGN_OR_RETURN(const std::vector<ChangeRecord> parsed, ParseChanges(records));
  for (const ChangeRecord& record : parsed) {
    if (record.kind == ChangeKind::kDropRelation) {
      Drop(relation);
      continue;
    }
    const RelationMemory* const memory = Open(relation, directory);
    if (memory == nullptr) {
      return absl::OkStatus();  // dropped since
    }
    VARVE_RETURN_IF_ERROR(ApplyRecord(csn, record, *memory));
  }
  return absl::OkStatus();
}

absl::Status MemoryWriter::Apply(const std::vector<CommittedChanges>& entries,
                                 const RelationDirectory& directory) {
  for (const CommittedChanges& entry : entries) {
    VARVE_RETURN_IF_ERROR(ApplyEntry(entry.csn, entry.relation, entry.records, directory));
  }
  return absl::OkStatus();
}

}  // namespace varve
