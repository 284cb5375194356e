#include "catalog/transaction/footprint.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/transaction/changes_made.h"

namespace varve {
namespace {

// --- The conflict matrix ---

// Operations that conflict alike. An object is a table, a view or a macro.
enum class Kind : uint8_t {
  kCreateSchema,
  kDropSchema,
  kCreate,
  kDrop,
  kRename,
  kAlter,
  kInsert,
  kDelete,
  kInlinedDelete,
  kFlush,
  kCompact,
};
constexpr size_t kNumKinds = static_cast<size_t>(Kind::kCompact) + 1;

Kind KindOf(Operation operation) {
  switch (operation) {
    case Operation::kCreateSchema: return Kind::kCreateSchema;
    case Operation::kDropSchema: return Kind::kDropSchema;
    case Operation::kCreateTable:
    case Operation::kCreateView:
    case Operation::kCreateScalarMacro:
    case Operation::kCreateTableMacro: return Kind::kCreate;
    case Operation::kDropTable:
    case Operation::kDropView:
    case Operation::kDropScalarMacro:
    case Operation::kDropTableMacro: return Kind::kDrop;
    case Operation::kRenameTable:
    case Operation::kRenameView: return Kind::kRename;
    case Operation::kAlterTable:
    case Operation::kAlterView: return Kind::kAlter;
    case Operation::kInsert:
    case Operation::kInlinedInsert: return Kind::kInsert;
    case Operation::kDelete: return Kind::kDelete;
    case Operation::kInlinedDelete: return Kind::kInlinedDelete;
    case Operation::kFlushInlined: return Kind::kFlush;
    case Operation::kMergeAdjacent:
    case Operation::kRewriteDelete:
    case Operation::kCompactTable: return Kind::kCompact;
  }
  return Kind::kCompact;
}

// On what the two may not meet; bits.
using Scope = uint8_t;
constexpr Scope kNone = 0;  // both commit
constexpr Scope kSelf = 1;  // the same object; a table with all that is in it
constexpr Scope kFile = 2;  // the same data file, or the inlined rows, of the same table
constexpr Scope kName = 4;  // the same name in the same schema
constexpr Scope kInto = 8;  // one drops the schema that the other puts something into
constexpr Scope kEach = kSelf | kName;

// Rows are mine, to be committed after; columns are theirs. The rules are DuckLake's (its page on
// conflict resolution; duckdb/ducklake, src/storage/ducklake_transaction_state.cpp). Where those
// have a hole, or refuse more than is needed:
//
//  - Rename. DuckLake lists it as a creation, and compares it as one. Here it also alters the
//    object: a change that was made under the old name does not follow it, and it does not bring
//    back an object that was dropped. A drop, which follows other alterations, does not follow a
//    rename: there is nothing of the name that it was asked to drop.
//  - Deletes. Those in delete files and inlined ones meet in the data file. DuckLake does not
//    compare the two kinds, and rows deleted twice come back (duckdb/ducklake#1215); it compares
//    inlined ones by table, where different files do no harm (#1287).
//  - An inlined delete from a file that was merged or rewritten away would be lost, and DuckLake
//    lets it. Here they meet in the file.
//  - Merges and rewrites meet in the file, not in the table (#1452).
//  - A flush may also write the inlined deletes of a data file to a delete file; then it meets
//    other deletes of the file, and its merges.
//
// As in DuckLake a delete does not follow an insert, nor an insert a delete, anywhere in the table:
// the condition of the delete was not put to the new rows. An alteration follows inserts and
// deletes.
//
// clang-format off
constexpr Scope kMatrix[kNumKinds][kNumKinds] = {
//                   create drop                                              inlined
//                   schema schema create drop   rename alter  insert delete delete flush  compact
/* create schema  */ {kName, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone},
/* drop schema    */ {kNone, kSelf, kInto, kNone, kInto, kNone, kNone, kNone, kNone, kNone, kNone},
/* create         */ {kNone, kInto, kName, kNone, kName, kNone, kNone, kNone, kNone, kNone, kNone},
/* drop           */ {kNone, kNone, kNone, kSelf, kSelf, kNone, kNone, kNone, kNone, kNone, kNone},
/* rename         */ {kNone, kInto, kName, kSelf, kEach, kSelf, kNone, kNone, kNone, kNone, kNone},
/* alter          */ {kNone, kNone, kNone, kSelf, kSelf, kSelf, kNone, kNone, kNone, kNone, kNone},
/* insert         */ {kNone, kNone, kNone, kSelf, kSelf, kSelf, kNone, kSelf, kSelf, kNone, kNone},
/* delete         */ {kNone, kNone, kNone, kSelf, kSelf, kSelf, kSelf, kFile, kFile, kFile, kFile},
/* inlined delete */ {kNone, kNone, kNone, kSelf, kSelf, kSelf, kSelf, kFile, kFile, kFile, kFile},
/* flush          */ {kNone, kNone, kNone, kSelf, kNone, kNone, kNone, kFile, kFile, kFile, kFile},
/* compact        */ {kNone, kNone, kNone, kSelf, kNone, kNone, kNone, kFile, kFile, kFile, kFile},
};
// clang-format on

Scope ScopeOf(const Action& mine, const Action& theirs) {
  return kMatrix[static_cast<size_t>(KindOf(mine.operation))]
                [static_cast<size_t>(KindOf(theirs.operation))];
}

// --- Whether two actions meet ---

bool GivesName(Operation operation) {
  return IsCreation(operation) || IsRename(operation);
}

bool PutsIntoSchema(Operation operation) {
  return GivesName(operation) && operation != Operation::kCreateSchema;
}

bool SameObject(const Action& mine, const Action& theirs) {
  return mine.id == theirs.id && !IsProvisional(mine.id);
}

// Tables and views share a namespace. So do the two kinds of macros here: whether they may have one
// name or not, the second commit is the one to find out.
enum class NamingScope : uint8_t { kSchemas, kTablesAndViews, kMacros };
NamingScope NamingScopeOf(Operation operation) {
  switch (operation) {
    case Operation::kCreateSchema: return NamingScope::kSchemas;
    case Operation::kCreateScalarMacro:
    case Operation::kCreateTableMacro: return NamingScope::kMacros;
    default: return NamingScope::kTablesAndViews;
  }
}

// Schemas by id, or by name where an id is not known; when neither can be compared they may be the
// same.
bool SameSchema(int64_t my_id, std::string_view my_name, int64_t their_id,
                std::string_view their_name) {
  if (my_id >= 0 && their_id >= 0) {
    return my_id == their_id && !IsProvisional(my_id);
  }
  return my_name.empty() || their_name.empty() || EqualsIgnoreCase(my_name, their_name);
}

bool SameName(const Action& mine, const Action& theirs) {
  const NamingScope space = NamingScopeOf(mine.operation);
  return space == NamingScopeOf(theirs.operation) && EqualsIgnoreCase(mine.name, theirs.name) &&
         (space == NamingScope::kSchemas ||
          SameSchema(mine.schema_id, mine.schema_name, theirs.schema_id, theirs.schema_name));
}

// Whether `drop` drops the schema that `action` puts an object in.
bool DropsSchemaOf(const Action& drop, const Action& action) {
  return SameSchema(drop.id, drop.name, action.schema_id, action.schema_name);
}

bool TouchesInlinedRows(const Action& action) {
  return (!action.files.empty() && action.files.front() == kInlinedRows) ||
         (action.all_files && action.operation == Operation::kInlinedDelete);
}

bool TouchesFilesOfOthers(const Action& action) {
  return action.all_files ||
         std::any_of(action.files.begin(), action.files.end(),
                     [](int64_t file) { return file != kInlinedRows && !IsProvisional(file); });
}

// The first data file both name.
std::optional<int64_t> CommonFile(const Action& mine, const Action& theirs) {
  auto a = mine.files.begin();
  auto b = theirs.files.begin();
  while (a != mine.files.end() && b != theirs.files.end()) {
    if (*a == *b && *a != kInlinedRows && !IsProvisional(*a)) {
      return *a;
    }
    *a <= *b ? ++a : ++b;
  }
  return std::nullopt;
}

// What of the table both touch, as words; empty when they do not meet.
std::string CommonFiles(const Action& mine, const Action& theirs) {
  if (const std::optional<int64_t> file = CommonFile(mine, theirs); file.has_value()) {
    return StrCat("data file ", *file);
  }
  if (TouchesInlinedRows(mine) && TouchesInlinedRows(theirs)) {
    return "inlined rows";
  }
  const bool may_meet = (mine.all_files && TouchesFilesOfOthers(theirs)) ||
                        (theirs.all_files && TouchesFilesOfOthers(mine));
  return may_meet ? "which data files is not known" : "";
}

bool HaveCommonPath(const Action& mine, const Action& theirs) {
  auto a = mine.paths.begin();
  auto b = theirs.paths.begin();
  while (a != mine.paths.end() && b != theirs.paths.end()) {
    if (*a == *b) {
      return true;
    }
    *a < *b ? ++a : ++b;
  }
  return false;
}

// --- What a conflict says ---

// `insert into table "s"."t" conflicts with the drop of it`
std::string TextOnObject(const Action& mine, const Action& theirs) {
  const std::string object = ObjectText(KnowsName(theirs) && !KnowsName(mine) ? theirs : mine);
  return StrCat(ActionText(mine, object), " conflicts with ", ActionOnItText(theirs));
}

// `creation of table "s"."t" conflicts with the creation of view "s"."T"`
std::string TextOnTwoObjects(const Action& mine, const Action& theirs) {
  return StrCat(ActionText(mine, ObjectText(mine)), " conflicts with the ",
                ActionText(theirs, ObjectText(theirs)));
}

// The text of the conflict of two actions, if they have one.
std::optional<std::string> ConflictText(const Action& mine, const Action& theirs) {
  if (SameObject(mine, theirs) && HaveCommonPath(mine, theirs)) {
    return StrCat(TextOnObject(mine, theirs), " (both register a file of one path)");
  }
  const Scope scope = ScopeOf(mine, theirs);
  if ((scope & kSelf) != 0 && SameObject(mine, theirs)) {
    return TextOnObject(mine, theirs);
  }
  if ((scope & kFile) != 0 && SameObject(mine, theirs)) {
    const std::string common = CommonFiles(mine, theirs);
    if (!common.empty()) {
      return StrCat(TextOnObject(mine, theirs), " (", common, ")");
    }
  }
  if ((scope & kName) != 0 && SameName(mine, theirs)) {
    return TextOnTwoObjects(mine, theirs);
  }
  if ((scope & kInto) != 0 &&
      (mine.operation == Operation::kDropSchema ? DropsSchemaOf(mine, theirs)
                                                : DropsSchemaOf(theirs, mine))) {
    return TextOnTwoObjects(mine, theirs);
  }
  return std::nullopt;
}

// --- Adding ---

// The same operation on the same object.
bool IsSame(const Action& a, const Action& b) {
  return a.operation == b.operation && a.id == b.id &&
         (!GivesName(a.operation) ||
          (a.schema_id == b.schema_id && EqualsIgnoreCase(a.schema_name, b.schema_name) &&
           EqualsIgnoreCase(a.name, b.name)));
}

template <typename Number>
void AddSorted(const std::vector<Number>& files, std::vector<Number>* to) {
  const auto middle = static_cast<std::ptrdiff_t>(to->size());
  to->insert(to->end(), files.begin(), files.end());
  if (middle > 0 && !files.empty() && (*to)[static_cast<size_t>(middle) - 1] >= files.front()) {
    std::inplace_merge(to->begin(), to->begin() + middle, to->end());
    to->erase(std::unique(to->begin(), to->end()), to->end());
  }
}

// Brings what is said about files into one form.
void NormalizeFiles(Action* action) {
  std::sort(action->paths.begin(), action->paths.end());
  action->paths.erase(std::unique(action->paths.begin(), action->paths.end()), action->paths.end());
  if (!TouchesFiles(action->operation)) {
    action->files.clear();
    action->all_files = false;
    return;
  }
  if (action->operation == Operation::kFlushInlined) {
    action->files.push_back(kInlinedRows);
  }
  action->all_files |= action->files.empty();
  std::sort(action->files.begin(), action->files.end());
  action->files.erase(std::unique(action->files.begin(), action->files.end()), action->files.end());
}

}  // namespace

absl::StatusOr<Footprint> Footprint::FromChangesMade(std::string_view text) {
  VARVE_ASSIGN_OR_RETURN(std::vector<Action> actions, ParseChangesMade(text));
  Footprint footprint;
  for (Action& action : actions) {
    footprint.Add(std::move(action));
  }
  return footprint;
}

void Footprint::Add(Action action) {
  NormalizeFiles(&action);
  if (IsDrop(action.operation)) {
    Forget(action.id);
    if (IsProvisional(action.id)) {
      return;
    }
  }
  const Places* places = nullptr;
  if (GivesName(action.operation)) {
    const auto found = by_name_.find(AsciiStrToLower(action.name));
    places = found == by_name_.end() ? nullptr : &found->second;
  } else {
    const auto found = by_id_.find(action.id);
    places = found == by_id_.end() ? nullptr : &found->second;
  }
  if (places != nullptr) {
    for (const uint32_t place : *places) {
      Action& old = actions_[place];
      if (IsSame(old, action)) {
        AddSorted(action.files, &old.files);
        AddSorted(action.paths, &old.paths);
        old.all_files |= action.all_files;
        return;
      }
    }
  }
  actions_.push_back(std::move(action));
  Index(static_cast<uint32_t>(actions_.size() - 1));
}

bool Footprint::ChangesSchema() const {
  return std::any_of(actions_.begin(), actions_.end(),
                     [](const Action& action) { return KindOf(action.operation) <= Kind::kAlter; });
}

Footprint Footprint::Resolved(const IdResolution& ids) const {
  Footprint resolved;
  resolved.actions_ = actions_;
  for (uint32_t place = 0; place < actions_.size(); ++place) {
    Action& action = resolved.actions_[place];
    action.id = ids.Resolve(action.id);
    action.schema_id = ids.Resolve(action.schema_id);
    for (int64_t& file : action.files) {
      file = ids.Resolve(file);
    }
    resolved.Index(place);
  }
  return resolved;
}

std::string Footprint::ChangesMade() const {
  return WriteChangesMade(actions_);
}

std::optional<Conflict> Footprint::ConflictWith(const Footprint& theirs) const {
  constexpr uint32_t kNowhere = std::numeric_limits<uint32_t>::max();
  for (const Action& mine : actions_) {
    uint32_t first = kNowhere;
    std::string first_text;
    const auto consider = [&](uint32_t place) {
      if (place < first) {
        std::optional<std::string> text = ConflictText(mine, theirs.actions_[place]);
        if (text.has_value()) {
          first = place;
          first_text = *std::move(text);
        }
      }
    };
    const auto consider_all = [&](const auto& places, const auto& key) {
      const auto found = places.find(key);
      if (found != places.end()) {
        std::for_each(found->second.begin(), found->second.end(), consider);
      }
    };
    consider_all(theirs.by_id_, mine.id);
    if (GivesName(mine.operation)) {
      consider_all(theirs.by_name_, AsciiStrToLower(mine.name));
    }
    if (PutsIntoSchema(mine.operation)) {
      std::for_each(theirs.schema_drops_.begin(), theirs.schema_drops_.end(), consider);
    } else if (mine.operation == Operation::kDropSchema) {
      for (uint32_t place = 0; place < theirs.actions_.size(); ++place) {
        consider(place);
      }
    }
    if (first != kNowhere) {
      return Conflict{
          .mine = mine, .theirs = theirs.actions_[first], .text = std::move(first_text)};
    }
  }
  return std::nullopt;
}

void Footprint::Index(uint32_t place) {
  const Action& action = actions_[place];
  // What was created is found by its name; by its id only to be dropped again.
  if (!IsCreation(action.operation) || IsProvisional(action.id)) {
    by_id_[action.id].push_back(place);
  }
  if (GivesName(action.operation)) {
    by_name_[AsciiStrToLower(action.name)].push_back(place);
  }
  if (action.operation == Operation::kDropSchema) {
    schema_drops_.push_back(place);
  }
}

void Footprint::Forget(int64_t id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) {
    return;
  }
  const Places forgotten = found->second;
  size_t kept = 0;
  for (uint32_t place = 0; place < actions_.size(); ++place) {
    if (!std::binary_search(forgotten.begin(), forgotten.end(), place)) {
      if (kept != place) {
        actions_[kept] = std::move(actions_[place]);
      }
      ++kept;
    }
  }
  actions_.resize(kept);
  by_id_.clear();
  by_name_.clear();
  schema_drops_.clear();
  for (uint32_t place = 0; place < actions_.size(); ++place) {
    Index(place);
  }
}

}  // namespace varve
