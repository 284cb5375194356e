#include "tools/command_line.h"

#include <gflags/gflags.h>

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/relation_directory.h"

namespace varve {
namespace {

struct FlagWord {
  std::string name;  // with underscores
  std::string value;
  bool has_value = false;
};

bool LooksLikeFlag(std::string_view word) {
  return word.size() > 1 && word[0] == '-' &&
         !absl::ascii_isdigit(static_cast<unsigned char>(word[1]));
}

FlagWord SplitFlag(std::string_view word) {
  word.remove_prefix(word.starts_with("--") ? 2 : 1);
  const size_t equals = word.find('=');
  FlagWord flag{.name = std::string(word.substr(0, equals))};
  std::replace(flag.name.begin(), flag.name.end(), '-', '_');
  if (equals != std::string_view::npos) {
    flag.value = word.substr(equals + 1);
    flag.has_value = true;
  }
  return flag;
}

const CommandFlag* FlagOf(const Command& command, std::string_view name) {
  const auto it = std::find_if(command.flags.begin(), command.flags.end(),
                               [&](const CommandFlag& flag) { return flag.name == name; });
  return it == command.flags.end() ? nullptr : &*it;
}

// The flag of any command, to know whether a value follows before the command is known.
const CommandFlag* FlagOfAny(std::string_view name) {
  for (const Command& command : Commands()) {
    if (const CommandFlag* flag = FlagOf(command, name); flag != nullptr) {
      return flag;
    }
  }
  return nullptr;
}

absl::Status UnknownFlag(const FlagWord& word, const Command* command) {
  std::vector<std::string> names = {"help", "version"};
  for (const Command& candidate : Commands()) {
    if (command == nullptr || command == &candidate) {
      for (const CommandFlag& flag : candidate.flags) {
        names.push_back(DashedName(flag.name));
      }
    }
  }
  const std::string shown = DashedName(word.name);
  const std::string_view nearest = NearestName(shown, {names.begin(), names.end()});
  const std::string help =
      StrCat("varve help", command == nullptr ? "" : " ", command == nullptr ? "" : command->name);
  return UsageError(nearest.empty()
                        ? StrCat("unknown flag --", shown, "; '", help, "' lists the flags")
                        : StrCat("unknown flag --", shown, "; did you mean --", nearest, "?"));
}

// "--at of ls", with the value's name, for messages.
absl::Status SetFlag(const FlagWord& word) {
  // An unset shell variable must not silently mean "not given": --at= would answer from another
  // snapshot.
  if (word.value.empty()) {
    return UsageError(StrCat("--", DashedName(word.name),
                             " has an empty value; give one or leave "
                             "the flag out"));
  }
  if (gflags::SetCommandLineOption(word.name.c_str(), word.value.c_str()).empty()) {
    const gflags::CommandLineFlagInfo info = gflags::GetCommandLineFlagInfoOrDie(word.name.c_str());
    const std::string_view expected = info.type == "bool"     ? "true or false"
                                      : info.type == "uint64" ? "a number"
                                                              : std::string_view(info.type);
    return UsageError(
        StrCat("--", DashedName(word.name), "=", word.value, ": expected ", expected));
  }
  return absl::OkStatus();
}

absl::Status CheckArguments(const Command& command, const std::vector<std::string>& arguments) {
  if (arguments.size() > command.max_arguments) {
    return UsageError(StrCat("unexpected argument '", arguments[command.max_arguments],
                             "'; usage: varve ", command.name, command.arguments.empty() ? "" : " ",
                             command.arguments));
  }
  if (arguments.size() < command.min_arguments) {
    return UsageError(
        StrCat("an argument is missing; usage: varve ", command.name, " ", command.arguments));
  }
  return absl::OkStatus();
}

}  // namespace

std::string DashedName(std::string_view flag) {
  std::string name(flag);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& words) {
  CommandLine line;
  std::vector<FlagWord> flags;
  std::vector<std::string> plain;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") {
      plain.insert(plain.end(), words.begin() + static_cast<ptrdiff_t>(i) + 1, words.end());
      break;
    }
    if (!LooksLikeFlag(words[i])) {
      plain.push_back(words[i]);
      continue;
    }
    FlagWord word = SplitFlag(words[i]);
    if (word.name == "help" || word.name == "h") {
      line.help = true;
      continue;
    }
    if (word.name == "version") {
      line.version = true;
      continue;
    }
    const CommandFlag* flag = FlagOfAny(word.name);
    if (flag == nullptr && word.name.starts_with("no") && !word.has_value) {
      const CommandFlag* negated = FlagOfAny(std::string_view(word.name).substr(2));
      if (negated != nullptr && negated->value.empty()) {
        word = {.name = word.name.substr(2), .value = "false", .has_value = true};
        flag = negated;
      }
    }
    if (flag != nullptr && !word.has_value) {
      if (flag->value.empty()) {
        word.value = "true";
      } else if (i + 1 < words.size()) {
        word.value = words[++i];
      } else {
        return UsageError(StrCat("--", DashedName(word.name), " needs a value: --",
                                 DashedName(word.name), "=", flag->value));
      }
    }
    flags.push_back(std::move(word));
  }

  if (!plain.empty()) {
    line.command = FindCommand(plain[0]);
    if (line.command == nullptr) {
      return UsageError(StrCat("unknown command '", plain[0], "'",
                               NearestCommand(plain[0]).empty()
                                   ? "; 'varve help' lists the commands"
                                   : NearestCommand(plain[0])));
    }
    line.arguments.assign(plain.begin() + 1, plain.end());
  }
  for (const FlagWord& word : flags) {
    if (FlagOfAny(word.name) == nullptr) {
      return UnknownFlag(word, line.command);
    }
    if (line.command != nullptr && FlagOf(*line.command, word.name) == nullptr) {
      return UsageError(StrCat("varve ", line.command->name, " has no flag --",
                               DashedName(word.name), "; 'varve help ", line.command->name,
                               "' lists its flags"));
    }
    VARVE_RETURN_IF_ERROR(SetFlag(word));
  }
  if (line.command != nullptr && !line.help && !line.version) {
    VARVE_RETURN_IF_ERROR(CheckArguments(*line.command, line.arguments));
  }
  return line;
}

}  // namespace varve
