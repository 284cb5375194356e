#include "catalog/retention/audit.h"

#include <pwd.h>
#include <rocksdb/iterator.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/retention.pb.h"

namespace varve {
namespace {

constexpr std::string_view kAuditKeyPrefix = "audit/";

// "audit/<csn, 20 digits>/<number in the commit, 4 digits>"
std::string AuditKey(Csn csn, int number) {
  return absl::StrFormat("%s%020d/%04d", std::string(kAuditKeyPrefix), csn, number);
}

std::optional<Csn> CsnOfKey(std::string_view key) {
  key.remove_prefix(kAuditKeyPrefix.size());
  return ParseNumber<Csn>(key.substr(0, key.find('/')));
}

std::string Serialize(const AuditEntry& entry) {
  proto::StoredAuditEntry stored;
  stored.set_time(absl::ToUnixMicros(entry.time));
  stored.set_actor(entry.actor);
  stored.set_action(entry.action);
  stored.set_object(entry.object);
  if (entry.first_snapshot.has_value()) {
    stored.set_first_snapshot(*entry.first_snapshot);
  }
  if (entry.last_snapshot.has_value()) {
    stored.set_last_snapshot(*entry.last_snapshot);
  }
  for (const auto& [relation, rows] : entry.rows) {
    proto::RowCount* const count = stored.add_rows();
    count->set_relation(relation);
    count->set_rows(rows);
  }
  stored.set_detail(entry.detail);
  return stored.SerializeAsString();
}

std::optional<AuditEntry> Parse(std::string_view key, std::string_view value) {
  proto::StoredAuditEntry stored;
  const std::optional<Csn> csn = CsnOfKey(key);
  if (!csn.has_value() || !stored.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    return std::nullopt;
  }
  AuditEntry entry{.csn = *csn,
                   .time = absl::FromUnixMicros(stored.time()),
                   .actor = stored.actor(),
                   .action = stored.action(),
                   .object = stored.object(),
                   .detail = stored.detail()};
  if (stored.has_first_snapshot()) {
    entry.first_snapshot = stored.first_snapshot();
  }
  if (stored.has_last_snapshot()) {
    entry.last_snapshot = stored.last_snapshot();
  }
  for (const proto::RowCount& count : stored.rows()) {
    entry.rows[count.relation()] += count.rows();
  }
  return entry;
}

std::string UserName() {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16'384);
  if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 &&
      found != nullptr) {
    return found->pw_name;
  }
  return StrCat("user ", geteuid());
}

}  // namespace

uint64_t TotalRows(const RowCounts& counts) {
  uint64_t total = 0;
  for (const auto& [relation, rows] : counts) {
    total += rows;
  }
  return total;
}

absl::Status AppendAudit(Commit* commit, const AuditEntry& entry) {
  for (int number = 0;; ++number) {
    std::string key = AuditKey(commit->csn(), number);
    VARVE_ASSIGN_OR_RETURN(const std::optional<std::string> taken, commit->GetDefault(key));
    if (!taken.has_value()) {
      commit->PutDefault(std::move(key), Serialize(entry));
      return absl::OkStatus();
    }
  }
}

absl::Status ReadAudit(const StoreState& state,
                       const std::function<absl::Status(const AuditEntry&)>& visit) {
  const std::unique_ptr<rocksdb::Iterator> it(
      state.store->db().NewIterator(state.read_options(), state.store->family(Family::kDefault)));
  for (it->Seek(ToSlice(kAuditKeyPrefix));
       it->Valid() && ToView(it->key()).starts_with(kAuditKeyPrefix); it->Next()) {
    const std::optional<AuditEntry> entry = Parse(ToView(it->key()), ToView(it->value()));
    if (!entry.has_value()) {
      return absl::DataLossError(StrCat("catalog ", state.store->path(), ": the audit entry '",
                                        ToView(it->key()), "' cannot be read"));
    }
    VARVE_RETURN_IF_ERROR(visit(*entry));
  }
  return FromRocksDb(it->status(), "reading the audit log");
}

std::string ThisActor() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) {
    host[0] = '\0';
  }
  return StrCat(UserName(), "@", host.data(), ", process ", getpid());
}

}  // namespace varve
