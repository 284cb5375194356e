// docs/cli.md against the program: what it lists must be what there is.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "base/strings.h"
#include "catalog/relation.h"
#include "tests/tools/program.h"

namespace varve {
namespace {

std::vector<std::string> Documentation() {
  std::ifstream file(VARVE_SOURCE_DIR "/docs/cli.md");
  std::ostringstream text;
  text << file.rdbuf();
  return Lines(text.str());
}

// The commands `varve help` lists: indented lines between "commands:" and the next blank line.
std::vector<std::string> CommandsOfHelp() {
  std::vector<std::string> commands;
  bool listing = false;
  for (const std::string& line : Lines(RunVarve("", {"help"}).out)) {
    if (line == "commands:") {
      listing = true;
    } else if (line.empty()) {
      listing = false;
    } else if (listing) {
      commands.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  return commands;
}

// The lines of docs/cli.md under a command's heading.
std::vector<std::string> SectionOf(const std::string& command) {
  std::vector<std::string> section;
  bool inside = false;
  for (const std::string& line : Documentation()) {
    if (line.starts_with("#")) {
      inside = line == StrCat("### varve ", command);
    } else if (inside) {
      section.push_back(line);
    }
  }
  return section;
}

// Every --flag in some text.
std::set<std::string> FlagsIn(const std::string& text) {
  std::set<std::string> flags;
  for (size_t at = text.find("--"); at != std::string::npos; at = text.find("--", at + 2)) {
    size_t end = at + 2;
    while (end < text.size() &&
           (absl::ascii_isalpha(static_cast<unsigned char>(text[end])) || text[end] == '-')) {
      ++end;
    }
    if (end > at + 2) {
      flags.insert(text.substr(at, end - at));
    }
  }
  return flags;
}

TEST(Documentation, HasAHeadingForEveryCommandInTheOrderOfHelp) {
  std::vector<std::string> headings;
  for (const std::string& line : Documentation()) {
    if (line.starts_with("### varve ")) {
      headings.push_back(line.substr(10));
    }
  }
  EXPECT_FALSE(headings.empty());
  EXPECT_EQ(headings, CommandsOfHelp());
}

TEST(Documentation, ListsTheFlagsOfEveryCommand) {
  for (const std::string& command : CommandsOfHelp()) {
    std::set<std::string> of_help;
    bool listing = false;
    for (const std::string& line : Lines(RunVarve("", {"help", command}).out)) {
      listing = listing || line == "flags:";
      if (listing && line.starts_with("  --")) {
        of_help.insert(line.substr(2, line.find_first_of("= ", 2) - 2));
      }
    }
    std::set<std::string> of_table;
    for (const std::string& line : SectionOf(command)) {
      if (line.starts_with("| `--")) {
        of_table.merge(FlagsIn(line.substr(0, line.find('|', 1))));
      }
    }
    EXPECT_EQ(of_table, of_help) << command;
  }
}

TEST(Documentation, ListsTheExitCodes) {
  std::vector<std::string> of_help;
  bool listing = false;
  for (const std::string& line : Lines(RunVarve("", {"help"}).out)) {
    if (listing) {
      const size_t number = line.find_first_not_of(' ');
      const size_t gap = line.find("  ", number);
      of_help.push_back(
          StrCat("| ", line.substr(number, gap - number), " | ", line.substr(gap + 2), " |"));
    }
    listing = listing || line == "exit codes:";
  }
  ASSERT_EQ(of_help.size(), 12U);
  const std::vector<std::string> documentation = Documentation();
  for (const std::string& line : of_help) {
    EXPECT_THAT(documentation, ::testing::Contains(line));
  }
}

TEST(Documentation, ListsEveryRelationWithItsKey) {
  const std::vector<std::string> documentation = Documentation();
  for (const RelationRef& relation : BuiltinRelations()) {
    std::vector<std::string> key;
    for (const size_t column : relation->handle) {
      key.push_back(relation->columns.column(column).name);
    }
    EXPECT_THAT(documentation, ::testing::Contains(StrCat("| `", relation->short_name(), "` | `",
                                                          StrJoin(key, " "), "` |")));
  }
}

}  // namespace
}  // namespace varve
