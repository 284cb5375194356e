#include "catalog/verify/name_clashes.h"

#include <algorithm>

#include "base/strings.h"

namespace varve {

void NameClashes::Add(std::string scope, std::optional<std::string_view> name, int64_t id,
                      const RowCursor& row) {
  if (name.has_value()) {
    holders_[{std::move(scope), AsciiStrToLower(*name)}].push_back(
        {row.lifetime(), id, row.relation_name(), row.Key(), std::string(*name)});
  }
}

void NameClashes::Report(VerifyRun* run, Rule rule) const {
  for (const auto& [name, unsorted] : holders_) {
    if (unsorted.size() < 2) {
      continue;
    }
    std::vector<Holder> holders = unsorted;
    std::stable_sort(holders.begin(), holders.end(), [](const Holder& a, const Holder& b) {
      return a.lifetime.begin < b.lifetime.begin;
    });
    // The one seen so far that lasts longest meets whatever any of them meets.
    const Holder* longest = &holders[0];
    for (size_t i = 1; i < holders.size(); ++i) {
      const Holder& holder = holders[i];
      if (holder.id != longest->id &&
          IntervalsOverlap(longest->lifetime.begin, longest->lifetime.end, holder.lifetime.begin,
                           holder.lifetime.end)) {
        run->Report(rule, holder.relation, holder.key,
                    StrCat("'", holder.name, "' is also that of ", longest->relation, " ",
                           longest->key, ", at snapshot ", holder.lifetime.begin));
      }
      if (holder.lifetime.end > longest->lifetime.end) {
        longest = &holder;
      }
    }
  }
}

}  // namespace varve
