// SPDX-License-Identifier: Apache-2.0
#pragma once
// Estimate of text widths without a font.

#include <string>
#include <string_view>

namespace quantloupe {

/// Returns the width in points of a text in a sans-serif font of this size. The viewer's font is unknown, so
/// the estimate is conservative: it is based on DejaVu Sans, the widest common one.
double textWidth(std::string_view text, double fontSize, bool bold = false);
/// Shortens a text with "…" until it fits: at the left for names, whose end is more informative, otherwise at
/// the right.
std::string fitText(const std::string& text, double width, double fontSize, bool fromLeft);

}  // namespace quantloupe
