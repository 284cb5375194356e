// The relations of one catalog state: built-in ones with their extra columns, and dynamic ones.
//
// Thread-safety: immutable once built. A read view holds the directory that belongs to it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "catalog/relation.h"

namespace varve {

class RelationDirectory {
 public:
  // The built-in relations overlaid with `stored` (a stored description of a built-in replaces it).
  explicit RelationDirectory(std::vector<RelationRef> stored = {});

  // All relations: built-in by id, then dynamic by id.
  const std::vector<RelationRef>& relations() const { return relations_; }

  // nullptr when there is none.
  RelationRef FindById(RelationId id) const;
  RelationRef FindByName(std::string_view full_name) const;  // case-insensitive

  // Finds what a user means: "ducklake_data_file", "data_file", or any unambiguous beginning of
  // either. The error names the nearest names.
  absl::StatusOr<RelationRef> Resolve(std::string_view name) const;

 private:
  std::vector<RelationRef> relations_;
  absl::flat_hash_map<RelationId, size_t> by_id_;
  absl::flat_hash_map<std::string, size_t> by_lower_name_;
};

// The candidate closest to `word` by edit distance (case and exchanged neighbours count little), or
// empty when none is near. For "did you mean".
std::string_view NearestName(std::string_view word,
                             const std::vector<std::string_view>& candidates);

// "; did you mean 'table_id'?", or empty when no candidate is near.
std::string DidYouMean(std::string_view word, const std::vector<std::string_view>& candidates);

// "unknown column 'tabel_id' of ducklake_table; did you mean 'table_id'?"
std::string UnknownColumnMessage(const RelationSchema& relation, std::string_view name);

}  // namespace varve
