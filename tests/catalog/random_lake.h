// Random operations on a small lake: few schemas, tables and names, so that writers get in each
// other's way.
//
// What is drawn is right for the transaction as it stands; only a commit can fail. Mistakes are
// drawn apart, each with the errors it may give.
//
// Thread-safety: one thread; each writer has its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tests/catalog/lake_operation.h"

namespace varve {

class RandomLake {
 public:
  // `writer` tells paths of several writers apart.
  RandomLake(uint64_t seed, int writer) : random_(seed), writer_(writer) {}

  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }

  // A transaction has begun.
  void Begin();
  // The next operation; nullopt when there is nothing in the lake for the one the die fell on.
  std::optional<LakeOperation> Draw(const Transaction& transaction);
  // The transaction has taken it.
  void Performed(const LakeOperation& operation);

  struct Mistake {
    LakeOperation operation;
    std::vector<absl::StatusCode> codes;
  };
  std::optional<Mistake> DrawMistake(const Transaction& transaction);

 private:
  using Kind = LakeOperation::Kind;
  using Operation = std::optional<LakeOperation>;
  using Rows = std::vector<LakeRow>;

  // --- What the transaction sees ---
  Rows Read(RelationId relation) const;
  Rows ReadOf(RelationId relation, int64_t table) const;
  // Every version in the base, ended ones too.
  Rows History(RelationId relation, int64_t table) const;
  std::optional<LakeRow> Pick(const Rows& rows);
  std::optional<int64_t> PickTable();
  // Its live columns, in column order; those without a parent.
  static Rows TopLevel(const Rows& columns);
  // Row ids of the inlined rows of a table.
  std::vector<int64_t> InlinedRows(int64_t table) const;
  static bool HasVariant(const Rows& columns);
  bool IsInOwnFiles(int64_t table, const Rows& columns) const;
  bool MayBeSortedBy(int64_t table, std::string_view column) const;

  // --- Parts ---
  std::string NewName(char kind, const Rows& taken, const std::string& column);
  std::string FreeName(int64_t schema, bool is_macro);
  std::string NewPath(std::string_view kind);
  std::string ValueOf(std::string_view type);
  ColumnDefinition RandomColumn(const std::string& name, int depth);
  // `whole_statistics`: of a column all is said or nothing.
  DataFile RandomFile(int64_t table, int64_t records, bool whole_statistics);
  void AddStatistics(const Rows& columns, bool whole, DataFile* file);
  std::vector<NullableText> RandomRow(const Rows& columns);

  // --- Operations ---
  Operation DrawOnSchemas();
  Operation DrawOnTables();
  Operation DrawOnViews();
  Operation DrawOnColumns();
  Operation DrawLayout();
  Operation DrawTag();
  Operation DrawOption();
  Operation DrawOnFiles();
  Operation DrawDeleteFiles(int64_t table, const Rows& files);
  Operation DrawCompaction(int64_t table, const Rows& files);
  Operation DrawConsolidation(int64_t table, const LakeRow& file);
  Operation DrawInlined();
  Operation DrawFlush(int64_t table);
  bool ColumnsAreOlderThan(int64_t table, int64_t snapshot) const;

  std::optional<Mistake> MistakeOnObjects();
  std::optional<Mistake> MistakeOnColumns();
  std::optional<Mistake> MistakeOnFiles();

  std::mt19937_64 random_;
  const int writer_;
  uint64_t files_ = 0;
  const Transaction* transaction_ = nullptr;
  // Of this transaction: inlined rows it inserted, and tables whose inlined rows it changed.
  std::map<int64_t, std::set<int64_t>> own_rows_;
  std::set<int64_t> inlined_touched_;
  // Tables of which it changed past snapshots: those it cannot drop.
  std::set<int64_t> past_touched_;
};

}  // namespace varve
