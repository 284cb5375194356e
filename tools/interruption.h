// Ctrl-C during long work that can stop between two steps.
//
// While an Interruption lives, the first SIGINT or SIGTERM only asks to stop; a second one ends the
// program as usual. Thread-safety: one at a time, made and destroyed by one thread; requested() may
// be asked by any.
#pragma once

#include <csignal>

namespace varve {

class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool requested() const;

 private:
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
};

}  // namespace varve
