#include "catalog/scan.h"

#include <numeric>
#include <utility>

namespace varve {
namespace {

template <typename T>
void SelectOf(std::span<const uint32_t> selection, std::vector<T>* values) {
  if (values->empty()) {
    return;
  }
  for (size_t i = 0; i < selection.size(); ++i) {
    if (selection[i] != i) {  // a string moved onto itself is emptied
      (*values)[i] = std::move((*values)[selection[i]]);
    }
  }
  values->resize(selection.size());
}

}  // namespace

void ScanBatch::Clear() {
  columns.Clear();
  begins.clear();
  ends.clear();
  handles.clear();
}

void ScanBatch::Select(std::span<const uint32_t> selection) {
  if (selection.size() == num_rows()) {
    return;
  }
  columns.Select(selection);
  SelectOf(selection, &begins);
  SelectOf(selection, &ends);
  SelectOf(selection, &handles);
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
  Select(rest);
}

}  // namespace varve
