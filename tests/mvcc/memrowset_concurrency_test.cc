// Histories of concurrent writes and scans, checked afterwards against a sequential model.
//
// Every write takes the next timestamp; a timestamp is published when it and all before it are
// applied, as the commit lock and the publication of read views do it. Readers scan at published
// timestamps and keep what they saw. When all is over, the writes are played into the model in
// timestamp order, and every scan must have seen exactly the model at its timestamp. The number of
// steps, not time, ends a test.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "mvcc/memrowset.h"
#include "tests/base/random_values.h"
#include "tests/mvcc/memrowset_model.h"
#include "tests/seed.h"

namespace varve {
namespace {

// Of the images that rows had before: older than every write.
constexpr Timestamp kPreImageTime = 1;

// Hands out timestamps and knows up to which all are applied.
class CommitClock {
 public:
  Timestamp Begin() {
    const std::lock_guard lock(mutex_);
    under_way_.insert(next_);
    return next_++;
  }
  void End(Timestamp at) {
    const std::lock_guard lock(mutex_);
    under_way_.erase(at);
    published_ = under_way_.empty() ? next_ - 1 : *under_way_.begin() - 1;
  }
  Timestamp published() const {
    const std::lock_guard lock(mutex_);
    return published_;
  }

 private:
  mutable std::mutex mutex_;
  std::set<Timestamp> under_way_;
  Timestamp next_ = kPreImageTime + 1;
  Timestamp published_ = kPreImageTime;
};

struct Write {
  enum class Kind : uint8_t { kInsert, kPreImage, kUpdate, kDelete };

  Timestamp at = 0;
  Kind kind = Kind::kInsert;
  std::string key;
  int64_t number = 0;
};

struct Observation {
  MemRowSetScan scan;
  std::vector<std::string> lines;
};

struct Setup {
  int writers = 2;
  int readers = 2;
  int writes_per_writer = 3'000;
  int scans_per_reader = 60;
  size_t keys = 200;
  // Writers take turns and share all keys, as under the commit lock; else each has keys of its own
  // and they write at once.
  bool serialised = true;
  bool freeze_at_end = false;
};

class History {
 public:
  explicit History(const Setup& setup)
      : setup_(setup),
        schema_(SchemaOf("a:bigint b:varchar? c:bigint?")),
        rows_(MemRowSet::Create(schema_)),
        writes_(static_cast<size_t>(setup.writers)),
        observations_(static_cast<size_t>(setup.readers)) {}

  void Run() {
    std::vector<std::thread> threads;
    for (int i = 0; i < setup_.writers; ++i) {
      threads.emplace_back([this, i] { WriteAll(static_cast<size_t>(i)); });
    }
    for (int i = 0; i < setup_.readers; ++i) {
      threads.emplace_back([this, i] { ReadAll(static_cast<size_t>(i)); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    if (setup_.freeze_at_end) {
      rows_->Freeze();
    }
    // The end state is looked at as well, by all kinds of scans.
    RandomValues random(TestSeed());
    for (int i = 0; i < 20; ++i) {
      observations_[0].push_back(Observe(&random));
    }
  }

  void ExpectSequential() {
    const MemRowSetModel model = Play();
    EXPECT_EQ(rows_->num_rows(), model.num_rows());
    EXPECT_EQ(rows_->live_row_count(), model.live_row_count());
    for (const std::vector<Observation>& observations : observations_) {
      for (const Observation& observation : observations) {
        // A row that only has its pre-image may be met or not: the lower tiers have it anyway.
        ASSERT_EQ(WithoutPreImages(observation.lines),
                  WithoutPreImages(model.Scan(observation.scan)))
            << "at " << observation.scan.snap_to_include;
      }
    }
  }

 private:
  static std::vector<Datum> CellsOf(const Write& write, const std::string& text) {
    return {Int(write.number), Text(text),
            write.number % 3 == 0 ? Datum::Null() : Int(-write.number)};
  }
  // Some stay inside the tree's slots, some do not.
  static std::string KeyOf(size_t number) {
    return number % 2 == 0 ? StrCat("k", number) : StrCat("a longer key ", number);
  }

  void WriteAll(size_t writer) {
    RandomValues random(TestSeed() + 1 + writer);
    for (int i = 0; i < setup_.writes_per_writer; ++i) {
      std::optional<std::lock_guard<std::mutex>> turn;
      if (setup_.serialised) {
        turn.emplace(turns_);
      }
      size_t key = random.Below(setup_.keys);
      if (!setup_.serialised) {
        key = key * static_cast<size_t>(setup_.writers) + writer;
      }
      const Timestamp at = clock_.Begin();
      WriteOne(writer, at, KeyOf(key), &random);
      clock_.End(at);
    }
  }

  // One change of the row; what is absent gets a pre-image first, or is inserted.
  void WriteOne(size_t writer, Timestamp at, const std::string& key, RandomValues* random) {
    const RowPresence presence = rows_->CheckRowPresent(RowKeyProbe(key));
    const auto number = static_cast<int64_t>(random->Below(1'000'000));
    if (presence == RowPresence::kGhost || (presence == RowPresence::kAbsent && random->OneIn(2))) {
      Apply(writer, {.at = at, .kind = Write::Kind::kInsert, .key = key, .number = number});
      return;
    }
    if (presence == RowPresence::kAbsent) {
      Apply(writer, {.at = at, .kind = Write::Kind::kPreImage, .key = key, .number = number});
    }
    const Write::Kind kind = random->OneIn(3) ? Write::Kind::kDelete : Write::Kind::kUpdate;
    Apply(writer, {.at = at, .kind = kind, .key = key, .number = number + 1});
  }

  void Apply(size_t writer, const Write& write) {
    const RowKeyProbe key(write.key);
    const std::string text = StrCat("text ", write.number);
    switch (write.kind) {
      case Write::Kind::kInsert:
        EXPECT_TRUE(rows_->Insert(write.at, key, CellsOf(write, text)).ok());
        break;
      case Write::Kind::kPreImage:
        EXPECT_TRUE(rows_->InsertPreImage(kPreImageTime, key, CellsOf(write, text)).ok());
        break;
      case Write::Kind::kUpdate: {
        std::string buffer;
        RowChangeListEncoder encoder(&buffer);
        encoder.SetToUpdate();
        encoder.AddColumn(1, Int(write.number));
        encoder.AddColumn(2, Text(text));
        EXPECT_TRUE(rows_->Mutate(write.at, key, encoder.list()).ok());
        break;
      }
      case Write::Kind::kDelete:
        EXPECT_TRUE(rows_->Mutate(write.at, key, RowChangeList::Delete()).ok());
        break;
    }
    writes_[writer].push_back(write);
  }

  void ReadAll(size_t reader) {
    RandomValues random(TestSeed() + 1'001 + reader);
    for (int i = 0; i < setup_.scans_per_reader; ++i) {
      observations_[reader].push_back(Observe(&random));
    }
  }

  Observation Observe(RandomValues* random) {
    const Timestamp published = clock_.published();
    // Mostly the newest state; sometimes one that is long past.
    const Timestamp at = random->OneIn(4) ? 1 + random->Below(published) : published;
    MemRowSetScan scan = {.projection = {0, 1, 2, kIsDeletedColumn},
                          .snap_to_include = at,
                          .include_deleted_rows = random->OneIn(2),
                          .batch_rows = random->OneIn(2) ? 1024 : 1 + random->Below(50)};
    if (random->OneIn(2)) {
      scan.snap_to_exclude = 1 + random->Below(at);
    }
    if (random->OneIn(4)) {
      scan.lower = KeyOf(random->Below(setup_.keys));
    }
    return {.scan = scan, .lines = ScanLines(*rows_, scan)};
  }

  MemRowSetModel Play() const {
    std::vector<Write> writes;
    for (const std::vector<Write>& some : writes_) {
      writes.insert(writes.end(), some.begin(), some.end());
    }
    std::stable_sort(writes.begin(), writes.end(),
                     [](const Write& a, const Write& b) { return a.at < b.at; });
    MemRowSetModel model;
    for (const Write& write : writes) {
      const std::string text = StrCat("text ", write.number);
      switch (write.kind) {
        case Write::Kind::kInsert: model.Insert(write.at, write.key, CellsOf(write, text)); break;
        case Write::Kind::kPreImage:
          model.Insert(kPreImageTime, write.key, CellsOf(write, text));
          break;
        case Write::Kind::kUpdate:
          model.Update(write.at, write.key, {{0, Int(write.number)}, {1, Text(text)}});
          break;
        case Write::Kind::kDelete: model.Delete(write.at, write.key); break;
      }
    }
    return model;
  }

  static std::vector<std::string> WithoutPreImages(std::vector<std::string> lines) {
    const std::string mark = StrCat(" ", kPreImageTime, "-", kPreImageTime, ": ");
    std::erase_if(lines,
                  [&](const std::string& line) { return line.find(mark) != std::string::npos; });
    return lines;
  }

  const Setup setup_;
  const std::shared_ptr<const Schema> schema_;
  const std::shared_ptr<MemRowSet> rows_;
  CommitClock clock_;
  std::mutex turns_;
  std::vector<std::vector<Write>> writes_;              // per writer
  std::vector<std::vector<Observation>> observations_;  // per reader
};

// W6, W7, R: writers under a commit lock, all on the same rows.
TEST(MemRowSetConcurrencyTest, ReadersSeeTheStateOfTheirTimestampBesideSerialisedWriters) {
  History history({});
  history.Run();
  history.ExpectSequential();
}

// The same on very few rows: long chains, much reviving.
TEST(MemRowSetConcurrencyTest, ReadersSeeTheStateOfTheirTimestampOnHotRows) {
  History history({.writes_per_writer = 1'500, .scans_per_reader = 150, .keys = 3});
  history.Run();
  history.ExpectSequential();
}

// Writers at once, on different rows that share leaves.
TEST(MemRowSetConcurrencyTest, ReadersSeeTheStateOfTheirTimestampBesideParallelWriters) {
  History history({.writers = 4,
                   .writes_per_writer = 1'500,
                   .keys = 60,
                   .serialised = false,
                   .freeze_at_end = true});
  history.Run();
  history.ExpectSequential();
}

// New rows all the time: leaves split under the scans.
TEST(MemRowSetConcurrencyTest, ReadersSeeTheStateOfTheirTimestampWhileTheTreeGrows) {
  History history({.writers = 3,
                   .writes_per_writer = 2'000,
                   .scans_per_reader = 40,
                   .keys = 20'000,
                   .serialised = false});
  history.Run();
  history.ExpectSequential();
}

// W2: of many that insert the same key, one succeeds. W5: counters are exact afterwards.
TEST(MemRowSetConcurrencyTest, OneOfManyInsertsWins) {
  constexpr int kThreads = 4;
  constexpr int kKeys = 2'000;
  const auto rows = MemRowSet::Create(SchemaOf("a:bigint"));
  std::atomic<int> inserted = 0;
  std::atomic<int> deleted = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kKeys; ++i) {
        const std::string text = StrCat("key ", i);
        const RowKeyProbe key(text);
        const absl::Status status = rows->Insert(1, key, std::vector<Datum>{Int(thread)});
        inserted += status.ok() ? 1 : 0;
        EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kAlreadyExists);
        EXPECT_NE(rows->CheckRowPresent(key), RowPresence::kAbsent);
        if (i % 2 == 0) {
          deleted += rows->Mutate(1, key, RowChangeList::Delete()).ok() ? 1 : 0;
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(rows->num_rows(), static_cast<size_t>(kKeys));
  EXPECT_EQ(rows->live_row_count(), static_cast<size_t>(inserted - deleted));
  EXPECT_EQ(rows->num_mutations(), static_cast<size_t>(inserted - kKeys + deleted));
  EXPECT_EQ(rows->oldest_change(), 1U);
}

}  // namespace
}  // namespace varve
