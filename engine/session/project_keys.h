// SPDX-License-Identifier: Apache-2.0
#pragma once
// What reading and writing a project file must agree on. Internal to engine/session.

namespace quantloupe {

/// The only format there is so far.
inline constexpr int kProjectFormat = 1;
inline constexpr const char* kProjectMark = "quantloupe_project";

}  // namespace quantloupe
