// SPDX-License-Identifier: Apache-2.0
#pragma once
// Constants shared by reading and writing project files. Internal to engine/session.

namespace quantloupe {

/// Format version; the only one so far.
inline constexpr int kProjectFormat = 1;
inline constexpr const char* kProjectMark = "quantloupe_project";
inline constexpr const char* kMinusInfinity = "-infinite";  ///< a number; null is infinity

}  // namespace quantloupe
