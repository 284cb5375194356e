#include "catalog/transaction/option_values.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace varve {
namespace {

// What is stored, or "refused".
std::string Stored(std::string_view key, std::string_view value) {
  return OptionToStore(key, value).value_or("refused");
}

TEST(OptionValues, BooleansAreTrueAndFalse) {
  EXPECT_EQ(Stored("hive_file_pattern", "true"), "true");
  EXPECT_EQ(Stored("hive_file_pattern", "F"), "false");
  EXPECT_EQ(Stored("hive_file_pattern", ""), "refused");
}

TEST(OptionValues, CountsAreNumbers) {
  EXPECT_EQ(Stored("data_inlining_row_limit", "0"), "0");
  EXPECT_EQ(Stored("data_inlining_row_limit", "18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(Stored("data_inlining_row_limit", "-1"), "refused");
  EXPECT_EQ(Stored("data_inlining_row_limit", "18446744073709551616"), "refused");
  EXPECT_EQ(Stored("parquet_row_group_size", "0"), "refused");
}

TEST(OptionValues, SizesAreBytes) {
  EXPECT_EQ(Stored("target_file_size", "1000000"), "1000000");
  EXPECT_EQ(Stored("target_file_size", "512MB"), "512000000");
  EXPECT_EQ(Stored("target_file_size", "512 mib"), "536870912");
  EXPECT_EQ(Stored("target_file_size", "1.5gb"), "1500000000");
  EXPECT_EQ(Stored("target_file_size", "0"), "0");
  EXPECT_EQ(Stored("parquet_row_group_size_bytes", "0 bytes"), "refused");
  for (const std::string_view none :
       {"", "MB", "12 parsecs", "1..5MB", "-1MB", "18446744073709551615TB", "1e400"}) {
    EXPECT_EQ(Stored("target_file_size", none), "refused") << none;
  }
}

TEST(OptionValues, IntervalsMayBeEmpty) {
  EXPECT_EQ(Stored("expire_older_than", "7 days"), "7 days");
  EXPECT_EQ(Stored("expire_older_than", ""), "");
  EXPECT_EQ(Stored("expire_older_than", "soon"), "refused");
}

TEST(OptionValues, AShareLiesBetweenZeroAndOne) {
  EXPECT_EQ(Stored("rewrite_delete_threshold", "0.95"), "0.95");
  EXPECT_EQ(Stored("rewrite_delete_threshold", "1"), "1");
  EXPECT_EQ(Stored("rewrite_delete_threshold", "1.01"), "refused");
  EXPECT_EQ(Stored("rewrite_delete_threshold", "nan"), "refused");
}

TEST(OptionValues, ParquetVersionsAreWrittenWithAV) {
  EXPECT_EQ(Stored("parquet_version", "1"), "V1");
  EXPECT_EQ(Stored("parquet_version", "v2"), "V2");
  EXPECT_EQ(Stored("parquet_version", "3"), "refused");
}

TEST(OptionValues, AnUnknownOptionIsAnsweredWithWhatThereIs) {
  EXPECT_EQ(MessageOf(CheckOption("compresion_of_parquet")),
            "there is no option \"compresion_of_parquet\"; the options are auto_compact, "
            "data_inlining_row_limit, delete_older_than, expire_older_than, hive_file_pattern, "
            "parquet_compression, parquet_compression_level, parquet_row_group_size, "
            "parquet_row_group_size_bytes, parquet_version, per_thread_output, "
            "require_commit_message, rewrite_delete_threshold, sort_on_insert, target_file_size, "
            "write_deletion_vectors");
}

}  // namespace
}  // namespace varve
