// varve init: an empty catalog.

#include <gflags/gflags.h>

#include <cstdio>
#include <filesystem>

#include "base/status.h"
#include "base/strings.h"
#include "tools/commands.h"
#include "tools/flags.h"

DEFINE_string(data_path, "", "where the lake keeps its files");
DEFINE_bool(encrypted, false, "the lake encrypts its files");

namespace varve {
namespace {

// Beside the catalog, and meant from wherever the catalog is opened.
std::string DefaultDataPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error).lexically_normal();
  return StrCat(error ? path : whole.string(), ".files/");
}

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& /*arguments*/) {
  VARVE_ASSIGN_OR_RETURN(const std::string path, CatalogPath());
  Catalog::InitOptions options;
  options.data_path = FLAGS_data_path.empty() ? DefaultDataPath(path) : FLAGS_data_path;
  options.encrypted = FLAGS_encrypted;
  VARVE_RETURN_IF_ERROR(Catalog::Init(path, options));
  std::fprintf(stderr, "made an empty catalog at %s\n", path.c_str());
  return kExitOk;
}

}  // namespace

Command InitCommand() {
  return {
      .name = "init",
      .summary = "make an empty catalog with the bootstrap rows of DuckLake 1.0",
      .details = "Nothing may be at the path yet.",
      .flags = {kCatalogFlag,
                {"data_path", "PATH", "where the lake keeps its files; default: CATALOG.files/"},
                {"encrypted", "", "the lake encrypts its files"}},
      .run = Run};
}

}  // namespace varve
