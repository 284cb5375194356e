#include <cstdint>
#include <cstring>

#include "base/text.h"

namespace varve {
namespace {

// What the first byte of a character says: its length, and the range of the second byte, which is
// narrower than 80..bf where that would make an overlong form, a surrogate or more than U+10FFFF.
struct Utf8Lead {
  size_t length = 0;  // 0: no character starts like this
  uint8_t second_least = 0x80;
  uint8_t second_most = 0xbf;
};

Utf8Lead LeadOf(uint8_t byte) {
  if (byte < 0x80) {
    return {.length = 1};
  }
  if (byte < 0xc2) {
    return {};  // a continuation, or an overlong form
  }
  if (byte < 0xe0) {
    return {.length = 2};
  }
  if (byte < 0xf0) {
    return {.length = 3,
            .second_least = static_cast<uint8_t>(byte == 0xe0 ? 0xa0 : 0x80),
            .second_most = static_cast<uint8_t>(byte == 0xed ? 0x9f : 0xbf)};
  }
  if (byte < 0xf5) {
    return {.length = 4,
            .second_least = static_cast<uint8_t>(byte == 0xf0 ? 0x90 : 0x80),
            .second_most = static_cast<uint8_t>(byte == 0xf4 ? 0x8f : 0xbf)};
  }
  return {};
}

}  // namespace

bool IsValidUtf8(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    // Eight ASCII characters at a time: nearly all catalog text is ASCII.
    uint64_t word = 0;
    if (text.size() - at >= sizeof(word)) {
      std::memcpy(&word, text.data() + at, sizeof(word));
      if ((word & 0x8080808080808080) == 0) {
        at += sizeof(word);
        continue;
      }
    }
    const Utf8Lead lead = LeadOf(static_cast<uint8_t>(text[at]));
    if (lead.length == 0 || text.size() - at < lead.length) {
      return false;
    }
    for (size_t i = 1; i < lead.length; ++i) {
      const auto byte = static_cast<uint8_t>(text[at + i]);
      if (byte < (i == 1 ? lead.second_least : 0x80) || byte > (i == 1 ? lead.second_most : 0xbf)) {
        return false;
      }
    }
    at += lead.length;
  }
  return true;
}

}  // namespace varve
