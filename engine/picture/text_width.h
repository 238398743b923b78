// SPDX-License-Identifier: Apache-2.0
#pragma once
// How wide a text is, without a font.

#include <string>
#include <string_view>

namespace quantloupe {

/// Width in points of a text in a sans-serif font of this size, rather too wide than too narrow (which font a
/// viewer has is not known): measured on DejaVu Sans, the widest of the usual ones.
double textWidth(std::string_view text, double fontSize, bool bold = false);
/// Shortened with "…" until it fits: at its left for names (their end tells more), at its right otherwise.
std::string fitText(const std::string& text, double width, double fontSize, bool fromLeft);

}  // namespace quantloupe
