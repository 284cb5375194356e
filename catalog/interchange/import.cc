#include "catalog/interchange/import.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/failpoint.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/interchange/import_plan.h"
#include "catalog/interchange/value_conversion.h"

namespace varve {
namespace {

constexpr uint64_t kRowsPerProgress = 4096;

// Adds the rows of one table to the loader.
class TableImport {
 public:
  TableImport(CatalogSource& source, const TablePlan& plan, RelationRef relation,
              BulkLoader& loader)
      : source_(source),
        plan_(plan),
        relation_(std::move(relation)),
        loader_(loader),
        origin_(loader.AddOrigin(plan.table->origin)),
        values_(relation_->columns.num_columns()),
        scratch_(relation_->columns.num_columns()) {}

  absl::Status AddRow(std::span<const SourceValue> row, uint64_t line) {
    for (size_t i = 0; i < values_.size(); ++i) {
      if (plan_.source_columns[i].has_value()) {
        const absl::Status status =
            ConvertValue(row[*plan_.source_columns[i]], relation_->columns.column(i).type,
                         source_.blob_text(), &scratch_[i], &values_[i]);
        if (!status.ok()) {
          return absl::InvalidArgumentError(
              StrCat(plan_.table->origin, " ", source_.line_noun(), " ", line, ", column ",
                     relation_->columns.column(i).name, ": ", MessageOf(status)));
        }
      }
    }
    return loader_.AddRow(*relation_, values_, origin_, line);
  }

 private:
  CatalogSource& source_;
  const TablePlan& plan_;
  RelationRef relation_;
  BulkLoader& loader_;
  uint32_t origin_;
  std::vector<Datum> values_;  // absent columns stay NULL
  std::vector<std::string> scratch_;
};

}  // namespace

absl::StatusOr<ImportSummary> ImportCatalog(std::string_view from, const std::string& path,
                                            const ImportOptions& options) {
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<CatalogSource> source, OpenSource(from));
  return ImportFrom(*source, path, options);
}

absl::StatusOr<ImportSummary> ImportFrom(CatalogSource& source, const std::string& path,
                                         const ImportOptions& options) {
  VARVE_ASSIGN_OR_RETURN(ImportPlan plan, PlanImport(source));

  ImportProgress progress{.total_bytes = source.total_bytes()};
  const auto report = [&] {
    if (options.on_progress) {
      options.on_progress(progress);
    }
  };
  BulkLoadOptions load_options{.keep_anomalies = options.keep_anomalies,
                               .memory_bytes = options.memory_bytes};
  load_options.on_progress = [&](uint64_t rows) {
    progress.phase = ImportProgress::Phase::kSorting;
    progress.rows = rows;
    report();
  };
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<BulkLoader> loader,
                         BulkLoader::Create(path, load_options));
  VARVE_FAILPOINT("import/before_rows");

  ImportSummary summary;
  summary.version = plan.version.text;
  std::vector<RelationRef> relations;
  for (const TablePlan& table : plan.tables) {
    if (table.is_as_built_in) {
      relations.push_back(BuiltinRelationById(table.relation.id));
      continue;
    }
    VARVE_ASSIGN_OR_RETURN(RelationRef relation, loader->AddRelation(table.relation));
    summary.dynamic_relations += relation->dynamic ? 1 : 0;
    relations.push_back(std::move(relation));
  }
  for (RelationSchema& relation : plan.absent) {
    VARVE_RETURN_IF_ERROR(loader->AddRelation(std::move(relation)).status());
  }
  for (size_t i = 0; i < plan.tables.size(); ++i) {
    const TablePlan& table = plan.tables[i];
    TableImport import(source, table, relations[i], *loader);
    progress.relation = table.table->name;
    VARVE_RETURN_IF_ERROR(
        source.Read(*table.table, [&](std::span<const SourceValue> row, uint64_t line) {
          if (++progress.rows % kRowsPerProgress == 0) {
            progress.bytes = source.bytes_read();
            report();
          }
          return import.AddRow(row, line);
        }));
  }
  summary.relations = plan.tables.size();
  progress.relation = {};
  progress.bytes = source.bytes_read();
  progress.total_rows = progress.rows;
  report();
  VARVE_FAILPOINT("import/before_finish");
  VARVE_ASSIGN_OR_RETURN(summary.load, loader->Finish());
  return summary;
}

}  // namespace varve
