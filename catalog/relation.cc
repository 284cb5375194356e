#include "catalog/relation.h"

#include <algorithm>
#include <cassert>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/directory.pb.h"
#include "catalog/entities.pb.h"
#include "catalog/options.pb.h"

namespace varve {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr std::string_view kPrefix = "ducklake_";
constexpr std::string_view kInlinedData = "ducklake_inlined_data_";
constexpr std::string_view kInlinedDelete = "ducklake_inlined_delete_";

// The relation a message describes is named in snake case: DataFile is ducklake_data_file.
std::string RelationName(std::string_view message_name) {
  std::string name(kPrefix);
  for (size_t i = 0; i < message_name.size(); ++i) {
    if (absl::ascii_isupper(static_cast<unsigned char>(message_name[i])) && i > 0) {
      name.push_back('_');
    }
    name.push_back(absl::ascii_tolower(static_cast<unsigned char>(message_name[i])));
  }
  return name;
}

ColumnSchema ColumnOfField(const FieldDescriptor& field) {
  const proto::ColumnOptions& options = field.options().GetExtension(proto::column);
  ColumnSchema column;
  column.name = field.name();
  column.field = static_cast<uint32_t>(field.number());
  column.nullable = !options.not_null();
  switch (field.type()) {
    case FieldDescriptor::TYPE_INT64:
      column.type = TypeKind::kInt64;
      column.wire = WireEncoding::kVarint;
      break;
    case FieldDescriptor::TYPE_BOOL:
      column.type = TypeKind::kBoolean;
      column.wire = WireEncoding::kVarint;
      break;
    case FieldDescriptor::TYPE_SFIXED64:
      assert(options.kind() == proto::TIMESTAMPTZ);
      column.type = TypeKind::kTimestampTz;
      column.wire = WireEncoding::kFixed64;
      break;
    case FieldDescriptor::TYPE_BYTES:
      assert(options.kind() == proto::UUID);
      column.type = TypeKind::kUuid;
      column.wire = WireEncoding::kInt128;
      break;
    default:
      assert(field.type() == FieldDescriptor::TYPE_STRING);
      column.type = TypeKind::kVarchar;
      column.wire = WireEncoding::kBytes;
      break;
  }
  return column;
}

size_t RequiredColumn(const Schema& schema, std::string_view name) {
  const std::optional<size_t> index = schema.Find(name);
  assert(index.has_value());
  return *index;
}

HandleKind KindOfHandle(const Schema& schema, const std::vector<size_t>& handle) {
  if (handle.empty()) {
    return HandleKind::kRowNumber;
  }
  return handle.size() == 1 && schema.column(handle[0]).type.physical() == PhysicalType::kInt64
             ? HandleKind::kInt
             : HandleKind::kCommon;
}

RelationSchema RelationOfMessage(const Descriptor& message) {
  const proto::RelationOptions& options = message.options().GetExtension(proto::relation);
  RelationSchema relation;
  relation.id = options.id();
  relation.name = RelationName(message.name());
  std::vector<ColumnSchema> columns;
  columns.reserve(static_cast<size_t>(message.field_count()));
  for (int i = 0; i < message.field_count(); ++i) {
    columns.push_back(ColumnOfField(*message.field(i)));
  }
  relation.columns = Schema(std::move(columns));
  switch (options.versioning()) {
    case proto::INTERVAL:
      relation.versioning = Versioning::kInterval;
      relation.begin_column = RequiredColumn(relation.columns, "begin_snapshot");
      relation.end_column = RequiredColumn(relation.columns, "end_snapshot");
      break;
    case proto::BEGIN_ONLY:
      relation.versioning = Versioning::kBeginOnly;
      relation.begin_column = RequiredColumn(relation.columns, options.begin());
      break;
    case proto::VIA_PARENT: relation.versioning = Versioning::kViaParent; break;
    default: relation.versioning = Versioning::kUnversioned; break;
  }
  for (const std::string& name : options.handle()) {
    relation.handle.push_back(RequiredColumn(relation.columns, name));
  }
  relation.handle_kind = KindOfHandle(relation.columns, relation.handle);
  relation.declared_key = options.declared_key();
  relation.repeats = options.repeats();
  for (const std::string& name : options.parent_handle()) {
    relation.parent_handle.push_back(RequiredColumn(relation.columns, name));
  }
  if (!options.unique().empty()) {
    relation.unique_column = RequiredColumn(relation.columns, options.unique());
  }
  relation.since = options.since();
  relation.Finish();
  return relation;
}

std::vector<RelationRef> LoadBuiltinRelations() {
  const google::protobuf::FileDescriptor& file = *proto::Table::descriptor()->file();
  std::vector<std::shared_ptr<RelationSchema>> relations;
  relations.reserve(static_cast<size_t>(file.message_type_count()));
  for (int i = 0; i < file.message_type_count(); ++i) {
    relations.push_back(std::make_shared<RelationSchema>(RelationOfMessage(*file.message_type(i))));
  }
  for (int i = 0; i < file.message_type_count(); ++i) {
    const std::string& parent =
        file.message_type(i)->options().GetExtension(proto::relation).parent();
    for (const auto& candidate : relations) {
      if (!parent.empty() && candidate->short_name() == parent) {
        relations[static_cast<size_t>(i)]->parent = candidate->id;
      }
    }
  }
  std::sort(relations.begin(), relations.end(),
            [](const auto& a, const auto& b) { return a->id < b->id; });
  return {relations.begin(), relations.end()};
}

proto::ColumnDescription DescribeColumn(const ColumnSchema& column) {
  proto::ColumnDescription description;
  description.set_name(column.name);
  description.set_type_kind(static_cast<uint32_t>(column.type.kind()));
  description.set_precision(column.type.precision());
  description.set_scale(column.type.scale());
  description.set_field(column.field);
  description.set_not_null(!column.nullable);
  description.set_wire(static_cast<uint32_t>(column.wire));
  description.set_declared_type(column.declared_type);
  return description;
}

absl::StatusOr<ColumnSchema> ColumnOfDescription(const proto::ColumnDescription& description) {
  if (description.type_kind() > static_cast<uint32_t>(TypeKind::kText) ||
      description.wire() > static_cast<uint32_t>(WireEncoding::kInt128) ||
      description.precision() > 38 || description.scale() > description.precision()) {
    return absl::DataLossError(
        StrCat("relation directory: column '", description.name(), "' has no valid type"));
  }
  ColumnSchema column;
  column.name = description.name();
  const auto kind = static_cast<TypeKind>(description.type_kind());
  column.type = kind == TypeKind::kDecimal
                    ? Type::Decimal(static_cast<uint8_t>(description.precision()),
                                    static_cast<uint8_t>(description.scale()))
                    : Type(kind);
  column.field = description.field();
  column.nullable = !description.not_null();
  column.wire = static_cast<WireEncoding>(description.wire());
  column.declared_type = description.declared_type();
  return column;
}

// The first of `names` that is a column, for tables whose columns were renamed over time.
std::optional<size_t> FindAny(const Schema& schema, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const std::optional<size_t> index = schema.Find(name); index.has_value()) {
      return index;
    }
  }
  return std::nullopt;
}

absl::Status MissingColumn(std::string_view relation, std::string_view column) {
  return absl::InvalidArgumentError(
      StrCat(relation, ": column '", column, "' is missing; every such table has it"));
}

// Gives a dynamic relation its handle and versioning, by its name or by the key columns.
absl::Status ClassifyDynamic(const std::vector<std::string>& key, RelationSchema* relation) {
  const Schema& columns = relation->columns;
  const bool inlined_data = StartsWithIgnoreCase(relation->name, kInlinedData) &&
                            !StartsWithIgnoreCase(relation->name, "ducklake_inlined_data_tables");
  if (inlined_data || StartsWithIgnoreCase(relation->name, kInlinedDelete)) {
    const std::optional<size_t> row_id = FindAny(columns, {"row_id", "_ducklake_row_id"});
    const std::optional<size_t> begin =
        FindAny(columns, {"begin_snapshot", "_ducklake_begin_snapshot"});
    if (!row_id.has_value()) {
      return MissingColumn(relation->name, "row_id");
    }
    if (!begin.has_value()) {
      return MissingColumn(relation->name, "begin_snapshot");
    }
    relation->begin_column = begin;
    if (inlined_data) {
      const std::optional<size_t> end =
          FindAny(columns, {"end_snapshot", "_ducklake_end_snapshot"});
      if (!end.has_value()) {
        return MissingColumn(relation->name, "end_snapshot");
      }
      relation->versioning = Versioning::kInterval;
      relation->end_column = end;
      relation->handle = {*row_id};
    } else {
      const std::optional<size_t> file_id = FindAny(columns, {"file_id", "_ducklake_file_id"});
      if (!file_id.has_value()) {
        return MissingColumn(relation->name, "file_id");
      }
      relation->versioning = Versioning::kBeginOnly;
      relation->handle = {*file_id, *row_id};
    }
    for (const std::optional<size_t>& column :
         {relation->begin_column, relation->end_column, std::optional(relation->handle[0])}) {
      if (column.has_value() && columns.column(*column).type.physical() != PhysicalType::kInt64) {
        return absl::InvalidArgumentError(
            StrCat(relation->name, ": column '", columns.column(*column).name, "' is ",
                   columns.column(*column).SqlType(), ", expected bigint"));
      }
    }
    return absl::OkStatus();
  }
  for (const std::string& name : key) {
    const std::optional<size_t> index = columns.Find(name);
    if (!index.has_value()) {
      return MissingColumn(relation->name, name);
    }
    relation->handle.push_back(*index);
  }
  relation->declared_key = !key.empty();
  return absl::OkStatus();
}

}  // namespace

void RelationSchema::Finish() {
  in_payload.assign(columns.num_columns(), true);
  for (const size_t column : handle) {
    in_payload[column] = false;
  }
  if (begin_column.has_value()) {
    in_payload[*begin_column] = false;
  }
  if (end_column.has_value()) {
    in_payload[*end_column] = false;
  }
}

bool RelationSchema::IsHandleColumn(size_t column) const {
  return std::find(handle.begin(), handle.end(), column) != handle.end();
}

std::string_view RelationSchema::short_name() const {
  std::string_view view = name;
  if (view.starts_with(kPrefix)) {
    view.remove_prefix(kPrefix.size());
  }
  return view;
}

const std::vector<RelationRef>& BuiltinRelations() {
  static const auto& relations = *new std::vector<RelationRef>(LoadBuiltinRelations());
  return relations;
}

RelationRef BuiltinRelationById(RelationId id) {
  const std::vector<RelationRef>& relations = BuiltinRelations();
  assert(id >= 1 && id <= relations.size());
  return relations[id - 1];
}

absl::StatusOr<RelationSchema> MakeDynamicRelation(std::string name,
                                                   std::vector<ColumnSchema> columns,
                                                   const std::vector<std::string>& key) {
  RelationSchema relation;
  relation.name = std::move(name);
  relation.dynamic = true;
  for (size_t i = 0; i < columns.size(); ++i) {
    columns[i].field = static_cast<uint32_t>(i + 1);
    columns[i].wire = DefaultWire(columns[i].type);
  }
  relation.columns = Schema(std::move(columns));
  VARVE_RETURN_IF_ERROR(ClassifyDynamic(key, &relation));
  relation.handle_kind = KindOfHandle(relation.columns, relation.handle);
  relation.Finish();
  return relation;
}

RelationSchema WithExtraColumns(const RelationSchema& relation, std::vector<ColumnSchema> extra) {
  RelationSchema extended = relation;
  std::vector<ColumnSchema> columns = relation.columns.columns();
  uint32_t field = kFirstExtraField;
  for (const ColumnSchema& column : columns) {
    field = std::max(field, column.field + 1);
  }
  for (ColumnSchema& column : extra) {
    column.field = field++;
    column.wire = DefaultWire(column.type);
    columns.push_back(std::move(column));
  }
  extended.columns = Schema(std::move(columns));
  extended.Finish();
  return extended;
}

std::string SerializeRelation(const RelationSchema& relation) {
  proto::RelationDescription description;
  description.set_id(relation.id);
  description.set_name(relation.name);
  description.set_absent(relation.absent);
  for (size_t i = 0; i < relation.columns.num_columns(); ++i) {
    const ColumnSchema& column = relation.columns.column(i);
    if (relation.dynamic || column.field >= kFirstExtraField) {
      *description.add_columns() = DescribeColumn(column);
    }
    if (relation.IsAbsentColumn(i)) {
      description.add_absent_columns(column.name);
    }
  }
  if (relation.dynamic) {
    for (const size_t column : relation.handle) {
      description.add_key(relation.columns.column(column).name);
    }
  }
  return description.SerializeAsString();
}

absl::StatusOr<RelationSchema> ParseRelation(std::string_view bytes) {
  proto::RelationDescription description;
  if (!description.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError("relation directory: an entry is no relation description");
  }
  std::vector<ColumnSchema> columns;
  for (const proto::ColumnDescription& column : description.columns()) {
    VARVE_ASSIGN_OR_RETURN(ColumnSchema parsed, ColumnOfDescription(column));
    columns.push_back(std::move(parsed));
  }
  if (description.id() >= kFirstDynamicRelation) {
    VARVE_ASSIGN_OR_RETURN(
        RelationSchema relation,
        MakeDynamicRelation(description.name(), std::move(columns),
                            {description.key().begin(), description.key().end()}));
    relation.id = description.id();
    return relation;
  }
  if (description.id() < 1 || description.id() > BuiltinRelations().size()) {
    return absl::DataLossError(
        StrCat("relation directory: no relation has number ", description.id()));
  }
  RelationSchema relation =
      WithExtraColumns(*BuiltinRelationById(description.id()), std::move(columns));
  relation.absent = description.absent();
  if (description.absent_columns_size() > 0) {
    relation.absent_columns.assign(relation.columns.num_columns(), false);
    for (const std::string& name : description.absent_columns()) {
      const std::optional<size_t> index = relation.columns.Find(name);
      if (!index.has_value()) {
        return absl::DataLossError(
            StrCat("relation directory: ", relation.name, " has no column '", name, "'"));
      }
      relation.absent_columns[*index] = true;
    }
  }
  return relation;
}

}  // namespace varve
