#include "tools/interruption.h"

namespace varve {
namespace {

volatile std::sig_atomic_t interrupted = 0;

extern "C" void NoteInterruption(int /*signal*/) {
  interrupted = 1;
}

}  // namespace

Interruption::Interruption() {
  interrupted = 0;
  struct sigaction action {};
  action.sa_handler = NoteInterruption;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART | SA_RESETHAND;
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
}

Interruption::~Interruption() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
}

bool Interruption::requested() const {
  return interrupted != 0;
}

}  // namespace varve
