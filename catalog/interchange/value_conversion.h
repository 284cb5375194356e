// From a source's value to a datum of the catalog's type.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "base/datum.h"
#include "base/text.h"
#include "base/type.h"
#include "catalog/interchange/source.h"

namespace varve {

// Text is parsed, integers and reals are taken as they are where the type can hold them, bytes are
// a blob or the UTF-8 of a text. The datum may point into the source's bytes or into `scratch`,
// which is overwritten. The error is one line without context: "'abc' is not a bigint".
absl::Status ConvertValue(const SourceValue& value, const Type& type, BlobText blob_text,
                          std::string* scratch, Datum* datum);

}  // namespace varve
