// Processes that are killed. A child works on a catalog and tells of every acknowledged commit; it
// gets SIGKILL at a random moment, or at a named failpoint (base/failpoint.h). Then the catalog is
// opened again: every acknowledged commit is wholly there, no other one in part, nothing breaks a
// rule of `verify`, and no id is ever given twice over all the crashes of one catalog.
//
// VARVE_CRASH_ROUNDS=N: so many kills at random moments.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/failpoint.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/backup/checkpoint.h"
#include "catalog/interchange/export.h"
#include "catalog/interchange/import.h"
#include "catalog/retention/excise.h"
#include "catalog/retention/expire.h"
#include "catalog/retention/gc.h"
#include "catalog/tiers/compaction.h"
#include "catalog/tiers/flush.h"
#include "catalog/transaction/transaction.h"
#include "catalog/verify/verify.h"
#include "tests/catalog/catalog_fixture.h"
#include "tests/catalog/child_process.h"
#include "tests/catalog/lake_operation.h"
#include "tests/seed.h"

namespace varve {
namespace {

using Names = std::set<std::string>;

// --- What a child commits ------------------------------------------------------------------------

constexpr uint64_t kMostCommits = 1000;  // of one child; it is killed long before
constexpr SnapshotId kTablesLive = 3;

DataFile FileOf(SnapshotId n, int number) {
  return {.path = StrCat(n, "-", number),
          .record_count = 10,
          .file_size_bytes = 100,
          .columns = {{.column_id = 1,
                       .value_count = 10,
                       .null_count = 0,
                       .min_value = StrCat(n),
                       .max_value = StrCat(n + 9)},
                      {.column_id = 2, .value_count = 10, .null_count = 0}}};
}

// Commit n, which makes snapshot n: a table t<n> with two files, one row more in the table "log",
// whose tag says n; t<n-3> goes.
absl::Status CommitNumber(Catalog* catalog, SnapshotId n) {
  const auto work = [&](Transaction& transaction) -> absl::Status {
    if (n == 1) {
      const ColumnDefinition column = {.name = "n", .type = "int64"};
      VARVE_RETURN_IF_ERROR(transaction.CreateTable(0, "log", {&column, 1}).status());
    }
    VARVE_ASSIGN_OR_RETURN(const int64_t log, transaction.FindTable(0, "log"));
    const std::vector<ColumnDefinition> columns = {{.name = "a", .type = "int64"},
                                                   {.name = "note", .type = "varchar"}};
    VARVE_ASSIGN_OR_RETURN(const int64_t table,
                           transaction.CreateTable(0, StrCat("t", n), columns));
    const std::vector<DataFile> files = {FileOf(n, 1), FileOf(n, 2)};
    VARVE_RETURN_IF_ERROR(transaction.RegisterDataFiles(table, files).status());
    const std::vector<NullableText> row = {StrCat(n)};
    VARVE_RETURN_IF_ERROR(transaction.InsertInlined(log, {&row, 1}).status());
    VARVE_RETURN_IF_ERROR(transaction.SetTag(log, "last", StrCat(n)));
    if (n > kTablesLive) {
      VARVE_ASSIGN_OR_RETURN(const int64_t old,
                             transaction.FindTable(0, StrCat("t", n - kTablesLive)));
      VARVE_RETURN_IF_ERROR(transaction.DropTable(old));
    }
    return absl::OkStatus();
  };
  return RunInTransaction(catalog, work, {.author = "child", .message = StrCat(n)}).status();
}

// --- Children ------------------------------------------------------------------------------------

// "path|failpoint:n": opens the catalog and arms the failpoint, if one is named.
absl::StatusOr<std::unique_ptr<Catalog>> OpenAsTold(const std::string& argument) {
  const size_t bar = argument.find('|');
  VARVE_ASSIGN_OR_RETURN(std::unique_ptr<Catalog> catalog, Catalog::Open(argument.substr(0, bar)));
  if (bar + 1 < argument.size()) {
    VARVE_RETURN_IF_ERROR(ArmFailpointFromText(argument.substr(bar + 1)));
  }
  return catalog;
}

constexpr char kCommitted = 'c';
constexpr char kFailed = 'F';

// Commits and does something else, again and again. Ends on an error.
int Work(const std::string& argument, const ChildBody::Say& say,
         const std::function<absl::Status(Catalog*, uint64_t round)>& something) {
  const auto catalog = OpenAsTold(argument);
  absl::Status status = catalog.status();
  for (uint64_t round = 1; status.ok() && round <= kMostCommits; ++round) {
    status = CommitNumber(catalog->get(), (*catalog)->Current().last_snapshot() + 1);
    if (status.ok()) {
      say(kCommitted);
      status = something(catalog->get(), round);
    }
  }
  if (!status.ok()) {
    std::fprintf(stderr, "the child failed: %s\n", status.ToString().c_str());
    say(kFailed);
  }
  return 1;
}

absl::Status Nothing(Catalog* /*catalog*/, uint64_t /*round*/) {
  return absl::OkStatus();
}
absl::Status CollectGarbage(Catalog* catalog, uint64_t /*round*/) {
  return ApplyGc(catalog, {.keep_last = 4}).status();
}
absl::Status ExciseInSteps(Catalog* catalog, uint64_t round) {
  VARVE_RETURN_IF_ERROR(CollectGarbage(catalog, round));
  return Excise(catalog, {.rows_per_step = 7}).status();
}
absl::Status ExpireOldest(Catalog* catalog, uint64_t /*round*/) {
  std::vector<SnapshotId> oldest;
  for (const LakeRow& row : ReadRows(catalog->Current(), BuiltinRelationById(kSnapshot))) {
    oldest.push_back(static_cast<SnapshotId>(NumberOf(row, "snapshot_id")));
  }
  if (oldest.size() < 5) {
    return absl::OkStatus();
  }
  oldest.resize(2);
  return Expire(catalog, oldest, {.rows_per_step = 7}).status();
}
// Removes a directory that is expected to be whole whenever it has its name: who removes it file by
// file may be killed at it.
void Discard(const std::string& path) {
  const std::string discarded = StrCat(path, ".discarded");
  std::filesystem::remove_all(discarded);
  if (std::filesystem::exists(path)) {
    std::filesystem::rename(path, discarded);
    std::filesystem::remove_all(discarded);
  }
}
std::string CheckpointPath(const std::string& catalog) {
  return StrCat(catalog, ".checkpoint");
}
absl::Status MakeCheckpoint(Catalog* catalog, uint64_t /*round*/) {
  const std::string path = CheckpointPath(catalog->path());
  Discard(path);
  return CreateCheckpoint(*catalog, path).status();
}
std::string ImportedPath(const std::string& catalog) {
  return StrCat(catalog, ".imported");
}
std::string ExportPath(const std::string& catalog) {
  return StrCat(catalog, ".csv");
}
absl::Status ImportExport(Catalog* catalog, uint64_t /*round*/) {
  const std::string path = ImportedPath(catalog->path());
  Discard(path);
  std::filesystem::remove_all(ExportPath(catalog->path()));
  const std::string from = StrCat("csv:", ExportPath(catalog->path()));
  VARVE_RETURN_IF_ERROR(ExportCatalog(catalog->Current(), from, {.history = true}).status());
  return ImportCatalog(from, path, {.memory_bytes = uint64_t{1} << 20}).status();
}

absl::Status FlushAndCompact(Catalog* catalog, uint64_t /*round*/) {
  VARVE_RETURN_IF_ERROR(FlushMemory(*catalog).status());
  return CompactColumns(*catalog, {.full = true}).status();
}

const ChildBody kCommitter("crash: commit",
                           [](const std::string& argument, const ChildBody::Say& say) {
                             return Work(argument, say, Nothing);
                           });
const ChildBody kGc("crash: gc", [](const std::string& argument, const ChildBody::Say& say) {
  return Work(argument, say, CollectGarbage);
});
const ChildBody kExciser("crash: excise",
                         [](const std::string& argument, const ChildBody::Say& say) {
                           return Work(argument, say, ExciseInSteps);
                         });
const ChildBody kExpirer("crash: expire",
                         [](const std::string& argument, const ChildBody::Say& say) {
                           return Work(argument, say, ExpireOldest);
                         });
const ChildBody kCheckpointer("crash: checkpoint",
                              [](const std::string& argument, const ChildBody::Say& say) {
                                return Work(argument, say, MakeCheckpoint);
                              });
const ChildBody kImporter("crash: import",
                          [](const std::string& argument, const ChildBody::Say& say) {
                            return Work(argument, say, ImportExport);
                          });
const ChildBody kColumnMaker("crash: flush and compact",
                             [](const std::string& argument, const ChildBody::Say& say) {
                               return Work(argument, say, FlushAndCompact);
                             });
const ChildBody kEverything("crash: everything",
                            [](const std::string& argument, const ChildBody::Say& say) {
                              return Work(argument, say, [](Catalog* catalog, uint64_t round) {
                                switch (round % 6) {
                                  case 0: return ExciseInSteps(catalog, round);
                                  case 1: return ExpireOldest(catalog, round);
                                  case 2: return CollectGarbage(catalog, round);
                                  case 3: return MakeCheckpoint(catalog, round);
                                  case 4: return FlushAndCompact(catalog, round);
                                  default: return absl::OkStatus();
                                }
                              });
                            });

// Several threads that commit at once; thread w says 'A' + w for each of its commits.
constexpr int kThreads = 4;

std::string GroupTable(int w) {
  return StrCat("g", w);
}

absl::Status CommitOfThread(Catalog* catalog, int w, int64_t i) {
  const auto work = [&](Transaction& transaction) -> absl::Status {
    VARVE_ASSIGN_OR_RETURN(const int64_t table, transaction.FindTable(0, GroupTable(w)));
    DataFile file = FileOf(static_cast<SnapshotId>(i), w);
    file.columns.pop_back();
    VARVE_RETURN_IF_ERROR(transaction.RegisterDataFiles(table, {&file, 1}).status());
    const std::vector<NullableText> row = {StrCat(i)};
    VARVE_RETURN_IF_ERROR(transaction.InsertInlined(table, {&row, 1}).status());
    return transaction.SetTag(table, "last", StrCat(i));
  };
  return RunInTransaction(catalog, work, {.message = StrCat(w, " ", i)}).status();
}

// How many commits of a thread there are.
int64_t CommitsOfThread(const ReadView& view, int w) {
  int64_t last = 0;
  for (const LakeRow& row : ReadRows(view, BuiltinRelationById(kSnapshotChanges))) {
    const std::string message = TextOf(row, "commit_message");
    if (message.starts_with(StrCat(w, " "))) {
      last = std::max(last, ParseNumber<int64_t>(std::string_view(message).substr(2)).value_or(0));
    }
  }
  return last;
}

const ChildBody kGroup("crash: group", [](const std::string& argument, const ChildBody::Say& say) {
  const auto catalog = OpenAsTold(argument);
  if (!catalog.ok()) {
    say(kFailed);
    return 1;
  }
  std::vector<std::thread> threads;
  for (int w = 0; w < kThreads; ++w) {
    threads.emplace_back([&, w] {
      int64_t next = CommitsOfThread((*catalog)->Current(), w) + 1;
      for (uint64_t i = 0; i < kMostCommits; ++i, ++next) {
        const absl::Status status = CommitOfThread(catalog->get(), w, next);
        if (!status.ok()) {
          std::fprintf(stderr, "the child failed: %s\n", status.ToString().c_str());
          say(kFailed);
          return;
        }
        say(static_cast<char>('A' + w));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return 1;
});

// --- What must be there afterwards ---------------------------------------------------------------

const LakeRow* FindRow(const std::vector<LakeRow>& rows, const std::string& column,
                       const std::string& value) {
  for (const LakeRow& row : rows) {
    if (TextOf(row, column) == value) {
      return &row;
    }
  }
  return nullptr;
}

std::vector<LakeRow> InlinedRows(const ReadView& view, int64_t table) {
  std::vector<LakeRow> rows;
  for (const RelationRef& relation : view.relations().relations()) {
    if (relation->name.starts_with(StrCat("ducklake_inlined_data_", table, "_"))) {
      for (LakeRow& row : ReadRows(view, relation)) {
        rows.push_back(std::move(row));
      }
    }
  }
  return rows;
}

class Crash : public ::testing::Test {
 protected:
  void SetUp() override { CopyNewCatalog(path()); }

  std::string path() const { return dir_ / "catalog"; }
  uint64_t Below(uint64_t bound) { return random_() % bound; }

  // What a child said before it ended.
  struct Said {
    std::map<char, int64_t> times;
    int end = 0;  // as of ChildProcess::Wait
    int64_t of(char c) const {
      const auto found = times.find(c);
      return found == times.end() ? 0 : found->second;
    }
  };

  // Kills a child after it has said something `hear` times and a random while more.
  Said KillAtRandom(const ChildBody& body, uint64_t hear) {
    ChildProcess child(body, path() + "|");
    Said said;
    for (uint64_t i = 0; i < hear; ++i) {
      const char c = child.Hear();
      if (c == '\0') {
        break;
      }
      ++said.times[c];
    }
    std::this_thread::sleep_for(std::chrono::microseconds(Below(hear == 0 ? 100'000 : 6'000)));
    child.Kill();
    said.end = -SIGKILL;
    HearTheRest(&child, &said);
    EXPECT_EQ(said.of(kFailed), 0);
    return said;
  }

  // Lets it run until it ends, at a failpoint.
  Said RunUntilKilled(const ChildBody& body, const std::string& failpoint) {
    ChildProcess child(body, StrCat(path(), "|", failpoint));
    Said said;
    HearTheRest(&child, &said);
    said.end = child.Wait();
    EXPECT_EQ(said.of(kFailed), 0);
    return said;
  }

  static void HearTheRest(ChildProcess* child, Said* said) {
    for (char c = child->Hear(); c != '\0'; c = child->Hear()) {
      ++said->times[c];
    }
  }

  std::unique_ptr<Catalog> Open() {
    auto catalog = Catalog::Open(path());
    EXPECT_TRUE(catalog.ok()) << catalog.status();
    return catalog.ok() ? *std::move(catalog) : nullptr;
  }

  static void ExpectClean(const Catalog& catalog) {
    const auto summary = Verify(catalog.Current(), {}, [](const Finding& finding) {
      ADD_FAILURE() << "verify: " << finding.rule << " " << finding.relation << " " << finding.key
                    << ": " << finding.message;
    });
    EXPECT_TRUE(summary.ok()) << summary.status();
  }

  // The state that commit n left, read at snapshot n.
  static void ExpectSnapshot(const ReadView& view) {
    const SnapshotId n = view.snapshot();
    const std::vector<LakeRow> tables = ReadRows(view, BuiltinRelationById(kTable));
    Names expected_tables;
    Names expected_files;
    for (SnapshotId k = n > kTablesLive ? n - kTablesLive + 1 : 1; k <= n; ++k) {
      expected_tables.insert(StrCat("t", k));
      expected_files.insert(StrCat(k, "-1"));
      expected_files.insert(StrCat(k, "-2"));
    }
    const size_t live = expected_tables.size();
    if (n > 0) {
      expected_tables.insert("log");
    }
    const auto values = [](const std::vector<LakeRow>& rows, const std::string& column) {
      Names names;
      for (const LakeRow& row : rows) {
        names.insert(TextOf(row, column));
      }
      return names;
    };
    ASSERT_EQ(tables.size(), expected_tables.size());
    ASSERT_EQ(values(tables, "table_name"), expected_tables);
    const auto files = ReadRows(view, BuiltinRelationById(kDataFile));
    ASSERT_EQ(files.size(), expected_files.size());
    ASSERT_EQ(values(files, "path"), expected_files);
    ASSERT_EQ(ReadRows(view, BuiltinRelationById(kFileColumnStats)).size(), live * 4);
    ASSERT_EQ(ReadRows(view, BuiltinRelationById(kColumn)).size(), live * 2 + (n > 0 ? 1 : 0));
    if (n == 0) {
      return;
    }
    const int64_t log = NumberOf(*FindRow(tables, "table_name", "log"), "table_id");
    const std::vector<LakeRow> rows = InlinedRows(view, log);
    ASSERT_EQ(rows.size(), n);
    Names numbers;
    for (SnapshotId k = 1; k <= n; ++k) {
      numbers.insert(StrCat(k));
    }
    ASSERT_EQ(values(rows, "n"), numbers);
    const auto tags = ReadRows(view, BuiltinRelationById(kTag));
    ASSERT_EQ(tags.size(), 1U);
    ASSERT_EQ(TextOf(tags[0], "value"), StrCat(n));
    const auto changes = ReadRows(view, BuiltinRelationById(kSnapshotChanges));
    ASSERT_FALSE(changes.empty());
    ASSERT_EQ(TextOf(changes.back(), "commit_message"), StrCat(n));
    if (view.is_current()) {
      const auto stats = ReadRows(view, BuiltinRelationById(kTableStats));
      for (const LakeRow& table : tables) {
        const LakeRow* const row = FindRow(stats, "table_id", TextOf(table, "table_id"));
        ASSERT_NE(row, nullptr);
        const bool is_log = TextOf(table, "table_name") == "log";
        ASSERT_EQ(NumberOf(*row, "record_count"), is_log ? static_cast<int64_t>(n) : 20);
        ASSERT_EQ(NumberOf(*row, "next_row_id"), NumberOf(*row, "record_count"));
      }
    }
  }

  // Every object has one id, for ever, and no two have the same.
  void ExpectIdsAreOnesOwn(const ReadView& view) {
    const auto check = [&](std::map<int64_t, std::string>* names, int64_t id,
                           const std::string& name) {
      const auto [known, is_new] = names->emplace(id, name);
      ASSERT_EQ(known->second, name) << "id " << id << " was that of another one";
    };
    std::map<std::string, int64_t> tables;
    for (const LakeRow& row : ReadRows(view, BuiltinRelationById(kTable), ScanRows::kAllVersions)) {
      const std::string& name = row.at("table_name");
      const int64_t id = NumberOf(row, "table_id");
      ASSERT_EQ(tables.emplace(name, id).first->second, id) << name << " has two ids";
      check(&table_names_, id, name);
    }
    for (const LakeRow& row :
         ReadRows(view, BuiltinRelationById(kDataFile), ScanRows::kAllVersions)) {
      check(&file_paths_, NumberOf(row, "data_file_id"), row.at("path"));
    }
  }

  // After a crash of a child that committed CommitNumber: opens the catalog and checks it.
  // `acknowledged`: commits of this child. The number of commits there are; 0 on failure.
  SnapshotId CheckReopened(SnapshotId before, int64_t acknowledged) {
    const std::unique_ptr<Catalog> catalog = Open();
    if (catalog == nullptr) {
      return 0;
    }
    const SnapshotId last = catalog->Current().last_snapshot();
    const SnapshotId least = before + static_cast<SnapshotId>(acknowledged);
    EXPECT_GE(last, least) << "an acknowledged commit is not there";
    EXPECT_LE(last, least + 1) << "more than the one commit that was not acknowledged";
    CheckState(*catalog);
    return last;
  }

  void CheckState(const Catalog& catalog) {
    const SnapshotId last = catalog.Current().last_snapshot();
    ExpectSnapshot(catalog.Current());
    std::vector<SnapshotId> earlier = {Below(last + 1)};
    for (SnapshotId i = 1; i <= 4 && i <= last; ++i) {
      earlier.push_back(last - i);
    }
    for (const SnapshotId at : earlier) {
      const auto view = catalog.At(at);
      if (view.ok()) {  // not given up
        ExpectSnapshot(*view);
      } else {
        EXPECT_TRUE(absl::IsNotFound(view.status())) << view.status();
      }
    }
    ExpectIdsAreOnesOwn(catalog.Current());
    ExpectClean(catalog);
  }

  // What is made in one go is wholly there or not at all.
  void CheckTargets() {
    const std::string checkpoint = CheckpointPath(path());
    if (std::filesystem::exists(checkpoint)) {
      const auto verified = VerifyCheckpoint(checkpoint, {}, {}, [](const Finding& finding) {
        ADD_FAILURE() << "checkpoint: " << finding.rule << ": " << finding.message;
      });
      EXPECT_TRUE(verified.ok()) << verified.status();
    }
    const std::string imported = ImportedPath(path());
    if (std::filesystem::exists(imported)) {
      const auto catalog = Catalog::Open(imported);
      ASSERT_TRUE(catalog.ok()) << catalog.status();
      ExpectSnapshot((*catalog)->Current());
      ExpectClean(**catalog);
    }
  }

  // An excision goes on where it was interrupted; checkpoints and imports begin anew.
  void FinishWhatWasBegun(std::string_view failpoint) {
    const std::unique_ptr<Catalog> catalog = Open();
    ASSERT_NE(catalog, nullptr);
    const auto excised = Excise(catalog.get(), {.rows_per_step = 50});
    ASSERT_TRUE(excised.ok()) << excised.status();
    const auto plan = PlanExcise(*catalog, nullptr);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_FALSE(plan->interrupted.has_value());
    EXPECT_EQ(TotalRows(plan->reclaimable.rows), 0U);
    CheckState(*catalog);
    for (const auto& [prefix, make] :
         {std::pair("checkpoint/", &MakeCheckpoint), std::pair("import/", &ImportExport)}) {
      if (failpoint.starts_with(prefix)) {
        const absl::Status status = make(catalog.get(), 0);
        EXPECT_TRUE(status.ok()) << status;
        CheckTargets();
      }
    }
    std::filesystem::remove_all(CheckpointPath(path()));
    std::filesystem::remove_all(ImportedPath(path()));
  }

  TempDir dir_;
  const uint64_t seed_ = TestSeed();
  std::mt19937_64 random_{seed_};
  std::map<int64_t, std::string> table_names_;
  std::map<int64_t, std::string> file_paths_;
};

uint64_t Rounds() {
  const char* text = std::getenv("VARVE_CRASH_ROUNDS");  // NOLINT(concurrency-mt-unsafe)
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 204;
}

// --- Killed at random moments --------------------------------------------------------------------

TEST_F(Crash, ACommitterKilledAtRandomMomentsLosesNothingItAcknowledged) {
  SnapshotId commits = 0;
  uint64_t unacknowledged = 0;
  for (uint64_t round = 0; round < Rounds() / 4; ++round) {
    const Said said = KillAtRandom(kCommitter, Below(6));
    const SnapshotId before = commits;
    commits = CheckReopened(before, said.of(kCommitted));
    unacknowledged += commits - before - static_cast<SnapshotId>(said.of(kCommitted));
    ASSERT_FALSE(HasFailure()) << "in round " << round << ", after " << before << " commits";
  }
  std::printf("%llu commits, %llu of them unacknowledged\n",
              static_cast<unsigned long long>(commits),
              static_cast<unsigned long long>(unacknowledged));
}

TEST_F(Crash, AProcessThatDoesEverythingKilledAtRandomMomentsLosesNothing) {
  SnapshotId commits = 0;
  for (uint64_t round = 0; round < Rounds() / 4; ++round) {
    const Said said = KillAtRandom(kEverything, Below(12));
    commits = CheckReopened(commits, said.of(kCommitted));
    CheckTargets();
    ASSERT_FALSE(HasFailure()) << "in round " << round << ", after " << commits << " commits";
  }
}

TEST_F(Crash, ManyCommittersAtOnceKilledAtRandomMomentsLoseNothingTheyAcknowledged) {
  {
    const std::unique_ptr<Catalog> catalog = Open();
    const auto made = RunInTransaction(catalog.get(), [](Transaction& transaction) {
      absl::Status status;
      for (int w = 0; w < kThreads && status.ok(); ++w) {
        const ColumnDefinition column = {.name = "n", .type = "int64"};
        status = transaction.CreateTable(0, GroupTable(w), {&column, 1}).status();
      }
      return status;
    });
    ASSERT_TRUE(made.ok()) << made.status();
  }
  std::vector<int64_t> commits(kThreads);
  for (uint64_t round = 0; round < Rounds() / 2; ++round) {
    const Said said = KillAtRandom(kGroup, Below(20));
    const std::unique_ptr<Catalog> catalog = Open();
    ASSERT_NE(catalog, nullptr);
    const ReadView view = catalog->Current();
    const auto files = ReadRows(view, BuiltinRelationById(kDataFile));
    const auto stats = ReadRows(view, BuiltinRelationById(kTableStats));
    const auto tags = ReadRows(view, BuiltinRelationById(kTag));
    for (int w = 0; w < kThreads; ++w) {
      const int64_t there = CommitsOfThread(view, w);
      const int64_t acknowledged =
          commits[static_cast<size_t>(w)] + said.of(static_cast<char>('A' + w));
      ASSERT_GE(there, acknowledged) << "an acknowledged commit is not there";
      ASSERT_LE(there, acknowledged + 1);
      commits[static_cast<size_t>(w)] = there;
      const int64_t table = NumberOf(
          *FindRow(ReadRows(view, BuiltinRelationById(kTable)), "table_name", GroupTable(w)),
          "table_id");
      Names paths;
      Names expected;
      for (const LakeRow& file : files) {
        if (NumberOf(file, "table_id") == table) {
          ASSERT_TRUE(paths.insert(file.at("path")).second);
        }
      }
      for (int64_t i = 1; i <= there; ++i) {
        expected.insert(StrCat(i, "-", w));
      }
      ASSERT_EQ(paths, expected);
      ASSERT_EQ(InlinedRows(view, table).size(), static_cast<size_t>(there));
      const LakeRow* const tag = FindRow(tags, "object_id", StrCat(table));
      ASSERT_EQ(tag == nullptr ? "0" : TextOf(*tag, "value"), StrCat(there));
      const LakeRow* const row = FindRow(stats, "table_id", StrCat(table));
      ASSERT_EQ(row == nullptr ? 0 : NumberOf(*row, "record_count"), there * 11);
    }
    ExpectIdsAreOnesOwn(view);
    ExpectClean(*catalog);
    ASSERT_FALSE(HasFailure()) << "in round " << round;
  }
}

// --- Killed at every failpoint -------------------------------------------------------------------

// Which child gets to the failpoints of a name that begins so.
struct FailpointWork {
  std::string_view prefix;
  const ChildBody* body;
};
const std::vector<FailpointWork>& FailpointWorks() {
  static const std::vector<FailpointWork> works = {
      {"commit/", &kCommitter},        {"gc/", &kGc},
      {"excise/", &kExciser},          {"expire/", &kExpirer},
      {"checkpoint/", &kCheckpointer}, {"import/", &kImporter},
      {"flush/", &kColumnMaker},       {"compaction/", &kColumnMaker},
  };
  return works;
}

TEST_F(Crash, KilledAtEveryFailpointACatalogIsWhole) {
  constexpr uint64_t kPasses = 3;
  SnapshotId commits = 0;
  for (const Failpoint& failpoint : kFailpoints) {
    const auto& works = FailpointWorks();
    const auto work = std::find_if(works.begin(), works.end(), [&](const FailpointWork& w) {
      return failpoint.name.starts_with(w.prefix);
    });
    ASSERT_NE(work, works.end()) << failpoint.name << " has no workload in this test";
    for (uint64_t pass = 1; pass <= kPasses; ++pass) {
      const std::string name = StrCat(failpoint.name, ":", pass);
      const Said said = RunUntilKilled(*work->body, name);
      ASSERT_EQ(said.end, -SIGKILL) << name << " was never reached";
      const SnapshotId before = commits;
      commits = CheckReopened(before, said.of(kCommitted));
      ASSERT_FALSE(HasFailure()) << "killed at " << name;
      const SnapshotId unacknowledged =
          commits - before - static_cast<SnapshotId>(said.of(kCommitted));
      if (failpoint.name == "commit/after_write") {
        EXPECT_EQ(unacknowledged, 1U) << "it was on disk";
      } else {
        EXPECT_EQ(unacknowledged, 0U) << "killed at " << name;
      }
      CheckTargets();
      FinishWhatWasBegun(failpoint.name);
      ASSERT_FALSE(HasFailure()) << "killed at " << name;
    }
  }
}

}  // namespace
}  // namespace varve
