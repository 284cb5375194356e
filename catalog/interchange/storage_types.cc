#include "catalog/interchange/storage_types.h"

#include "base/strings.h"

namespace varve {
namespace {

constexpr std::string_view kPostgresText = "character varying";

bool IsTimestampOrDate(TypeKind kind) {
  switch (kind) {
    case TypeKind::kDate:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampS:
    case TypeKind::kTimestampMs:
    case TypeKind::kTimestampNs: return true;
    default: return false;
  }
}

// The spelling is that of PostgreSQL's format_type, so that it reads back as it was written.
std::string PlainPostgresType(const TargetColumn& column) {
  switch (column.type.kind()) {
    case TypeKind::kBoolean: return "boolean";
    case TypeKind::kInt8:
    case TypeKind::kInt16: return "smallint";
    case TypeKind::kInt32:
    case TypeKind::kUInt8:
    case TypeKind::kUInt16: return "integer";
    case TypeKind::kInt64:
    case TypeKind::kUInt32: return "bigint";
    case TypeKind::kFloat32: return "real";
    case TypeKind::kFloat64: return "double precision";
    case TypeKind::kDecimal:
      return StrCat("numeric(", static_cast<int>(column.type.precision()), ",",
                    static_cast<int>(column.type.scale()), ")");
    case TypeKind::kDate: return "date";
    case TypeKind::kTime: return "time without time zone";
    case TypeKind::kTimestamp: return "timestamp without time zone";
    case TypeKind::kTimestampTz: return "timestamp with time zone";
    case TypeKind::kInterval: return "interval";
    case TypeKind::kJson: return "json";
    case TypeKind::kBlob: return "bytea";
    case TypeKind::kUuid: return "uuid";
    case TypeKind::kText: {
      const bool is_time = EqualsIgnoreCase(column.declared_type, "time with time zone") ||
                           EqualsIgnoreCase(column.declared_type, "timetz");
      return is_time ? "time with time zone" : std::string(kPostgresText);
    }
    default: return std::string(kPostgresText);
  }
}

}  // namespace

StorageType SqliteStorage(const TargetColumn& column) {
  switch (column.type.kind()) {
    case TypeKind::kBoolean:
    case TypeKind::kInt8:
    case TypeKind::kInt16:
    case TypeKind::kInt32:
    case TypeKind::kInt64:
    case TypeKind::kUInt8:
    case TypeKind::kUInt16:
    case TypeKind::kUInt32: return {"BIGINT", StorageForm::kInteger};
    case TypeKind::kBlob:
      return column.holds_text ? StorageType{"VARCHAR", StorageForm::kText}
                               : StorageType{"BLOB", StorageForm::kBytes};
    default: return {"VARCHAR", StorageForm::kText};
  }
}

StorageType PostgresStorage(const TargetColumn& column, bool plain_inlined_types) {
  if (column.is_inlined && !plain_inlined_types) {
    if (column.type.kind() == TypeKind::kJson ||
        (column.type.kind() == TypeKind::kVarchar && column.holds_text)) {
      return {"bytea", StorageForm::kBytes};
    }
    if (IsTimestampOrDate(column.type.kind())) {
      return {std::string(kPostgresText), StorageForm::kText};
    }
  }
  return {PlainPostgresType(column),
          column.type.kind() == TypeKind::kBlob ? StorageForm::kBytes : StorageForm::kText};
}

bool MustRememberType(const TargetColumn& column, std::string_view sql_type) {
  if (column.is_builtin) {
    return false;
  }
  // A declared type is kept as it is spelled, a plain one is not.
  return column.declared_type.empty() ? !EqualsIgnoreCase(TypeName(column.type), sql_type)
                                      : column.declared_type != sql_type;
}

}  // namespace varve
