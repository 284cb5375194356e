#include "catalog/scan.h"

#include <numeric>

namespace varve {
namespace {

template <typename T>
void DropFirstOf(size_t rows, std::vector<T>* values) {
  if (!values->empty()) {
    values->erase(values->begin(), values->begin() + static_cast<std::ptrdiff_t>(rows));
  }
}

}  // namespace

void ScanBatch::Clear() {
  columns.Clear();
  begins.clear();
  ends.clear();
  handles.clear();
}

void ScanBatch::Truncate(size_t rows) {
  if (rows == num_rows()) {
    return;
  }
  columns.Truncate(rows);
  begins.resize(begins.empty() ? 0 : rows);
  ends.resize(ends.empty() ? 0 : rows);
  handles.resize(handles.empty() ? 0 : rows);
}

void ScanBatch::DropFirst(size_t rows) {
  std::vector<uint32_t> rest(num_rows() - rows);
  std::iota(rest.begin(), rest.end(), static_cast<uint32_t>(rows));
  columns.Select(rest);
  DropFirstOf(rows, &begins);
  DropFirstOf(rows, &ends);
  DropFirstOf(rows, &handles);
}

}  // namespace varve
