// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parsers of each format. Internal to engine/cost.

#include "base/json.h"
#include "cost/csv_table.h"
#include "cost/latency_file.h"

namespace quantloupe {

bool isOnnxRuntimeProfile(const Json& json);
LatencyFile onnxRuntimeProfile(const Json& json);
bool isTensorRtProfile(const Json& json);
LatencyFile tensorRtProfile(const Json& json);
bool isQualcommProfile(const CsvTable& table);
LatencyFile qualcommProfile(const CsvTable& table);
bool isHailoProfile(const CsvTable& table);
LatencyFile hailoProfile(const CsvTable& table);

}  // namespace quantloupe
