#include "catalog/inspect/listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "base/strings.h"
#include "catalog/inspect/object_names.h"
#include "catalog/inspect/row_reader.h"
#include "tests/catalog/interchange_fixtures.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

template <typename T>
T Must(absl::StatusOr<T> result) {
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : T();
}

class ListingOfSmallCatalog : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    place = new TemporaryDirectory();
    catalog = ImportAndOpen("csv:" + SmallCatalogDirectory(), *place / "catalog").release();
    ASSERT_NE(catalog, nullptr);
  }
  static void TearDownTestSuite() {
    delete catalog;
    delete place;
  }

  static ReadView At(SnapshotId snapshot) {
    absl::StatusOr<ReadView> view = catalog->At(snapshot);
    EXPECT_TRUE(view.ok()) << view.status();
    return view.ok() ? *std::move(view) : catalog->Current();
  }

  static Catalog* catalog;
  static TemporaryDirectory* place;
};

Catalog* ListingOfSmallCatalog::catalog = nullptr;
TemporaryDirectory* ListingOfSmallCatalog::place = nullptr;

// Rows of each table as the real client counted them, at the snapshots where the number changed;
// "-": the table is gone. From expected_contents.csv of the corpus the catalog comes from.
constexpr std::string_view kRowsByClient = R"(
sales.customers 4:0 11:3 15:493 17:492 23:493 91:495 93:489
sales.orders 5:0 13:5000 14:8000 19:7840 20:7680 29:-
hr.people 6:0 12:2 33:32
main.all_types 7:0 11:2
Mixed Case.Odd "Table" 'name' 8:0 11:2
sales.purchases 29:7680
main.tmp1 48:0 52:2 53:0 54:100
sales.events 55:0 57:20000 59:20200
sales.sorted 61:0 63:1000
main.many 64:0 65:10 66:20 67:30 68:40 69:38 79:58 80:68 81:67
hr.depts 70:2 75:3
hr.copy 72:2 82:-
hr.nested 73:0 74:1 87:0
gone.t 84:0 85:-
main.last 88:0 89:50
)";

// table -> snapshot -> rows from there on; nullopt: gone.
std::map<std::string, std::map<SnapshotId, std::optional<int64_t>>> RowsByClient() {
  std::map<std::string, std::map<SnapshotId, std::optional<int64_t>>> tables;
  std::istringstream text{std::string(kRowsByClient)};
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string table;
    for (std::string word; words >> word;) {
      const size_t colon = word.find(':');
      if (colon == std::string::npos) {
        StrAppend(&table, table.empty() ? "" : " ", word);
      } else {
        tables[table][std::stoull(word.substr(0, colon))] =
            word.ends_with('-') ? std::nullopt
                                : std::optional<int64_t>(std::stoll(word.substr(colon + 1)));
      }
    }
  }
  return tables;
}

// Ids of tables that have a merged file at the view's snapshot which may hold rows or deletes of
// later ones. (The deletes of a flushed file are in one delete file, whatever snapshots they belong
// to.)
std::set<int64_t> TablesWithPartialFiles(const ReadView& view) {
  std::set<int64_t> tables;
  for (const RelationId relation : {kDataFile, kDeleteFile}) {
    const absl::Status status =
        ForEachRow(view, relation, {"table_id", "partial_max"}, {}, [&](const RowReader& row) {
          if (row.Int(1, -1) >= static_cast<int64_t>(view.snapshot())) {
            tables.insert(row.Int(0));
          }
        });
    EXPECT_TRUE(status.ok()) << status;
  }
  return tables;
}

TEST_F(ListingOfSmallCatalog, TablesHaveTheRowsTheClientCounted) {
  const auto expected = RowsByClient();
  ASSERT_THAT(expected, SizeIs(15));
  int compared = 0;
  int partial = 0;
  const absl::Status status = ForEachRow(
      catalog->Current(), kSnapshot, {"snapshot_id"}, {}, [&](const RowReader& snapshot) {
        const ReadView view = At(static_cast<SnapshotId>(snapshot.Int(0)));
        const absl::StatusOr<ObjectNames> names = ObjectNames::Load(view);
        ASSERT_TRUE(names.ok()) << names.status();
        const std::set<int64_t> inexact = TablesWithPartialFiles(view);
        std::set<std::string> skipped;
        for (const TableName& table : names->tables()) {
          if (inexact.contains(table.id)) {
            skipped.insert(StrCat(table.schema, ".", table.name));
          }
        }
        const absl::StatusOr<std::vector<TableListing>> tables = ListTables(view, "");
        ASSERT_TRUE(tables.ok()) << tables.status();
        std::map<std::string, int64_t> rows;
        for (const TableListing& table : *tables) {
          rows[StrCat(table.schema, ".", table.name)] = table.rows;
        }
        for (const auto& [table, history] : expected) {
          const auto after = history.upper_bound(view.snapshot());
          const std::optional<int64_t> count =
              after == history.begin() ? std::nullopt : std::prev(after)->second;
          ASSERT_EQ(rows.contains(table), count.has_value()) << table << " at " << view.snapshot();
          if (skipped.contains(table)) {
            ++partial;
          } else if (count.has_value()) {
            ++compared;
            EXPECT_EQ(rows[table], *count) << table << " at " << view.snapshot();
          }
        }
      });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(compared + partial, 618);
  EXPECT_GT(compared, 590);
}

TEST_F(ListingOfSmallCatalog, TablesCountColumnsFilesAndBytes) {
  const absl::StatusOr<std::vector<TableListing>> tables = ListTables(catalog->Current(), "SALES");
  ASSERT_TRUE(tables.ok()) << tables.status();
  std::vector<std::string> lines;
  for (const TableListing& t : *tables) {
    lines.push_back(StrCat(t.schema, ".", t.name, " ", t.columns, " columns ", t.files, " files ",
                           t.rows, " rows ", t.bytes, " bytes"));
  }
  EXPECT_THAT(lines, ElementsAre("sales.customers 6 columns 3 files 489 rows 15530 bytes",
                                 "sales.events 3 columns 13 files 20200 rows 227787 bytes",
                                 "sales.purchases 5 columns 1 files 7680 rows 83957 bytes",
                                 "sales.sorted 2 columns 1 files 1000 rows 8372 bytes"));
}

TEST_F(ListingOfSmallCatalog, SchemasHavePathsAndCounts) {
  const absl::StatusOr<std::vector<SchemaListing>> schemas = ListSchemas(At(84), "");
  ASSERT_TRUE(schemas.ok()) << schemas.status();
  std::vector<std::string> lines;
  for (const SchemaListing& s : *schemas) {
    lines.push_back(StrCat(s.name, " ", s.path, " ", s.tables, " ", s.views));
  }
  EXPECT_THAT(lines,
              ElementsAre("Mixed Case /srv/lake/small/01a22b99-c17f-790f-be6e-29f9dc7ba9bd/ 1 0",
                          "gone /srv/lake/small/gone/ 1 0", "hr /srv/lake/small/hr/ 3 0",
                          "main /srv/lake/small/main/ 3 1", "sales /srv/lake/small/sales/ 4 0"));
  EXPECT_THAT(Must(ListSchemas(At(84), "hr")), SizeIs(1));
}

TEST_F(ListingOfSmallCatalog, ColumnsOfNestedTypesAreComposed) {
  const absl::StatusOr<std::vector<ColumnListing>> columns = ListColumns(At(33), "hr.people");
  ASSERT_TRUE(columns.ok()) << columns.status();
  std::vector<std::string> lines;
  for (const ColumnListing& c : *columns) {
    lines.push_back(StrCat(c.name, " ", c.type, c.nullable == false ? " not null" : "",
                           c.default_value.has_value() ? " default " : "",
                           c.default_value.value_or("")));
  }
  EXPECT_THAT(
      lines,
      ElementsAre(
          "id int32", "first varchar", "last varchar", "tags varchar[]", "tags.element varchar",
          "addr struct(road varchar, geo struct(lat float64, lon float64), country varchar)",
          "addr.road varchar not null", "addr.geo struct(lat float64, lon float64)",
          "addr.geo.lat float64", "addr.geo.lon float64",
          "addr.country varchar not null default AT", "attrs map(varchar, int32)",
          "attrs.key varchar", "attrs.value int32"));
}

TEST_F(ListingOfSmallCatalog, ColumnsAreThoseOfTheSnapshot) {
  const auto names_at = [&](SnapshotId snapshot) {
    std::vector<std::string> names;
    for (const ColumnListing& c : Must(ListColumns(At(snapshot), "customers"))) {
      names.push_back(StrCat(c.name, " ", c.type));
    }
    return StrJoin(names, ", ");
  };
  EXPECT_EQ(
      names_at(22),
      "id int32, name varchar, email varchar, balance decimal(12,2), created timestamp, phone "
      "varchar, score int32");
  EXPECT_EQ(
      names_at(28),
      "id int32, name varchar, mail varchar, balance decimal(12,2), phone varchar, score int64");
}

TEST_F(ListingOfSmallCatalog, ViewsAndMacrosAreThoseOfTheSnapshot) {
  const absl::StatusOr<std::vector<ViewListing>> views = ListViews(At(40), "");
  ASSERT_TRUE(views.ok()) << views.status();
  ASSERT_THAT(*views, SizeIs(2));
  EXPECT_EQ((*views)[0].name, "v2");
  EXPECT_EQ((*views)[0].column_aliases, "\"x\",\"y\"");
  EXPECT_EQ((*views)[1].schema, "sales");
  EXPECT_EQ((*views)[1].sql, "SELECT * FROM sales.purchases WHERE (status = 'paid')");
  EXPECT_EQ((*views)[1].column_aliases, std::nullopt);

  const auto macros_at = [&](SnapshotId snapshot) {
    std::vector<std::string> lines;
    for (const MacroListing& m : Must(ListMacros(At(snapshot), ""))) {
      lines.push_back(StrCat(m.schema, ".", m.name, "(", m.parameters, ") ", m.kind, " ", m.sql));
    }
    return lines;
  };
  EXPECT_THAT(macros_at(43), IsEmpty());
  EXPECT_THAT(macros_at(45), ElementsAre("main.addp(a, b := 5) scalar (a + b)",
                                         "main.tm(n) table SELECT * FROM \"range\"(n) AS t(k)"));
  EXPECT_THAT(macros_at(93), ElementsAre("main.addp(a, b := 6) scalar (a + b)",
                                         "main.addp(a, b, c) scalar ((a + b) + c)"));
  EXPECT_THAT(Must(ListMacros(At(93), "sales")), IsEmpty());
}

std::vector<FileListing> FilesOf(const ReadView& view, std::string_view name) {
  std::vector<FileListing> files;
  const absl::Status status = ListFiles(view, name, [&](const FileListing& file) {
    files.push_back(file);
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  return files;
}

TEST_F(ListingOfSmallCatalog, FilesHavePartitionsByColumnNameAndTransform) {
  const std::vector<FileListing> files = FilesOf(At(59), "sales.events");
  ASSERT_THAT(files, SizeIs(13));
  EXPECT_THAT(files[0].path, HasSubstr("/srv/lake/small/sales/events/region=eu/year=2023/"));
  EXPECT_EQ(files[0].partition, "region=eu, year(ts)=2023");
  EXPECT_EQ(files[0].rows, 1712);
  EXPECT_EQ(files[0].begin, 57U);
  EXPECT_EQ(files[2].partition, "region=NULL, year(ts)=2023");
  EXPECT_EQ(files[9].partition, "bucket(4, v)=0");
}

TEST_F(ListingOfSmallCatalog, FilesCountDeletesOfBothKinds) {
  const std::vector<FileListing> files = FilesOf(At(93), "customers");
  ASSERT_THAT(files, SizeIs(3));
  int64_t deletes = 0;
  for (const FileListing& file : files) {
    deletes += file.deletes;
  }
  EXPECT_EQ(deletes, 8);  // a delete file of 2, and 6 in ducklake_inlined_delete_4
  int64_t of_files = 0;
  for (const FileListing& file : FilesOf(At(93), "main.many")) {
    of_files += file.deletes;
  }
  EXPECT_EQ(of_files, 3);  // three delete files
}

TEST_F(ListingOfSmallCatalog, FilesOfASchemaOrOfAll) {
  EXPECT_THAT(FilesOf(At(93), "sales"), SizeIs(18));
  EXPECT_THAT(FilesOf(At(93), ""), SizeIs(26));
  EXPECT_THAT(FilesOf(At(93), "\"Mixed Case\".\"Odd \"\"Table\"\" 'name'\""), IsEmpty());
}

TEST_F(ListingOfSmallCatalog, TheVisitorsErrorEndsTheWalk) {
  int visited = 0;
  const absl::Status status = ListFiles(catalog->Current(), "", [&](const FileListing&) {
    ++visited;
    return absl::CancelledError("enough");
  });
  EXPECT_EQ(status.message(), "enough");
  EXPECT_EQ(visited, 1);
}

class NamesOfSmallCatalog : public ListingOfSmallCatalog {
 protected:
  // The tables a name stands for, or the error.
  static std::string Select(std::string_view name) {
    const ReadView view = At(93);
    const absl::StatusOr<ObjectNames> names = ObjectNames::Load(view);
    const absl::StatusOr<std::vector<const TableName*>> tables = names->SelectTables(name);
    if (!tables.ok()) {
      return std::string(MessageOf(tables.status()));
    }
    std::vector<std::string> selected;
    for (const TableName* table : *tables) {
      selected.push_back(StrCat(table->schema, "/", table->name));
    }
    return StrJoin(selected, " ");
  }
};

TEST_F(NamesOfSmallCatalog, AreFoundInAnyCaseQuotedOrNot) {
  EXPECT_EQ(Select("customers"), "sales/customers");
  EXPECT_EQ(Select("Sales.CUSTOMERS"), "sales/customers");
  EXPECT_EQ(Select("\"sales\".\"customers\""), "sales/customers");
  EXPECT_EQ(Select("\"Mixed Case\".\"Odd \"\"Table\"\" 'name'\""),
            "Mixed Case/Odd \"Table\" 'name'");
  EXPECT_EQ(Select("mixed case.odd \"table\" 'name'"), "Mixed Case/Odd \"Table\" 'name'");
}

TEST_F(NamesOfSmallCatalog, OfASchemaStandForItsTables) {
  EXPECT_EQ(Select("hr"), "hr/depts hr/nested hr/people");
  EXPECT_EQ(Select("gone"), "");
}

TEST_F(NamesOfSmallCatalog, ThatAreUnknownGetASuggestion) {
  EXPECT_EQ(Select("custmers"),
            "there is no table 'custmers' at this snapshot; did you mean 'customers'?");
  EXPECT_EQ(
      Select("sales.cusotmers"),
      "there is no table 'sales.cusotmers' at this snapshot; did you mean 'sales.customers'?");
  EXPECT_EQ(Select("nothing.like.it"), "there is no table 'nothing.like.it' at this snapshot");
  const absl::Status schema = ListTables(At(93), "slaes").status();
  EXPECT_TRUE(absl::IsNotFound(schema));
  EXPECT_EQ(MessageOf(schema),
            "there is no schema 'slaes' at this snapshot; did you mean 'sales'?");
}

TEST_F(NamesOfSmallCatalog, AreThoseOfTheSnapshot) {
  EXPECT_THAT(Must(ListColumns(At(28), "sales.orders")), SizeIs(5));
  EXPECT_TRUE(absl::IsNotFound(ListColumns(At(29), "sales.orders").status()));
  EXPECT_THAT(Must(ListColumns(At(29), "sales.purchases")), SizeIs(5));
}

TEST(QuotedIfNeeded, LeavesPlainIdentifiersAlone) {
  EXPECT_EQ(QuotedIfNeeded("table_1"), "table_1");
  EXPECT_EQ(QuotedIfNeeded("ünï"), "ünï");
  EXPECT_EQ(QuotedIfNeeded("a b"), "\"a b\"");
  EXPECT_EQ(QuotedIfNeeded("1a"), "\"1a\"");
  EXPECT_EQ(QuotedIfNeeded("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(QuotedIfNeeded(""), "\"\"");
}

TEST(ResolvePath, ContinuesTheBaseUnlessAbsolute) {
  EXPECT_EQ(ResolvePath("/lake/main/", "t/", true), "/lake/main/t/");
  EXPECT_EQ(ResolvePath("/lake/main/", "s3://other/t/", false), "s3://other/t/");
}

}  // namespace
}  // namespace varve
