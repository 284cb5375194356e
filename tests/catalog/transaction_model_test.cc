// Long random histories of transactions by several writers, told to a plain in-memory model of the
// lake (lake_model.h) in the order of their commits: the catalog must show the same at every
// snapshot, and in every open transaction.
//
// VARVE_MODEL_SEED=N repeats the draws of a run (of several writers: not how they met);
// VARVE_MODEL_ITERATIONS=N has each writer begin N transactions; VARVE_MODEL_TRACE=1 prints what
// was committed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "catalog/transaction/transaction.h"
#include "catalog/verify/verify.h"
#include "tests/catalog/catalog_fixture.h"
#include "tests/catalog/lake_model.h"
#include "tests/catalog/lake_operation.h"
#include "tests/catalog/random_lake.h"
#include "tests/seed.h"

namespace varve {
namespace {

using Lines = std::vector<std::string>;

uint64_t NumberFromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no other thread
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

constexpr std::string_view kInlinedData = "ducklake_inlined_data_";

// --- The catalog in the model's words ------------------------------------------------------------

// Under which name the model has a relation; empty: it has not.
std::string NameInModel(std::string_view relation) {
  if (relation == "ducklake_inlined_data_tables" || relation == "ducklake_table_column_stats") {
    return "";
  }
  if (relation.starts_with(kInlinedData)) {
    const std::string_view table = relation.substr(kInlinedData.size());
    return StrCat("inlined rows ", table.substr(0, table.find('_')));
  }
  return std::string(relation);
}

// A row as the model has it; false: it has not.
bool ToModel(std::string_view relation, LakeRow* row) {
  if (relation == "ducklake_snapshot") {
    row->erase("snapshot_time");
    row->erase("next_catalog_id");
    row->erase("next_file_id");
  } else if (relation == "ducklake_snapshot_changes") {
    row->erase("changes_made");
  } else if (relation == "ducklake_metadata") {
    return TextOf(*row, "key") != "created_by";
  } else if (relation == "ducklake_files_scheduled_for_deletion") {
    EXPECT_TRUE(row->contains("schedule_start"));
    row->erase("schedule_start");
    if (TextOf(*row, "path_is_relative") == "true") {
      (*row)["path"] = StrCat("/lake/", TextOf(*row, "path"));
    }
    row->erase("path_is_relative");
  }
  return true;
}

Lines LinesOf(std::string_view relation, std::vector<LakeRow> rows) {
  Lines lines;
  for (LakeRow& row : rows) {
    if (ToModel(relation, &row)) {
      lines.push_back(LineOf(row));
    }
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

// What is in one list and not in the other, for messages.
std::string Difference(const Lines& found, const Lines& expected) {
  Lines differences;
  const auto add = [&](const Lines& a, const Lines& b, const char* what) {
    Lines only;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only));
    for (size_t i = 0; i < std::min<size_t>(only.size(), 4); ++i) {
      differences.push_back(StrCat("  ", what, ": ", only[i]));
    }
  };
  add(found, expected, "found   ");
  add(expected, found, "expected");
  return StrJoin(differences, "\n");
}

// The words of changes_made, split at the commas outside of quotes.
std::set<std::string> WordsOf(std::string_view text) {
  std::set<std::string> words;
  std::string word;
  bool quoted = false;
  for (const char c : text) {
    quoted ^= c == '"';
    if (c == ',' && !quoted) {
      words.insert(std::exchange(word, ""));
    } else {
      word.push_back(c);
    }
  }
  EXPECT_FALSE(quoted) << text;
  words.insert(word);
  return words;
}

// --- The history ---------------------------------------------------------------------------------

// A transaction that was begun, and what came of it.
struct Attempt {
  int writer = 0;
  Csn base_csn = 0;
  SnapshotId base_snapshot = 0;
  std::vector<LakeOperation> operations;
  // What a relation looked like in the transaction after some of its operations.
  struct Sight {
    size_t operations = 0;
    std::string relation;
    Lines lines;
  };
  std::vector<Sight> sights;
  CommitMessage message;
  std::optional<CommitResult> result;  // committed
  bool conflict = false;
};

// Whether the one may be refused because of the other. Of operations only options are told apart:
// they meet nothing but the same option.
bool MayConflict(const Attempt& mine, const Attempt& theirs) {
  const auto is_option = [](const LakeOperation& operation) {
    return operation.kind == LakeOperation::Kind::kSetOption;
  };
  const auto& ours = mine.operations;
  return !std::all_of(ours.begin(), ours.end(), is_option) ||
         std::any_of(ours.begin(), ours.end(), [&](const LakeOperation& a) {
           return std::any_of(theirs.operations.begin(), theirs.operations.end(),
                              [&](const LakeOperation& b) {
                                return is_option(b) && a.scope == b.scope && a.object == b.object &&
                                       a.name == b.name;
                              });
         });
}

class Attempts {
 public:
  void Add(Attempt attempt) {
    const std::lock_guard<std::mutex> lock(mutex_);
    attempts_.push_back(std::move(attempt));
  }
  const std::vector<Attempt>& attempts() const { return attempts_; }

  size_t commits() const {
    return static_cast<size_t>(std::count_if(attempts_.begin(), attempts_.end(),
                                             [](const auto& a) { return a.result.has_value(); }));
  }
  size_t conflicts() const {
    return static_cast<size_t>(std::count_if(attempts_.begin(), attempts_.end(),
                                             [](const auto& a) { return a.conflict; }));
  }

 private:
  std::mutex mutex_;
  std::vector<Attempt> attempts_;
};

std::string Describe(const Attempt& attempt) {
  std::string text =
      StrCat("writer ", attempt.writer, ", base snapshot ", attempt.base_snapshot,
             attempt.result.has_value() ? StrCat(", committed as ", attempt.result->snapshot)
                                        : std::string());
  for (const LakeOperation& operation : attempt.operations) {
    StrAppend(&text, "\n    ", ToText(operation));
  }
  return text;
}

// Draws transactions of one writer and performs them.
class Writer {
 public:
  Writer(Catalog* catalog, uint64_t seed, int number, Attempts* history)
      : catalog_(*catalog), lake_(seed, number), number_(number), history_(*history) {}

  void RunOne() {
    if (lake_.OneIn(4)) {
      RunWithRetries();
      return;
    }
    absl::StatusOr<Transaction> transaction = catalog_.Begin();
    ASSERT_TRUE(transaction.ok()) << transaction.status();
    Attempt attempt;
    Fill(*transaction, &attempt);
    if (lake_.OneIn(10)) {
      transaction->Abort();
      ExpectEnded(*transaction);
      history_.Add(std::move(attempt));
      return;
    }
    if (lake_.OneIn(20)) {
      const auto refused = transaction->Commit({.author = "w", .message = std::string("a\0b", 3)});
      ASSERT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument) << refused.status();
      ASSERT_TRUE(transaction->is_open());
    }
    const absl::StatusOr<CommitResult> result = transaction->Commit(attempt.message);
    Finish(result, std::move(attempt));
    ExpectEnded(*transaction);
  }

 private:
  void RunWithRetries() {
    std::optional<Attempt> last;
    CommitMessage message = Message();
    const absl::StatusOr<CommitResult> result =
        RunInTransaction(&catalog_,
                         [&](Transaction& transaction) {
                           if (last.has_value()) {
                             last->conflict = true;
                             history_.Add(*std::move(last));
                           }
                           last.emplace();
                           Fill(transaction, &*last);
                           last->message = message;
                           return absl::OkStatus();
                         },
                         message, {.max_retries = 20, .first_wait = absl::Milliseconds(1)});
    Finish(result, *std::move(last));
  }

  void Finish(const absl::StatusOr<CommitResult>& result, Attempt attempt) {
    if (result.ok()) {
      attempt.result = *result;
    } else {
      EXPECT_TRUE(absl::IsAborted(result.status())) << result.status() << "\n" << Describe(attempt);
      EXPECT_THAT(std::string(MessageOf(result.status())), ::testing::HasSubstr("conflict"));
      EXPECT_THAT(std::string(MessageOf(result.status())),
                  ::testing::Not(::testing::HasSubstr("\n")));
      attempt.conflict = true;
    }
    history_.Add(std::move(attempt));
  }

  CommitMessage Message() {
    CommitMessage message;
    if (lake_.OneIn(2)) {
      message = {.author = StrCat("writer ", number_),
                 .message = StrCat("thing ", lake_.Below(1000), " | ä")};
    }
    return message;
  }

  void Fill(Transaction& transaction, Attempt* attempt) {
    lake_.Begin();
    attempt->writer = number_;
    attempt->base_csn = transaction.base().csn();
    attempt->base_snapshot = transaction.base().last_snapshot();
    attempt->message = Message();
    for (uint64_t count = 1 + lake_.Below(6); count > 0; --count) {
      if (lake_.OneIn(5)) {
        Mistake(transaction);
      }
      std::optional<LakeOperation> operation = lake_.Draw(transaction);
      if (!operation.has_value()) {
        continue;
      }
      const absl::Status status = Perform(&*operation, &transaction);
      // Whether another reader needs a file is not the transaction's to know.
      const bool may_fail = operation->kind == LakeOperation::Kind::kRemoveScheduledFiles &&
                            absl::IsFailedPrecondition(status);
      if (!status.ok()) {
        EXPECT_TRUE(may_fail) << status << "\n    " << ToText(*operation) << "\n  after "
                              << Describe(*attempt);
        continue;
      }
      lake_.Performed(*operation);
      attempt->operations.push_back(*std::move(operation));
      if (lake_.OneIn(3)) {
        Look(transaction, attempt);
      }
    }
  }

  // An operation that is refused changes nothing.
  void Mistake(Transaction& transaction) {
    std::optional<RandomLake::Mistake> mistake = lake_.DrawMistake(transaction);
    if (!mistake.has_value()) {
      return;
    }
    const Lines before = Everything(transaction);
    const absl::Status status = Perform(&mistake->operation, &transaction);
    EXPECT_TRUE(std::find(mistake->codes.begin(), mistake->codes.end(), status.code()) !=
                mistake->codes.end())
        << status << "\n    " << ToText(mistake->operation);
    EXPECT_THAT(std::string(MessageOf(status)), ::testing::Not(::testing::HasSubstr("\n")));
    EXPECT_TRUE(transaction.is_open());
    const Lines after = Everything(transaction);
    EXPECT_TRUE(before == after) << ToText(mistake->operation) << " was refused, but changed\n"
                                 << Difference(after, before);
  }

  static Lines Everything(const Transaction& transaction) {
    Lines lines;
    for (const RelationRef& relation : BuiltinRelations()) {
      for (const LakeRow& row : ReadRows(transaction, relation)) {
        lines.push_back(StrCat(relation->name, " ", LineOf(row)));
      }
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  void Look(const Transaction& transaction, Attempt* attempt) {
    const RelationRef& relation = BuiltinRelations()[lake_.Below(BuiltinRelations().size())];
    if (!NameInModel(relation->name).empty()) {
      attempt->sights.push_back(
          {.operations = attempt->operations.size(),
           .relation = relation->name,
           .lines = LinesOf(relation->name, ReadRows(transaction, relation))});
    }
  }

  void ExpectEnded(Transaction& transaction) {
    EXPECT_FALSE(transaction.is_open());
    EXPECT_TRUE(absl::IsFailedPrecondition(transaction.CreateSchema("late").status()));
    EXPECT_TRUE(absl::IsFailedPrecondition(transaction.Commit().status()));
    EXPECT_TRUE(
        absl::IsFailedPrecondition(transaction.Scan(BuiltinRelationById(kTable), {}).status()));
  }

  Catalog& catalog_;
  RandomLake lake_;
  const int number_;
  Attempts& history_;
};

// --- The comparison ------------------------------------------------------------------------------

class TransactionModel : public CatalogFixture {
 protected:
  static constexpr int kWriters = 4;

  void NewLake() {
    catalog_.reset();
    std::filesystem::remove_all(path());
    CopyNewCatalog(path());
    Reopen({.sync = SyncMode::kOff});
    history_ = std::make_unique<Attempts>();
    model_ = LakeModel();
    by_snapshot_.clear();
    first_csn_ = catalog_->Current().csn();
  }

  void Run(uint64_t seed, uint64_t transactions, bool threads) {
    std::vector<Writer> writers;
    for (int i = 0; i < kWriters; ++i) {
      writers.emplace_back(catalog_.get(), seed * kWriters + static_cast<uint64_t>(i), i,
                           history_.get());
    }
    if (!threads) {
      for (uint64_t i = 0; i < transactions; ++i) {
        for (Writer& writer : writers) {
          writer.RunOne();
        }
      }
      return;
    }
    std::vector<std::thread> running;
    for (Writer& writer : writers) {
      running.emplace_back([&writer, transactions] {
        for (uint64_t i = 0; i < transactions && !::testing::Test::HasFailure(); ++i) {
          writer.RunOne();
        }
      });
    }
    for (std::thread& thread : running) {
      thread.join();
    }
  }

  // Tells the model what happened, and compares what transactions saw on the way.
  void TellModel() {
    std::map<Csn, const Attempt*> commits;
    std::multimap<Csn, const Attempt*> by_base;
    for (const Attempt& attempt : history_->attempts()) {
      by_base.emplace(attempt.base_csn, &attempt);
      if (attempt.result.has_value() && attempt.result->csn > attempt.base_csn) {
        ASSERT_TRUE(commits.emplace(attempt.result->csn, &attempt).second)
            << "two commits have csn " << attempt.result->csn;
      } else if (attempt.result.has_value()) {
        ASSERT_EQ(attempt.result->snapshot, attempt.base_snapshot) << Describe(attempt);
      }
    }
    for (const auto& [base, attempt] : by_base) {
      if (attempt->conflict) {
        EXPECT_TRUE(
            std::any_of(commits.upper_bound(base), commits.end(),
                        [&](const auto& commit) { return MayConflict(*attempt, *commit.second); }))
            << "a conflict with nobody: " << Describe(*attempt);
      }
    }
    for (Csn csn = first_csn_; csn <= catalog_->Current().csn(); ++csn) {
      if (csn > first_csn_) {
        const auto commit = commits.find(csn);
        ASSERT_NE(commit, commits.end()) << "nobody made commit " << csn;
        TellCommit(*commit->second);
        ASSERT_FALSE(HasFatalFailure());
      }
      const auto [first, last] = by_base.equal_range(csn);
      for (auto attempt = first; attempt != last; ++attempt) {
        CompareSights(*attempt->second);
        ASSERT_FALSE(HasFatalFailure());
      }
    }
  }

  void TellCommit(const Attempt& attempt) {
    model_.Begin(model_.last_snapshot() + 1, false);
    for (LakeOperation operation : attempt.operations) {
      ResolveIds(*attempt.result, &operation);
      model_.Apply(operation);
    }
    const bool made_snapshot = model_.Commit(attempt.message);
    ASSERT_THAT(model_.problems(), ::testing::IsEmpty()) << Describe(attempt);
    ASSERT_EQ(attempt.result->snapshot, model_.last_snapshot()) << Describe(attempt);
    ASSERT_EQ(model_.CheckRowIds(), "") << Describe(attempt);
    if (made_snapshot) {
      by_snapshot_[model_.last_snapshot()] = {.attempt = &attempt,
                                              .words = model_.words(),
                                              .touched = model_.touched(),
                                              .next_catalog_id = model_.next_catalog_id(),
                                              .next_file_id = model_.next_file_id()};
    }
  }

  void CompareSights(const Attempt& attempt) const {
    if (attempt.sights.empty()) {
      return;
    }
    LakeModel model = model_;
    const SnapshotId pending = attempt.base_snapshot + 1;
    model.Begin(pending, true);
    size_t done = 0;
    for (const Attempt::Sight& sight : attempt.sights) {
      for (; done < sight.operations; ++done) {
        model.Apply(attempt.operations[done]);
      }
      const Lines expected = model.Rows(sight.relation, pending);
      ASSERT_TRUE(sight.lines == expected)
          << "after " << done << " operations the transaction saw of " << sight.relation << "\n"
          << Difference(sight.lines, expected) << "\n"
          << Describe(attempt);
    }
    for (; done < attempt.operations.size(); ++done) {
      model.Apply(attempt.operations[done]);
    }
    ASSERT_THAT(model.problems(), ::testing::IsEmpty()) << Describe(attempt);
  }

  // --- Catalog and model ---

  void CompareAll() const {
    const ReadView current = catalog_->Current();
    ASSERT_EQ(current.last_snapshot(), model_.last_snapshot());
    CompareSnapshots(current);
    ASSERT_FALSE(HasFatalFailure());
    for (const LakeRow& row : ReadRows(current, BuiltinRelationById(kTableColumnStats))) {
      ASSERT_EQ(model_.CheckColumnStats(row), "")
          << LineOf(row) << CommitsThatMention(row.at("table_id"));
    }
    for (SnapshotId at = 0; at <= model_.last_snapshot(); ++at) {
      const auto view = catalog_->At(at);
      ASSERT_TRUE(view.ok()) << view.status();
      CompareAt(*view);
      ASSERT_FALSE(HasFatalFailure());
    }
    const auto summary = Verify(current, {}, [](const Finding& finding) {
      ADD_FAILURE() << "verify: " << finding.rule << " " << finding.relation << " " << finding.key
                    << ": " << finding.message;
    });
    ASSERT_TRUE(summary.ok()) << summary.status();
  }

  std::string CommitsThatMention(const std::string& id) const {
    std::string text;
    for (const auto& [snapshot, made] : by_snapshot_) {
      const std::string commit = Describe(*made.attempt);
      if (commit.find(id) != std::string::npos) {
        StrAppend(&text, "\n", commit);
      }
    }
    return text;
  }

  void CompareAt(const ReadView& view) const {
    std::map<std::string, std::vector<LakeRow>> rows;
    for (const RelationRef& relation : view.relations().relations()) {
      const std::string name = NameInModel(relation->name);
      if (!name.empty()) {
        std::vector<LakeRow>& all = rows[name];
        for (LakeRow& row : ReadRows(view, relation)) {
          all.push_back(std::move(row));
        }
      }
    }
    for (const std::string& name : model_.Relations()) {
      rows[name];
    }
    for (auto& [name, of_relation] : rows) {
      const Lines found = LinesOf(name, std::move(of_relation));
      const Lines expected = model_.Rows(name, view.snapshot());
      ASSERT_TRUE(found == expected) << name << " at snapshot " << view.snapshot() << "\n"
                                     << Difference(found, expected) << "\n"
                                     << TextOfSnapshot(view.snapshot());
    }
  }

  // The rows of snapshots one after the other.
  void CompareSnapshots(const ReadView& current) const {
    const std::vector<LakeRow> snapshots = ReadRows(current, BuiltinRelationById(kSnapshot));
    const std::vector<LakeRow> changes = ReadRows(current, BuiltinRelationById(kSnapshotChanges));
    ASSERT_EQ(snapshots.size(), model_.last_snapshot() + 1);
    ASSERT_EQ(changes.size(), snapshots.size());
    for (size_t i = 1; i < snapshots.size(); ++i) {
      const LakeRow& row = snapshots[i];
      const LakeRow& before = snapshots[i - 1];
      ASSERT_EQ(NumberOf(row, "snapshot_id"), static_cast<int64_t>(i)) << "no gaps";
      ASSERT_LT(TextOf(before, "snapshot_time"), TextOf(row, "snapshot_time"));
      const Made& made = by_snapshot_.at(i);
      for (const auto& [column, next] : {std::pair("next_catalog_id", made.next_catalog_id),
                                         std::pair("next_file_id", made.next_file_id)}) {
        ASSERT_GE(NumberOf(row, column), next) << Describe(*made.attempt);
        ASSERT_GE(NumberOf(row, column), NumberOf(before, column));
      }
      CompareWords(TextOf(changes[i], "changes_made"), made);
      ASSERT_FALSE(HasFatalFailure());
    }
  }

  struct Made {
    const Attempt* attempt = nullptr;
    std::set<std::string> words;
    std::set<int64_t> touched;
    int64_t next_catalog_id = 0;
    int64_t next_file_id = 0;
  };

  static void CompareWords(const std::string& text, const Made& made) {
    const std::set<std::string> words = WordsOf(text);
    for (const std::string& word : made.words) {
      ASSERT_TRUE(words.contains(word)) << "changes_made lacks " << word << ": " << text << "\n"
                                        << Describe(*made.attempt);
    }
    for (const std::string& word : words) {
      const size_t colon = word.find(':');
      ASSERT_NE(colon, std::string::npos) << text;
      const auto id = ParseNumber<int64_t>(std::string_view(word).substr(colon + 1));
      ASSERT_TRUE(!id.has_value() || made.touched.contains(*id))
          << "changes_made speaks of " << word << ": " << text << "\n"
          << Describe(*made.attempt);
      ASSERT_TRUE(id.has_value() || word.starts_with("created_")) << text;
    }
  }

  std::string TextOfSnapshot(SnapshotId snapshot) const {
    const auto made = by_snapshot_.find(snapshot);
    return made == by_snapshot_.end() ? "" : Describe(*made->second.attempt);
  }

  // With VARVE_MODEL_TRACE set: what was committed, with the ids it was given.
  void PrintIfAsked() const {
    if (std::getenv("VARVE_MODEL_TRACE") == nullptr) {  // NOLINT(concurrency-mt-unsafe)
      return;
    }
    std::map<Csn, Attempt> commits;
    for (const Attempt& attempt : history_->attempts()) {
      if (attempt.result.has_value()) {
        Attempt& commit = commits[attempt.result->csn] = attempt;
        for (LakeOperation& operation : commit.operations) {
          ResolveIds(*attempt.result, &operation);
        }
      }
    }
    for (const auto& [csn, commit] : commits) {
      std::printf("csn %llu %s\n", static_cast<unsigned long long>(csn), Describe(commit).c_str());
    }
  }

  // All comparisons of a history that is over: also reopened, and read-only.
  void Compare() {
    PrintIfAsked();
    ASSERT_FALSE(HasFailure());
    TellModel();
    ASSERT_FALSE(HasFailure());
    CompareAll();
    ASSERT_FALSE(HasFailure());
    Reopen();
    CompareAll();
    ASSERT_FALSE(HasFailure()) << "reopened";
    Reopen({.read_only = true});
    CompareAll();
    ASSERT_FALSE(HasFailure()) << "read-only";
    EXPECT_TRUE(absl::IsFailedPrecondition(catalog_->Begin().status()));
  }

  std::unique_ptr<Attempts> history_;
  LakeModel model_;
  std::map<SnapshotId, Made> by_snapshot_;
  Csn first_csn_ = 0;
};

uint64_t Seed() {
  static const uint64_t seed = [] {
    const uint64_t drawn = NumberFromEnvironment("VARVE_MODEL_SEED", TestSeed());
    std::printf("VARVE_MODEL_SEED=%llu\n", static_cast<unsigned long long>(drawn));
    return drawn;
  }();
  return seed;
}

constexpr uint64_t kHistory = 40;  // transactions of each writer in one catalog

TEST_F(TransactionModel, OneTransactionAfterTheOtherNeverConflicts) {
  const uint64_t iterations = NumberFromEnvironment("VARVE_MODEL_ITERATIONS", kHistory);
  for (uint64_t i = 0; i < iterations; i += kHistory) {
    NewLake();
    Run(Seed() + i, std::min(kHistory, iterations - i), false);
    EXPECT_EQ(history_->conflicts(), 0U);
    Compare();
    ASSERT_FALSE(HasFailure()) << "in history " << i / kHistory;
  }
  EXPECT_GT(history_->commits(), kHistory);
}

TEST_F(TransactionModel, SeveralWritersLeaveWhatTheirCommitsSayOneAfterTheOther) {
  const uint64_t iterations = NumberFromEnvironment("VARVE_MODEL_ITERATIONS", 2 * kHistory);
  size_t commits = 0;
  size_t conflicts = 0;
  for (uint64_t i = 0; i < iterations; i += kHistory) {
    NewLake();
    Run(Seed() + i, std::min(kHistory, iterations - i), true);
    Compare();
    ASSERT_FALSE(HasFailure()) << "in history " << i / kHistory;
    commits += history_->commits();
    conflicts += history_->conflicts();
  }
  std::printf("%zu commits, %zu conflicts\n", commits, conflicts);
  EXPECT_GT(commits, kHistory);
}

}  // namespace
}  // namespace varve
