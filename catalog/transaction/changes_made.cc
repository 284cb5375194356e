#include "catalog/transaction/changes_made.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/transaction/provisional_ids.h"

namespace varve {
namespace {

bool HasName(Operation operation) {
  return IsCreation(operation) || IsRename(operation);
}

std::string ValueOf(const Action& action) {
  if (!HasName(action.operation)) {
    return std::to_string(action.id);
  }
  return action.operation == Operation::kCreateSchema
             ? QuoteName(action.name)
             : StrCat(QuoteName(action.schema_name), ".", QuoteName(action.name));
}

// The first operation with the word: a rename is listed among the creations.
Operation ListedAs(Operation operation) {
  switch (operation) {
    case Operation::kRenameTable: return Operation::kCreateTable;
    case Operation::kRenameView: return Operation::kCreateView;
    default: return operation;
  }
}

std::optional<Operation> OperationOf(std::string_view word) {
  if (EqualsIgnoreCase(word, "flushed_inlined")) {
    return Operation::kFlushInlined;
  }
  for (size_t i = 0; i < kNumOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    if (ListedAs(operation) == operation && EqualsIgnoreCase(word, TokenOf(operation))) {
      return operation;
    }
  }
  return std::nullopt;
}

// A word in a message: the letters, digits and _ it begins with.
std::string ShownWord(std::string_view word) {
  constexpr size_t kMaxShown = 40;
  size_t shown = 0;
  while (shown < std::min(word.size(), kMaxShown) &&
         (absl::ascii_isalnum(static_cast<unsigned char>(word[shown])) || word[shown] == '_')) {
    ++shown;
  }
  return StrCat("'", word.substr(0, shown), shown == word.size() ? "'" : "...'");
}

class ChangesParser {
 public:
  explicit ChangesParser(std::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<Action>> Parse() {
    std::vector<Action> actions;
    while (at_ < text_.size()) {
      VARVE_ASSIGN_OR_RETURN(Action action, ParseChange());
      actions.push_back(std::move(action));
      if (at_ < text_.size() && !Take(',')) {
        return Expected("a comma before the next change");
      }
    }
    return actions;
  }

 private:
  absl::StatusOr<Action> ParseChange() {
    const size_t start = at_;
    const size_t colon = text_.find(':', at_);
    const std::string_view word = text_.substr(at_, std::min(colon, text_.size()) - at_);
    const std::optional<Operation> operation = OperationOf(word);
    if (!operation.has_value()) {
      return absl::InvalidArgumentError(StrCat("changes_made, at byte ", start + 1, ": ",
                                               ShownWord(word),
                                               " is no kind of change DuckLake 1.0 knows"));
    }
    at_ += word.size();
    if (!Take(':')) {
      return Expected("a colon and a value");
    }
    Action action = {.operation = *operation, .all_files = TouchesFiles(*operation)};
    if (*operation == Operation::kFlushInlined) {
      // Deletes that it moves to delete files are listed beside it as a delete.
      action.files = {kInlinedRows};
      action.all_files = false;
    }
    if (!HasName(*operation)) {
      VARVE_ASSIGN_OR_RETURN(action.id, ParseId());
      return action;
    }
    VARVE_ASSIGN_OR_RETURN(action.name, ParseName());
    if (*operation != Operation::kCreateSchema) {
      action.schema_name = std::move(action.name);
      if (!Take('.')) {
        return Expected("a dot between the names of the schema and the object");
      }
      VARVE_ASSIGN_OR_RETURN(action.name, ParseName());
    }
    return action;
  }

  absl::StatusOr<int64_t> ParseId() {
    size_t end = at_;
    while (end < text_.size() && absl::ascii_isdigit(static_cast<unsigned char>(text_[end]))) {
      ++end;
    }
    const std::optional<int64_t> id = ParseNumber<int64_t>(text_.substr(at_, end - at_));
    if (!id.has_value() || IsProvisional(*id)) {
      return Expected(StrCat("an id from 0 to ", kFirstProvisionalCatalogId - 1));
    }
    at_ = end;
    return *id;
  }

  absl::StatusOr<std::string> ParseName() {
    if (!Take('"')) {
      return Expected("a name in double quotes");
    }
    const size_t start = at_;
    std::string name;
    for (;;) {
      const size_t quote = text_.find('"', at_);
      if (quote == std::string_view::npos) {
        at_ = start;
        return Expected("a name, but it has no closing quote");
      }
      name.append(text_.substr(at_, quote - at_));
      at_ = quote + 1;
      if (!Take('"')) {
        return name;
      }
      name.push_back('"');
    }
  }

  bool Take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) {
      return false;
    }
    ++at_;
    return true;
  }

  absl::Status Expected(std::string_view what) const {
    return absl::InvalidArgumentError(
        StrCat("changes_made, at byte ", at_ + 1, ": expected ", what));
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::string WriteChangesMade(std::span<const Action> actions) {
  std::vector<const Action*> listed;
  listed.reserve(actions.size());
  for (const Action& action : actions) {
    listed.push_back(&action);
  }
  const auto place = [](const Action* action) {
    return std::pair(ListedAs(action->operation), HasName(action->operation) ? 0 : action->id);
  };
  std::stable_sort(listed.begin(), listed.end(),
                   [&](const Action* a, const Action* b) { return place(a) < place(b); });
  std::string text;
  absl::flat_hash_set<std::string> written;
  for (const Action* action : listed) {
    std::string change = StrCat(TokenOf(action->operation), ":", ValueOf(*action));
    const auto [it, is_new] = written.insert(std::move(change));
    if (is_new) {
      StrAppend(&text, text.empty() ? "" : ",", *it);
    }
  }
  return text;
}

absl::StatusOr<std::vector<Action>> ParseChangesMade(std::string_view text) {
  return ChangesParser(text).Parse();
}

}  // namespace varve
