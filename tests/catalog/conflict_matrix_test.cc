// The conflict matrix on real catalogs: every operation of a transaction after every other.
//
// Two transactions begin at the same state, theirs commits, mine commits after it. Each pair has a
// small lake of its own (struct Lake) with all that the operations need.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "catalog/transaction/transaction.h"
#include "catalog/verify/verify.h"
#include "tests/catalog/catalog_fixture.h"

namespace varve {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

// What mine (the row) must have in common with theirs (the column) to be refused:
//   .  nothing      o  the object      f  a data file, or the inlined rows, of the same table
//   n  the name     e  the object or the name     s  one drops the schema, the other it too or puts
//                                                    something into it
constexpr std::string_view kMatrix = R"(
                create drop                               inlined
                schema schema create drop rename alter insert delete delete flush compact
create_schema   n      .      .      .    .      .     .      .      .      .     .
drop_schema     .      s      s      .    s      .     .      .      .      .     .
create          .      s      n      .    n      .     .      .      .      .     .
drop            .      .      .      o    o      .     .      .      .      .     .
rename          .      s      n      o    e      o     .      .      .      .     .
alter           .      .      .      o    o      o     .      .      .      .     .
insert          .      .      .      o    o      o     .      o      o      .     .
delete          .      .      .      o    o      o     o      f      f      f     f
inlined_delete  .      .      .      o    o      o     o      f      f      f     f
flush           .      .      .      o    .      .     .      f      f      f     f
compact         .      .      .      o    .      .     .      f      f      f     f
)";

enum Kind : uint8_t {
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
  kNumKinds,
};

char Cell(Kind mine, Kind theirs) {
  static const std::vector<std::string> rows = [] {
    std::vector<std::string> cells;
    std::istringstream lines{std::string(kMatrix)};
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line.front() == ' ') {
        continue;
      }
      std::istringstream words(line);
      std::string word;
      words >> word;
      std::string& row = cells.emplace_back();
      while (words >> word) {
        row += word;
      }
    }
    return cells;
  }();
  EXPECT_EQ(rows.size(), kNumKinds);
  EXPECT_EQ(rows[mine].size(), kNumKinds);
  return rows[mine][theirs];
}

// What an operation works on, in the words of the lake. Empty: it has no such thing.
struct Act {
  Kind kind = kCreate;
  std::string object;           // "orders"
  std::string gives;            // the name it gives, lower case: "sales.fresh"
  std::string schema;           // the one it drops or puts something into: "empty"
  std::set<std::string> files;  // "f1"; "inlined" for the inlined rows
};

// One lake in the catalog: its schemas are called sales<n> and empty<n>.
struct Lake {
  std::string number;
  int64_t sales = 0;
  int64_t empty = 0;
  int64_t orders = 0;
  int64_t other = 0;
  int64_t paid = 0;                      // view
  int64_t unpaid = 0;                    // view
  int64_t scalar = 0;                    // macro
  int64_t tabular = 0;                   // table macro
  std::map<std::string, int64_t> files;  // f1 to f5 of orders, g1 of other
  std::map<std::string, int64_t> rows;   // the first row of each file
  int64_t inlined = 0;                   // the first of three inlined rows of orders
};
constexpr int64_t kRowsOfFile = 10;

struct WriteOperation {
  std::string name;
  std::vector<Act> acts;
  std::function<absl::Status(Transaction&, const Lake&)> run;
};

// No two files have one path.
std::string NewPath() {
  static int64_t files = 0;
  return StrCat("file", ++files, ".parquet");
}

DataFile NewFile(int64_t rows) {
  return {.path = NewPath(),
          .record_count = rows,
          .file_size_bytes = 100 * rows,
          .footer_size = 50,
          .columns = {{.column_id = 1, .value_count = rows, .null_count = 0}}};
}

std::vector<ColumnDefinition> Columns() {
  return {{.name = "id", .type = "int64"}, {.name = "note", .type = "varchar"}};
}
std::vector<MacroImplementation> Implementations() {
  return {{.sql = "1"}};
}

absl::Status DeleteFrom(Transaction& transaction, const Lake& lake, const std::string& file,
                        int64_t table) {
  const DeleteFile deletes = {.data_file_id = lake.files.at(file),
                              .path = NewPath(),
                              .delete_count = 2,
                              .file_size_bytes = 20,
                              .footer_size = 5};
  return transaction.RegisterDeleteFiles(table, {{deletes}}).status();
}

absl::Status Merge(Transaction& transaction, const Lake& lake, const std::string& a,
                   const std::string& b) {
  const int64_t sources[] = {lake.files.at(a), lake.files.at(b)};
  DataFile merged = NewFile(2 * kRowsOfFile);
  merged.row_id_start = lake.rows.at(a);
  return transaction.MergeFiles(lake.orders, sources, merged).status();
}

absl::Status DeleteInlinedFrom(Transaction& transaction, const Lake& lake,
                               const std::string& file) {
  const int64_t row[] = {1};
  return transaction.DeleteFromFile(lake.orders, lake.files.at(file), row);
}

// Every operation, most of them on two objects or two sets of files.
const std::vector<WriteOperation>& Operations() {
  using T = Transaction;
  static const std::vector<WriteOperation> operations = {
      {"create schema fresh",
       {{.kind = kCreateSchema, .gives = "schema fresh"}},
       [](T& t, const Lake& l) { return t.CreateSchema("fresh" + l.number).status(); }},
      {"create schema FRESH",
       {{.kind = kCreateSchema, .gives = "schema fresh"}},
       [](T& t, const Lake& l) { return t.CreateSchema("FRESH" + l.number).status(); }},
      {"create schema news",
       {{.kind = kCreateSchema, .gives = "schema news"}},
       [](T& t, const Lake& l) { return t.CreateSchema("news" + l.number).status(); }},
      {"drop schema empty",
       {{.kind = kDropSchema, .schema = "empty"}},
       [](T& t, const Lake& l) { return t.DropSchema(l.empty); }},

      {"create table sales.Fresh",
       {{.kind = kCreate, .gives = "sales.fresh", .schema = "sales"}},
       [](T& t, const Lake& l) { return t.CreateTable(l.sales, "Fresh", Columns()).status(); }},
      {"create table empty.Orders",
       {{.kind = kCreate, .gives = "empty.orders", .schema = "empty"}},
       [](T& t, const Lake& l) { return t.CreateTable(l.empty, "Orders", Columns()).status(); }},
      {"create view sales.fresh",
       {{.kind = kCreate, .gives = "sales.fresh", .schema = "sales"}},
       [](T& t, const Lake& l) {
         return t.CreateView(l.sales, "fresh", {.sql = "SELECT 1"}).status();
       }},
      {"create view empty.fresh",
       {{.kind = kCreate, .gives = "empty.fresh", .schema = "empty"}},
       [](T& t, const Lake& l) {
         return t.CreateView(l.empty, "fresh", {.sql = "SELECT 1"}).status();
       }},
      {"create macro sales.fresh",
       {{.kind = kCreate, .gives = "macro sales.fresh", .schema = "sales"}},
       [](T& t, const Lake& l) {
         return t.CreateMacro(l.sales, "fresh", MacroKind::kScalar, Implementations()).status();
       }},
      {"create table macro sales.FRESH",
       {{.kind = kCreate, .gives = "macro sales.fresh", .schema = "sales"}},
       [](T& t, const Lake& l) {
         return t.CreateMacro(l.sales, "FRESH", MacroKind::kTable, Implementations()).status();
       }},
      {"create macro empty.orders",
       {{.kind = kCreate, .gives = "macro empty.orders", .schema = "empty"}},
       [](T& t, const Lake& l) {
         return t.CreateMacro(l.empty, "orders", MacroKind::kScalar, Implementations()).status();
       }},

      {"rename table orders to fresh",
       {{.kind = kRename, .object = "orders", .gives = "sales.fresh", .schema = "sales"}},
       [](T& t, const Lake& l) { return t.RenameTable(l.orders, "fresh"); }},
      {"rename table other to fresh",
       {{.kind = kRename, .object = "other", .gives = "sales.fresh", .schema = "sales"}},
       [](T& t, const Lake& l) { return t.RenameTable(l.other, "fresh"); }},
      {"rename table orders to ORDERS",
       {{.kind = kRename, .object = "orders", .gives = "sales.orders", .schema = "sales"}},
       [](T& t, const Lake& l) { return t.RenameTable(l.orders, "ORDERS"); }},
      {"move table orders to empty",
       {{.kind = kRename, .object = "orders", .gives = "empty.orders", .schema = "empty"}},
       [](T& t, const Lake& l) { return t.MoveTable(l.orders, l.empty); }},
      {"rename view paid to FRESH",
       {{.kind = kRename, .object = "paid", .gives = "sales.fresh", .schema = "sales"}},
       [](T& t, const Lake& l) { return t.RenameView(l.paid, "FRESH"); }},
      {"rename view unpaid to open",
       {{.kind = kRename, .object = "unpaid", .gives = "sales.open", .schema = "sales"}},
       [](T& t, const Lake& l) { return t.RenameView(l.unpaid, "open"); }},

      {"drop table orders",
       {{.kind = kDrop, .object = "orders"}},
       [](T& t, const Lake& l) { return t.DropTable(l.orders); }},
      {"drop table other",
       {{.kind = kDrop, .object = "other"}},
       [](T& t, const Lake& l) { return t.DropTable(l.other); }},
      {"drop view paid",
       {{.kind = kDrop, .object = "paid"}},
       [](T& t, const Lake& l) { return t.DropView(l.paid); }},
      {"drop macro scalar",
       {{.kind = kDrop, .object = "scalar"}},
       [](T& t, const Lake& l) { return t.DropMacro(l.scalar); }},
      {"drop macro tabular",
       {{.kind = kDrop, .object = "tabular"}},
       [](T& t, const Lake& l) { return t.DropMacro(l.tabular); }},

      {"add a column to orders",
       {{.kind = kAlter, .object = "orders"}},
       [](T& t, const Lake& l) {
         return t.AddColumn(l.orders, {.name = "added", .type = "int32"}).status();
       }},
      {"drop a column of orders",
       {{.kind = kAlter, .object = "orders"}},
       [](T& t, const Lake& l) { return t.DropColumn(l.orders, 2); }},
      {"rename a column of other",
       {{.kind = kAlter, .object = "other"}},
       [](T& t, const Lake& l) { return t.RenameColumn(l.other, 1, "number"); }},
      {"tag table orders",
       {{.kind = kAlter, .object = "orders"}},
       [](T& t, const Lake& l) { return t.SetTag(l.orders, "comment", "a tag"); }},
      {"tag a column of orders",
       {{.kind = kAlter, .object = "orders"}},
       [](T& t, const Lake& l) { return t.SetColumnTag(l.orders, 1, "comment", "a tag"); }},
      {"partition orders",
       {{.kind = kAlter, .object = "orders"}},
       [](T& t, const Lake& l) {
         return t.SetPartitioning(l.orders, {{{.column_id = 1, .transform = "bucket(4)"}}});
       }},
      {"sort orders",
       {{.kind = kAlter, .object = "orders"}},
       [](T& t, const Lake& l) { return t.SetSortOrder(l.orders, {{{.expression = "id"}}}); }},
      {"tag view paid",
       {{.kind = kAlter, .object = "paid"}},
       [](T& t, const Lake& l) { return t.SetTag(l.paid, "comment", "a tag"); }},

      {"append to orders",
       {{.kind = kInsert, .object = "orders"}},
       [](T& t, const Lake& l) { return t.RegisterDataFiles(l.orders, {{NewFile(5)}}).status(); }},
      {"insert into orders inline",
       {{.kind = kInsert, .object = "orders"}},
       [](T& t, const Lake& l) {
         return t.InsertInlined(l.orders, {{{"7", "new"}}}).status();
       }},
      {"insert into other inline",
       {{.kind = kInsert, .object = "other"}},
       [](T& t, const Lake& l) {
         return t.InsertInlined(l.other, {{{"7", "new"}}}).status();
       }},

      {"delete from f1",
       {{.kind = kDelete, .object = "orders", .files = {"f1"}}},
       [](T& t, const Lake& l) { return DeleteFrom(t, l, "f1", l.orders); }},
      {"delete from f3",
       {{.kind = kDelete, .object = "orders", .files = {"f3"}}},
       [](T& t, const Lake& l) { return DeleteFrom(t, l, "f3", l.orders); }},
      {"delete more from f5",
       {{.kind = kDelete, .object = "orders", .files = {"f5"}}},
       [](T& t, const Lake& l) { return DeleteFrom(t, l, "f5", l.orders); }},
      {"delete from g1 of other",
       {{.kind = kDelete, .object = "other", .files = {"g1"}}},
       [](T& t, const Lake& l) { return DeleteFrom(t, l, "g1", l.other); }},
      {"end f1 and f5",
       {{.kind = kDelete, .object = "orders", .files = {"f1", "f5"}}},
       [](T& t, const Lake& l) {
         const int64_t files[] = {l.files.at("f1"), l.files.at("f5")};
         return t.EndDataFiles(l.orders, files);
       }},
      {"delete inlined rows",
       {{.kind = kInlinedDelete, .object = "orders", .files = {"inlined"}}},
       [](T& t, const Lake& l) {
         const int64_t rows[] = {l.inlined + 1};
         return t.DeleteInlined(l.orders, rows);
       }},
      {"update an inlined row",
       {{.kind = kInsert, .object = "orders"},
        {.kind = kInlinedDelete, .object = "orders", .files = {"inlined"}}},
       [](T& t, const Lake& l) {
         return t.UpdateInlined(l.orders, l.inlined, {"1", "changed"});
       }},
      {"delete from f1 inline",
       {{.kind = kInlinedDelete, .object = "orders", .files = {"f1"}}},
       [](T& t, const Lake& l) { return DeleteInlinedFrom(t, l, "f1"); }},
      {"delete from f4 inline",
       {{.kind = kInlinedDelete, .object = "orders", .files = {"f4"}}},
       [](T& t, const Lake& l) { return DeleteInlinedFrom(t, l, "f4"); }},

      {"flush orders",
       {{.kind = kFlush, .object = "orders", .files = {"inlined"}}},
       [](T& t, const Lake& l) {
         DataFile file = NewFile(3);
         file.row_id_start = l.inlined;
         return t.FlushInlined(l.orders, file, std::nullopt).status();
       }},
      {"merge f1 and f2",
       {{.kind = kCompact, .object = "orders", .files = {"f1", "f2"}}},
       [](T& t, const Lake& l) { return Merge(t, l, "f1", "f2"); }},
      {"merge f3 and f4",
       {{.kind = kCompact, .object = "orders", .files = {"f3", "f4"}}},
       [](T& t, const Lake& l) { return Merge(t, l, "f3", "f4"); }},
      {"rewrite f5",
       {{.kind = kCompact, .object = "orders", .files = {"f5"}}},
       [](T& t, const Lake& l) {
         DataFile rewritten = NewFile(kRowsOfFile - 1);
         rewritten.row_id_start = l.rows.at("f5");
         return t.RewriteFile(l.orders, l.files.at("f5"), rewritten).status();
       }},
  };
  return operations;
}

// What refuses mine after theirs, as its error must name it: the object, the name it gives, or the
// schema. nullopt: both commit. `theirs_drops`: because it is gone.
struct Expected {
  std::string name;
  bool name_taken = false;
  bool dropped = false;
};
std::optional<Expected> ExpectedConflict(const WriteOperation& mine, const WriteOperation& theirs) {
  for (const Act& a : mine.acts) {
    for (const Act& b : theirs.acts) {
      const char cell = Cell(a.kind, b.kind);
      const bool same_object = !a.object.empty() && a.object == b.object;
      const bool same_name = !a.gives.empty() && a.gives == b.gives;
      const bool same_file = std::any_of(a.files.begin(), a.files.end(),
                                         [&](const auto& file) { return b.files.contains(file); });
      if (((cell == 'o' || cell == 'e') && same_object) ||
          (cell == 'f' && same_object && same_file)) {
        return Expected{.name = a.object, .dropped = b.kind == kDrop};
      }
      if ((cell == 'n' || cell == 'e') && same_name) {
        return Expected{.name = a.gives.substr(a.gives.find_last_of(". ") + 1), .name_taken = true};
      }
      if (cell == 's' && !a.schema.empty() && a.schema == b.schema) {
        return Expected{.name = a.schema, .dropped = b.kind == kDropSchema};
      }
    }
  }
  return std::nullopt;
}

class ConflictMatrix : public CatalogFixture {
 protected:
  void SetUp() override {}

  // Calls `visit` for each operation after each, with a lake that is theirs alone. A catalog holds
  // the lakes of some operations of mine, and is verified in the end.
  void VisitPairs(const std::function<void(const WriteOperation& mine, const WriteOperation& theirs,
                                           const Lake&)>& visit) {
    constexpr size_t kOperationsOfACatalog = 12;
    const std::vector<WriteOperation>& operations = Operations();
    for (size_t i = 0; i < operations.size(); ++i) {
      if (i % kOperationsOfACatalog == 0) {
        ASSERT_NO_FATAL_FAILURE(NewCatalog());
      }
      ASSERT_NO_FATAL_FAILURE(MakeLakes(operations.size()));
      for (size_t j = 0; j < operations.size(); ++j) {
        SCOPED_TRACE(StrCat(operations[i].name, " after ", operations[j].name));
        ASSERT_NO_FATAL_FAILURE(visit(operations[i], operations[j], lakes_[j]));
      }
      if ((i + 1) % kOperationsOfACatalog == 0 || i + 1 == operations.size()) {
        VerifyCatalog();
      }
    }
  }

  void NewCatalog() {
    catalog_.reset();
    std::filesystem::remove_all(path());
    CopyNewCatalog(path());
    Reopen({.sync = SyncMode::kOff});
  }

  Transaction Begin() {
    absl::StatusOr<Transaction> transaction = catalog_->Begin();
    EXPECT_TRUE(transaction.ok()) << transaction.status();
    return *std::move(transaction);
  }

 private:
  void MakeLakes(size_t count) {
    lakes_.clear();
    for (size_t i = 0; i < count; ++i) {
      lakes_.push_back({.number = std::to_string(++last_number_)});
    }
    ASSERT_NO_FATAL_FAILURE(MakeObjects());
    ASSERT_NO_FATAL_FAILURE(MakeRows());
  }

  void VerifyCatalog() {
    const auto summary = Verify(catalog_->Current(), {}, [](const Finding& finding) {
      if (finding.severity == Severity::kError) {
        ADD_FAILURE() << finding.relation << " " << finding.key << ": " << finding.rule << ", "
                      << finding.message;
      }
    });
    ASSERT_TRUE(summary.ok()) << summary.status();
  }

  template <typename Value>
  static void Keep(absl::StatusOr<Value> made, Value* kept) {
    ASSERT_TRUE(made.ok()) << made.status();
    *kept = *std::move(made);
  }
  template <typename... Ids>
  static void ResolveAll(const CommitResult& result, Ids*... ids) {
    ((*ids = result.Resolve(*ids)), ...);
  }

  void MakeObjects() {
    Transaction t = Begin();
    for (Lake& lake : lakes_) {
      Keep(t.CreateSchema("sales" + lake.number), &lake.sales);
      Keep(t.CreateSchema("empty" + lake.number), &lake.empty);
      Keep(t.CreateTable(lake.sales, "orders", Columns()), &lake.orders);
      Keep(t.CreateTable(lake.sales, "other", Columns()), &lake.other);
      Keep(t.CreateView(lake.sales, "paid", {.sql = "SELECT 1"}), &lake.paid);
      Keep(t.CreateView(lake.sales, "unpaid", {.sql = "SELECT 1"}), &lake.unpaid);
      Keep(t.CreateMacro(lake.sales, "scalar", MacroKind::kScalar, Implementations()),
           &lake.scalar);
      Keep(t.CreateMacro(lake.sales, "tabular", MacroKind::kTable, Implementations()),
           &lake.tabular);
    }
    CommitResult result;
    ASSERT_NO_FATAL_FAILURE(Keep(t.Commit(), &result));
    for (Lake& lake : lakes_) {
      ResolveAll(result, &lake.sales, &lake.empty, &lake.orders, &lake.other, &lake.paid,
                 &lake.unpaid, &lake.scalar, &lake.tabular);
    }
  }

  // Files f1 to f5, the last with a delete file, three inlined rows; g1 in the other table.
  void MakeRows() {
    Transaction t = Begin();
    for (Lake& lake : lakes_) {
      std::vector<DataFile> files;
      for (int i = 1; i <= 5; ++i) {
        files.push_back(NewFile(kRowsOfFile));
      }
      std::vector<int64_t> ids;
      Keep(t.RegisterDataFiles(lake.orders, files), &ids);
      ASSERT_EQ(ids.size(), files.size());
      for (size_t i = 0; i < ids.size(); ++i) {
        lake.files[StrCat("f", i + 1)] = ids[i];
        lake.rows[StrCat("f", i + 1)] = static_cast<int64_t>(i) * kRowsOfFile;
      }
      Keep(t.RegisterDataFiles(lake.other, {{NewFile(kRowsOfFile)}}), &ids);
      ASSERT_EQ(ids.size(), 1U);
      lake.files["g1"] = ids[0];
      lake.rows["g1"] = 0;
      Keep(t.InsertInlined(lake.orders, {{{"1", "one"}, {"2", "two"}, {"3", std::nullopt}}}),
           &lake.inlined);
    }
    CommitResult result;
    ASSERT_NO_FATAL_FAILURE(Keep(t.Commit(), &result));
    Transaction deletes = Begin();
    for (Lake& lake : lakes_) {
      for (auto& [name, id] : lake.files) {
        id = result.Resolve(id);
      }
      lake.inlined = result.Resolve(lake.inlined, lake.orders);
      const absl::Status deleted = DeleteFrom(deletes, lake, "f5", lake.orders);
      ASSERT_TRUE(deleted.ok()) << deleted;
    }
    ASSERT_NO_FATAL_FAILURE(Keep(deletes.Commit(), &result));
  }

  std::vector<Lake> lakes_;
  int last_number_ = 0;
};

TEST_F(ConflictMatrix, MineAfterTheirs) {
  int refused = 0;
  int followed = 0;
  std::set<std::string> compared;
  VisitPairs([&](const WriteOperation& mine, const WriteOperation& theirs, const Lake& lake) {
    Transaction my_transaction = Begin();
    Transaction their_transaction = Begin();
    absl::Status run = mine.run(my_transaction, lake);
    ASSERT_TRUE(run.ok()) << run;
    run = theirs.run(their_transaction, lake);
    ASSERT_TRUE(run.ok()) << run;
    const absl::StatusOr<CommitResult> won = their_transaction.Commit();
    ASSERT_TRUE(won.ok()) << won.status();
    const std::optional<Expected> expected = ExpectedConflict(mine, theirs);
    // All rows once for a kind of operation; each time that nothing was written.
    const bool compare = expected.has_value() && compared.insert(mine.name.substr(0, 4)).second;
    const std::vector<std::string> everything = compare ? Everything() : std::vector<std::string>();
    const absl::StatusOr<CommitResult> result = my_transaction.Commit();
    EXPECT_FALSE(my_transaction.is_open());
    const ReadView after = catalog_->Current();
    if (!expected.has_value()) {
      ++followed;
      ASSERT_TRUE(result.ok()) << result.status();
      EXPECT_EQ(result->snapshot, won->snapshot + 1);
      EXPECT_EQ(after.last_snapshot(), result->snapshot);
      return;
    }
    ++refused;
    ASSERT_EQ(result.status().code(), absl::StatusCode::kAborted) << result.status();
    const std::string message(MessageOf(result.status()));
    EXPECT_THAT(message, HasSubstr("conflict"));
    EXPECT_THAT(AsciiStrToLower(message), HasSubstr(expected->name));
    EXPECT_THAT(message, HasSubstr(StrCat("snapshot ", won->snapshot)));
    EXPECT_EQ(after.csn(), won->csn);
    EXPECT_EQ(after.last_snapshot(), won->snapshot);
    if (compare) {
      EXPECT_EQ(Everything(), everything);
    }
    // It has ended: it takes nothing more and commits nothing.
    EXPECT_EQ(mine.run(my_transaction, lake).code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(my_transaction.Commit().status().code(), absl::StatusCode::kFailedPrecondition);
  });
  EXPECT_GT(refused, 200);
  EXPECT_GT(followed, 1000);
}

TEST_F(ConflictMatrix, ARetrySeesWhatTheWinnerDid) {
  VisitPairs([&](const WriteOperation& mine, const WriteOperation& theirs, const Lake& lake) {
    int attempts = 0;
    const absl::StatusOr<CommitResult> result =
        RunInTransaction(catalog_.get(),
                         [&](Transaction& my_transaction) -> absl::Status {
                           if (++attempts == 1) {
                             Transaction their_transaction = Begin();
                             const absl::Status run = theirs.run(their_transaction, lake);
                             EXPECT_TRUE(run.ok()) << run;
                             const absl::StatusOr<CommitResult> won = their_transaction.Commit();
                             EXPECT_TRUE(won.ok()) << won.status();
                           }
                           return mine.run(my_transaction, lake);
                         },
                         {}, {.max_retries = 3, .first_wait = absl::ZeroDuration()});
    const std::optional<Expected> expected = ExpectedConflict(mine, theirs);
    EXPECT_EQ(attempts, expected.has_value() ? 2 : 1);
    if (!expected.has_value()) {
      EXPECT_TRUE(result.ok()) << result.status();
    } else if (expected->name_taken) {
      EXPECT_EQ(result.status().code(), absl::StatusCode::kAlreadyExists) << result.status();
    } else if (expected->dropped) {
      EXPECT_EQ(result.status().code(), absl::StatusCode::kNotFound) << result.status();
    } else {
      // It commits, unless theirs made what mine asks for, or took away what it works on.
      EXPECT_THAT(result.status().code(),
                  AnyOf(absl::StatusCode::kOk, absl::StatusCode::kNotFound,
                        absl::StatusCode::kAlreadyExists, absl::StatusCode::kFailedPrecondition,
                        absl::StatusCode::kInvalidArgument))
          << result.status();
    }
  });
}

// They make no snapshot, so they are not in the matrix: they meet in the option itself.
TEST_F(ConflictMatrix, OptionsConflictOnlyWithTheSameOption) {
  NewCatalog();
  const auto set = [](Transaction& transaction, std::string_view key, std::string_view value) {
    const absl::Status status =
        transaction.SetOption(OptionScope::kGlobal, 0, key, std::string(value));
    EXPECT_TRUE(status.ok()) << status;
  };
  Transaction one = Begin();
  Transaction same = Begin();
  Transaction other = Begin();
  set(one, "target_file_size", "100MB");
  set(same, "target_file_size", "200MB");
  set(other, "parquet_compression", "zstd");
  EXPECT_TRUE(one.Commit().ok());
  EXPECT_TRUE(other.Commit().ok());
  const absl::Status refused = same.Commit().status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kAborted) << refused;
  EXPECT_THAT(std::string(MessageOf(refused)),
              AllOf(HasSubstr("conflict"), HasSubstr("target_file_size")));
}

// Else the last one to commit would find its option as someone else set it.
TEST_F(ConflictMatrix, AnOptionSetToWhatItIsConflictsLikeAnyOther) {
  const auto set = [](Transaction& transaction, const NullableText& value) {
    const absl::Status status =
        transaction.SetOption(OptionScope::kGlobal, 0, "target_file_size", value);
    EXPECT_TRUE(status.ok()) << status;
  };
  for (const NullableText& theirs : {NullableText("200MB"), NullableText()}) {
    NewCatalog();
    Transaction before = Begin();
    set(before, "100MB");
    ASSERT_TRUE(before.Commit().ok());
    Transaction same = Begin();
    Transaction other = Begin();
    set(same, "100MB");
    set(other, theirs);
    EXPECT_TRUE(other.Commit().ok());
    const absl::Status refused = same.Commit().status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kAborted) << refused;
    EXPECT_THAT(std::string(MessageOf(refused)),
                AllOf(HasSubstr("conflict"), HasSubstr("target_file_size")));
  }
}

}  // namespace
}  // namespace varve
