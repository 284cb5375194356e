#include "tests/catalog/memory_text.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <numeric>

#include "base/strings.h"
#include "catalog/handle.h"
#include "tests/catalog/row_text.h"

namespace varve {
namespace {

using Visitor = std::function<void(const std::string& name, const RelationMemory& memory)>;

// The MemRowSets of the sets, newest set first, by relation number.
void ForEach(const MemorySet& newest, const Visitor& visit) {
  int number = 0;
  for (const MemorySet* set = &newest; set != nullptr; set = set->older.get(), ++number) {
    const std::map<RelationId, std::shared_ptr<const RelationMemory>> ordered(
        set->relations.begin(), set->relations.end());
    for (const auto& [id, memory] : ordered) {
      visit(StrCat(number, " ", memory->format.relation()->name), *memory);
    }
  }
}

std::string KeyText(const RelationMemory& memory, std::string_view key) {
  return StrCat(HandleToText(*memory.format.relation(), HandleOfVersionKey(key)), " from ",
                BeginOfVersionKey(key));
}

std::string CellTexts(const Schema& schema, const std::function<Datum(size_t)>& cell) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < schema.num_columns(); ++i) {
    texts.push_back(ValueText(schema.column(i).type, cell(i)));
  }
  return StrJoin(texts, " | ");
}

}  // namespace

std::vector<std::string> MemoryTexts(const MemorySet& set, Csn at) {
  std::vector<std::string> lines;
  ForEach(set, [&](const std::string& name, const RelationMemory& memory) {
    const auto it = memory.rows->NewFlushIterator({.flush_at = at});
    ASSERT_TRUE(it.ok()) << it.status();
    for (const FlushedRow* row = (*it)->Next(); row != nullptr; row = (*it)->Next()) {
      lines.push_back(
          StrCat(name, " ", KeyText(memory, row->key), " @ ", row->inserted_at, ": ",
                 CellTexts(*memory.format.schema(), [&](size_t i) { return row->base[i]; })));
      for (const Redo& redo : row->redos) {
        StrAppend(&lines.back(), "; ", redo.at, " ", redo.list.ToString());
      }
    }
  });
  return lines;
}

std::vector<std::string> MemoryRowTexts(const MemorySet& set, Csn at) {
  std::vector<std::string> lines;
  ForEach(set, [&](const std::string& name, const RelationMemory& memory) {
    const size_t cells = memory.format.num_cells();
    MemRowSetScan scan{.projection = std::vector<size_t>(cells),
                       .snap_to_include = at,
                       .include_deleted_rows = true,
                       .want_keys = true,
                       .want_timestamps = true};
    std::iota(scan.projection.begin(), scan.projection.end(), size_t{0});
    scan.projection.push_back(kIsDeletedColumn);
    const auto it = memory.rows->NewIterator(std::move(scan));
    for (RowBlock block; it->Next(&block);) {
      for (size_t row = 0; row < block.num_rows; ++row) {
        if (block.selected[row] == 0) {
          continue;
        }
        const bool deleted = block.columns.column(cells).bools()[row] != 0;
        lines.push_back(StrCat(name, " ", KeyText(memory, block.keys[row]), " @ ",
                               block.inserted_at[row], ", ", block.written_at[row], ": ",
                               CellTexts(*memory.format.schema(),
                                         [&](size_t i) { return block.columns.column(i).at(row); }),
                               deleted ? " deleted" : ""));
      }
    }
  });
  return lines;
}

}  // namespace varve
