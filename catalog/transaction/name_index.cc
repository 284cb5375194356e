#include "catalog/transaction/name_index.h"

#include <utility>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

struct NameColumns {
  std::string_view id;
  std::string_view name;
};

NameColumns ColumnsOf(RelationId relation) {
  switch (relation) {
    case kSchema: return {"schema_id", "schema_name"};
    case kTable: return {"table_id", "table_name"};
    case kView: return {"view_id", "view_name"};
    default: return {"macro_id", "macro_name"};
  }
}

NameSpace SpaceOf(RelationId relation) {
  switch (relation) {
    case kSchema: return NameSpace::kSchema;
    case kMacro: return NameSpace::kMacro;
    default: return NameSpace::kTableOrView;
  }
}

std::string PrefixOf(NameSpace space, int64_t schema_id) {
  std::string key(1, static_cast<char>(space));
  PutBigEndian(&key, static_cast<uint64_t>(schema_id));
  return key;
}

std::string KeyOf(NameSpace space, int64_t schema_id, std::string_view name) {
  return PrefixOf(space, schema_id) + AsciiStrToLower(name);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const NameIndex>> NameIndex::Load(const ReadView& current) {
  auto index = std::make_shared<NameIndex>();
  for (const RelationId relation : {kSchema, kTable, kView, kMacro}) {
    VARVE_RETURN_IF_ERROR(index->Add(current, relation));
  }
  return index;
}

absl::Status NameIndex::Add(const ReadView& view, RelationId relation) {
  const RelationRef schema = view.relations().FindById(relation);
  const NameColumns names = ColumnsOf(relation);
  ScanOptions options;
  options.columns = {*schema->columns.Find(names.id), *schema->columns.Find(names.name)};
  if (relation != kSchema) {
    options.columns->push_back(*schema->columns.Find("schema_id"));
  }
  const NameSpace space = SpaceOf(relation);
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan,
                         view.Scan(schema, std::move(options)));
  ScanBatch batch;
  while (true) {
    VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
    if (!more) {
      return absl::OkStatus();
    }
    for (size_t i = 0; i < batch.num_rows(); ++i) {
      const Datum id = batch.columns.column(0).at(i);
      const Datum name = batch.columns.column(1).at(i);
      const Datum schema_id = relation == kSchema ? Datum::Int64(0) : batch.columns.column(2).at(i);
      if (id.is_null() || name.is_null() || schema_id.is_null()) {
        continue;
      }
      entries_.try_emplace(KeyOf(space, schema_id.int64_value(), name.bytes()),
                           Entry{.object = {.relation = relation, .id = id.int64_value()},
                                 .name = std::string(name.bytes())});
    }
  }
}

std::optional<NameIndex::Object> NameIndex::Find(NameSpace space, int64_t schema_id,
                                                 std::string_view name) const {
  const auto it = entries_.find(KeyOf(space, schema_id, name));
  return it == entries_.end() ? std::nullopt : std::optional<Object>(it->second.object);
}

template <typename Visit>
void NameIndex::ForEach(NameSpace space, int64_t schema_id, const Visit& visit) const {
  const std::string prefix = PrefixOf(space, schema_id);
  for (auto it = entries_.lower_bound(prefix);
       it != entries_.end() && it->first.starts_with(prefix); ++it) {
    visit(it->second);
  }
}

std::string NameIndex::Nearest(NameSpace space, int64_t schema_id, std::string_view name) const {
  std::vector<std::string_view> names;
  ForEach(space, schema_id, [&](const Entry& entry) { names.push_back(entry.name); });
  return std::string(NearestName(name, names));
}

std::vector<NameIndex::Object> NameIndex::ObjectsIn(int64_t schema_id) const {
  std::vector<Object> objects;
  for (const NameSpace space : {NameSpace::kTableOrView, NameSpace::kMacro}) {
    ForEach(space, schema_id, [&](const Entry& entry) { objects.push_back(entry.object); });
  }
  return objects;
}

}  // namespace varve
