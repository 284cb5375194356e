#include "tools/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/strings.h"

namespace varve {
namespace {

constexpr uint64_t kBarWidth = 24;
constexpr std::chrono::milliseconds kRedrawEvery{100};

// Back to the first column, erasing the line.
constexpr std::string_view kEraseLine = "\r\x1b[K";

void Print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

Progress::Progress() : enabled_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  Clear();
}

void Progress::Update(std::string_view label, uint64_t done, uint64_t total, uint64_t rows) {
  if (!enabled_) {
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (drawn_ && label == label_ && now - last_ < kRedrawEvery) {
    return;
  }
  label_ = label;
  last_ = now;
  drawn_ = true;
  std::string line = StrCat(kEraseLine, label);
  if (total > 0) {
    const uint64_t part = std::min(done, total);
    const auto filled =
        static_cast<size_t>(static_cast<double>(part) / static_cast<double>(total) * kBarWidth);
    StrAppend(&line, "  [", std::string(filled, '#'), std::string(kBarWidth - filled, '.'), "]  ",
              static_cast<int>(static_cast<double>(part) / static_cast<double>(total) * 100), " %");
  }
  if (rows > 0) {
    StrAppend(&line, "  ", WithThousands(rows), " rows");
  }
  Print(line);
}

void Progress::Clear() {
  if (drawn_) {
    Print(kEraseLine);
    drawn_ = false;
  }
}

std::string WithThousands(uint64_t number) {
  const std::string digits = StrCat(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) {
      text.push_back(',');
    }
    text.push_back(digits[i]);
  }
  return text;
}

}  // namespace varve
