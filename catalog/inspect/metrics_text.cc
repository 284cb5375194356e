#include "catalog/inspect/metrics_text.h"

#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <iterator>
#include <vector>

#include "catalog/inspect/catalog_stats.h"
#include "catalog/inspect/tier_stats.h"
#include "catalog/store/row_store.h"
#include "catalog/tiers/tier_metrics.h"

namespace varve {
namespace {

using prometheus::Family;
using prometheus::Gauge;

class Gauges {
 public:
  void Set(const std::string& name, const std::string& help, uint64_t value) {
    Make(name, help).Add({}).Set(static_cast<double>(value));
  }
  Family<Gauge>& Make(const std::string& name, const std::string& help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry_);
  }
  std::vector<prometheus::MetricFamily> Collect() const { return registry_.Collect(); }

 private:
  prometheus::Registry registry_;
};

void SetLevels(const TierStats& stats, Gauges* gauges) {
  Family<Gauge>& files = gauges->Make("varve_columnar_files", "Columnar files of a level.");
  Family<Gauge>& rows = gauges->Make("varve_columnar_rows", "Rows in them.");
  Family<Gauge>& bytes = gauges->Make("varve_columnar_bytes", "Bytes they take.");
  for (size_t i = 0; i < stats.levels.size(); ++i) {
    const prometheus::Labels level = {{"level", std::to_string(i + 1)}};
    files.Add(level).Set(static_cast<double>(stats.levels[i].files));
    rows.Add(level).Set(static_cast<double>(stats.levels[i].rows));
    bytes.Add(level).Set(static_cast<double>(stats.levels[i].bytes));
  }
}

}  // namespace

std::string MetricsText(const ReadView& view) {
  Gauges gauges;
  const TierStats tiers = CollectTierStats(view);
  SetLevels(tiers, &gauges);
  uint64_t packs = 0;
  uint64_t clean = 0;
  uint64_t incomplete = 0;
  uint64_t damaged = 0;
  for (const RelationTierStats& relation : tiers.relations) {
    packs += relation.packs;
    clean += relation.clean_packs;
    incomplete += relation.complete ? 0 : 1;
    damaged += relation.damage.empty() ? 0 : 1;
  }
  gauges.Set("varve_columnar_l2_packs", "Packs of level 2.", packs);
  gauges.Set("varve_columnar_l2_packs_clean",
             "Of them: packs a scan at the current snapshot may read clean.", clean);
  gauges.Set("varve_columnar_relations_incomplete",
             "Relations with rows that columnar files and memory have not got.", incomplete);
  gauges.Set("varve_columnar_relations_damaged", "Relations with a damaged columnar file.",
             damaged);
  const MemoryStats memory = SumOf(CollectMemoryStats(view));
  gauges.Set("varve_memrowset_rows", "Rows in MemRowSets, ghosts included.",
             memory.live_rows + memory.deleted_rows);
  gauges.Set("varve_memrowset_bytes", "Bytes MemRowSets take.", memory.bytes);
  gauges.Set("varve_csn", "The last commit.", view.csn());
  gauges.Set("varve_flushed_csn", "The last commit whose changes are in columnar files.",
             tiers.flushed_csn);
  gauges.Set("varve_last_snapshot", "The last snapshot.", view.last_snapshot());

  std::vector<prometheus::MetricFamily> families = TierRegistry().Collect();
  std::vector<prometheus::MetricFamily> of_catalog = gauges.Collect();
  families.insert(families.end(), std::make_move_iterator(of_catalog.begin()),
                  std::make_move_iterator(of_catalog.end()));
  const prometheus::TextSerializer serializer;
  return static_cast<const prometheus::Serializer&>(serializer).Serialize(families);
}

}  // namespace varve
