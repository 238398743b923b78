// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the files of this folder give to the registry. dialect.h says what they take, return and throw.

#include "interchange/dialect.h"

namespace quantloupe {

ExportResult writeAmct(const ExportSource& source);
ExportResult writeOnnxRuntime(const ExportSource& source);
ImportResult readOnnxRuntime(const ImportSource& source);

}  // namespace quantloupe
