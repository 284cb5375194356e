#include "columnar/pack_check.h"

#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "columnar/format.h"

namespace varve {
namespace {

constexpr size_t kWindowBytes = size_t{1} << 20;

struct PackPlace {
  PackLocation location;
  const ColumnarTable* table = nullptr;
  const ColumnarTable::Column* column = nullptr;
  size_t pack = 0;
};

std::vector<PackPlace> PlacesOf(std::span<const ColumnarTable* const> tables) {
  std::vector<PackPlace> places;
  const auto add = [&](const ColumnarTable& table, const ColumnarTable::Column& column) {
    for (size_t pack = 0; pack < column.packs.size(); ++pack) {
      places.push_back(
          {.location = column.packs[pack], .table = &table, .column = &column, .pack = pack});
    }
  };
  for (const ColumnarTable* table : tables) {
    add(*table, table->handle_column());
    add(*table, table->version_column());
    add(*table, table->end_column());
    for (const ColumnarTable::Column& column : table->columns()) {
      add(*table, column);
    }
  }
  std::ranges::sort(places, {}, [](const PackPlace& place) { return place.location.offset; });
  return places;
}

// A part of the file in memory, which moves along it.
class Window {
 public:
  Window(const ColumnarFile& file, const std::function<absl::Status(uint64_t bytes)>& on_bytes)
      : file_(file), on_bytes_(on_bytes) {}

  // The bytes at `offset`, at least one and at most `length`. `error` is what is wrong with the
  // file, if it cannot be read there; the status, that the check is to end.
  absl::Status Read(uint64_t offset, uint64_t length, std::string_view* bytes,
                    absl::Status* error) {
    if (offset < start_ || offset >= start_ + bytes_.size()) {
      *error = Move(offset, kWindowBytes);
      if (!error->ok()) {  // perhaps for bytes beyond those asked for
        *error = Move(offset, std::min<uint64_t>(length, kWindowBytes));
      }
      VARVE_RETURN_IF_ERROR(on_bytes_ ? on_bytes_(bytes_.size()) : absl::OkStatus());
    }
    if (error->ok()) {
      *bytes = std::string_view(bytes_).substr(offset - start_, length);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Move(uint64_t offset, uint64_t size) {
    start_ = offset;
    bytes_.resize(std::min(size, file_.file_size() - offset));
    absl::Status status = file_.Read(start_, bytes_.size(), bytes_.data());
    if (!status.ok()) {
      bytes_.clear();
    }
    return status;
  }

  const ColumnarFile& file_;
  const std::function<absl::Status(uint64_t bytes)>& on_bytes_;
  uint64_t start_ = 0;
  std::string bytes_;
};

class PackCheck {
 public:
  PackCheck(const ColumnarFile& file, const std::function<absl::Status(uint64_t bytes)>& on_bytes)
      : window_(file, on_bytes), state_(XXH3_createState(), &XXH3_freeState) {}

  // What is wrong with the pack at a place; empty: nothing.
  absl::StatusOr<std::string> WhatIsWrong(const PackLocation& location) {
    if (location.length < kChecksumSize) {
      return "it is shorter than its checksum";
    }
    XXH3_64bits_reset(state_.get());
    std::string stored;
    uint64_t done = 0;
    const uint64_t encoded = location.length - kChecksumSize;
    while (done < location.length) {
      const uint64_t wanted = (done < encoded ? encoded : location.length) - done;
      std::string_view bytes;
      absl::Status error;
      VARVE_RETURN_IF_ERROR(window_.Read(location.offset + done, wanted, &bytes, &error));
      if (!error.ok()) {
        return std::string(MessageOf(error));
      }
      if (done < encoded) {
        XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
      } else {
        stored += bytes;
      }
      done += bytes.size();
    }
    return LoadLittleEndian<uint64_t>(stored.data()) == XXH3_64bits_digest(state_.get())
               ? ""
               : "its checksum does not match";
  }

 private:
  Window window_;
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
};

}  // namespace

absl::StatusOr<std::vector<DamagedPack>> CheckPacks(
    const ColumnarFile& file, std::span<const ColumnarTable* const> tables,
    const std::function<absl::Status(uint64_t bytes)>& on_bytes) {
  std::vector<DamagedPack> damaged;
  PackCheck check(file, on_bytes);
  for (const PackPlace& place : PlacesOf(tables)) {
    VARVE_ASSIGN_OR_RETURN(std::string what, check.WhatIsWrong(place.location));
    if (!what.empty()) {
      damaged.push_back({.relation = place.table->schema().relation,
                         .column = place.column->info.name,
                         .pack = place.pack,
                         .what = std::move(what)});
    }
  }
  return damaged;
}

}  // namespace varve
