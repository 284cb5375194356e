// The parts of Verify, one a theme. Each reads what it needs and reports what breaks a rule.
//
// They return an error only where reading fails; a broken invariant is a finding. All of them take
// the relations as sound: Verify leaves a part out when CheckStore found one it needs damaged.
#pragma once

#include "absl/status/status.h"
#include "catalog/verify/run.h"

namespace varve {

// Keys and values of the row store, intervals of each handle, index entries (verify_store.cc,
// verify_index.cc). Marks damaged relations.
absl::Status CheckStore(VerifyRun* run);
absl::Status CheckIndexes(VerifyRun* run);

// Columnar files against what they say of themselves, and against the row store (columnar.cc).
absl::Status CheckColumnar(VerifyRun* run);

// Snapshots, their changes, schema versions, settings (verify_snapshots.cc).
absl::Status CheckSnapshots(VerifyRun* run);
absl::Status CheckSchemaVersions(VerifyRun* run);
absl::Status CheckMetadata(VerifyRun* run);

// Id domains (verify_ids.cc).
absl::Status CheckCatalogIds(VerifyRun* run);
absl::Status CheckFileIds(VerifyRun* run);

// Schemas, tables, views, macros and what hangs on them (verify_objects.cc, verify_dependents.cc).
absl::Status CheckObjects(VerifyRun* run);
absl::Status CheckDependents(VerifyRun* run);
absl::Status CheckInlined(VerifyRun* run);

// Table by table: columns, files, statistics (verify_tables.cc and the checks it calls).
absl::Status CheckTables(VerifyRun* run);

}  // namespace varve
