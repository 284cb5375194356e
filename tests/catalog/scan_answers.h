// What scans answer, as text, and random things to ask: for tests that ask the same on every path.
//
// Thread-safety: free functions; RandomQuestions belongs to one thread.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/row.h"
#include "catalog/catalog.h"
#include "catalog/read_view.h"
#include "catalog/scan.h"

namespace varve {

// Every row of the answer with its interval and its handle, if they were asked for; an error is one
// line, "error: …". `stats`: what the scan did; may be null.
std::vector<std::string> AnswerOf(const ReadView& view, const RelationRef& relation,
                                  ScanOptions options, ScanPath path, ScanStats* stats = nullptr);

// Every row of every relation, by the row store.
std::vector<std::string> SeenBy(const ReadView& view);

// The snapshots that can be read.
std::vector<SnapshotId> ReadableSnapshots(const Catalog& catalog);

// The rows of a relation, of all versions.
std::vector<Row> RowsOf(const ReadView& view, const RelationRef& relation);

// What is asked, in a line.
std::string QuestionText(const RelationSchema& relation, const ScanOptions& options);

// Draws what to ask of a relation.
class RandomQuestions {
 public:
  explicit RandomQuestions(uint64_t seed) : random_(seed) {}

  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }

  // `rows`: some of the relation's, for values that are there.
  ScanOptions Draw(const RelationSchema& relation, const std::vector<Row>& rows);

 private:
  std::vector<size_t> DrawColumns(size_t count);
  Predicate DrawPredicate(const RelationSchema& relation, const std::vector<Row>& rows);

  std::mt19937_64 random_;
};

}  // namespace varve
