#include "catalog/relation_directory.h"

#include <algorithm>
#include <span>

#include "base/strings.h"

namespace varve {
namespace {

// Names an error lists before it says "and N more".
constexpr size_t kListedNames = 6;

std::string ListNames(const std::vector<std::string_view>& names) {
  const size_t listed = std::min(names.size(), kListedNames);
  std::string text = StrJoin(std::span(names).first(listed), ", ");
  if (names.size() > listed) {
    StrAppend(&text, " and ", names.size() - listed, " more");
  }
  return text;
}

// Edits (insert, remove, replace, exchange neighbours) that turn `a` into `b`: the restricted
// Damerau-Levenshtein distance, by three rolling rows.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

}  // namespace

RelationDirectory::RelationDirectory(std::vector<RelationRef> stored)
    : relations_(BuiltinRelations()) {
  std::sort(stored.begin(), stored.end(),
            [](const RelationRef& a, const RelationRef& b) { return a->id < b->id; });
  const size_t builtins = relations_.size();
  for (RelationRef& relation : stored) {
    const auto builtin =
        std::find_if(relations_.begin(), relations_.begin() + static_cast<ptrdiff_t>(builtins),
                     [&](const RelationRef& b) { return b->id == relation->id; });
    if (builtin != relations_.begin() + static_cast<ptrdiff_t>(builtins)) {
      *builtin = std::move(relation);
    } else {
      relations_.push_back(std::move(relation));
    }
  }
  for (size_t i = 0; i < relations_.size(); ++i) {
    by_id_.emplace(relations_[i]->id, i);
    by_lower_name_.emplace(AsciiStrToLower(relations_[i]->name), i);
  }
}

RelationRef RelationDirectory::FindById(RelationId id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : relations_[it->second];
}

RelationRef RelationDirectory::FindByName(std::string_view full_name) const {
  const auto it = by_lower_name_.find(AsciiStrToLower(full_name));
  return it == by_lower_name_.end() ? nullptr : relations_[it->second];
}

absl::StatusOr<RelationRef> RelationDirectory::Resolve(std::string_view name) const {
  if (RelationRef exact = FindByName(name); exact != nullptr) {
    return exact;
  }
  std::vector<RelationRef> matches;
  for (const RelationRef& relation : relations_) {
    if (EqualsIgnoreCase(relation->short_name(), name)) {
      return relation;
    }
    if (!name.empty() && (StartsWithIgnoreCase(relation->name, name) ||
                          StartsWithIgnoreCase(relation->short_name(), name))) {
      matches.push_back(relation);
    }
  }
  if (matches.size() == 1) {
    return matches.front();
  }
  std::vector<std::string_view> names;
  for (const RelationRef& relation : matches.empty() ? relations_ : matches) {
    names.push_back(relation->short_name());
    if (matches.empty()) {
      names.push_back(relation->name);
    }
  }
  if (!matches.empty()) {
    return absl::InvalidArgumentError(
        StrCat("relation '", name, "' could be ", ListNames(names), "; write more of the name"));
  }
  return absl::NotFoundError(StrCat("unknown relation '", name, "'", DidYouMean(name, names)));
}

std::string_view NearestName(std::string_view word,
                             const std::vector<std::string_view>& candidates) {
  const std::string lower = AsciiStrToLower(word);
  std::string_view nearest;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const size_t distance = EditDistance(lower, AsciiStrToLower(candidate));
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string DidYouMean(std::string_view word, const std::vector<std::string_view>& candidates) {
  const std::string_view nearest = NearestName(word, candidates);
  return nearest.empty() ? std::string() : StrCat("; did you mean '", nearest, "'?");
}

std::string UnknownColumnMessage(const RelationSchema& relation, std::string_view name) {
  std::vector<std::string_view> names;
  for (const ColumnSchema& column : relation.columns.columns()) {
    names.push_back(column.name);
  }
  const std::string hint = DidYouMean(name, names);
  return StrCat("unknown column '", name, "' of ", relation.name,
                hint.empty() ? StrCat("; its columns are ", StrJoin(names, ", ")) : hint);
}

}  // namespace varve
