// Truncating the change feed of an open catalog, for tests.
#pragma once

#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "catalog/feed/changes_truncation.h"
#include "catalog/store/commit.h"
#include "catalog/store/commit_queue.h"
#include "catalog/store/row_store.h"

namespace varve {

// Commits what makes the feed begin at csn `begin`; takes a csn itself.
inline void TruncateFeed(Catalog* catalog, Csn begin) {
  const absl::Status status =
      catalog->Commit({.prepare = [begin](Commit& commit) -> absl::Status {
                         const auto truncation = TruncateChanges(commit.base(), begin);
                         if (!truncation.ok()) {
                           return truncation.status();
                         }
                         if (!truncation->end_key.empty()) {
                           commit.DeleteChanges(truncation->first_key, truncation->end_key);
                         }
                         for (const auto& [key, value] : truncation->defaults) {
                           commit.PutDefault(key, value);
                         }
                         return absl::OkStatus();
                       },
                       .reads_widely = true});
  ASSERT_TRUE(status.ok()) << status;
}

}  // namespace varve
