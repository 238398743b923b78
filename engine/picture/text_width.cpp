// SPDX-License-Identifier: Apache-2.0
#include "picture/text_width.h"

#include "picture/picture_text.h"

namespace quantloupe {
namespace {

constexpr double kNarrowest = 0.29;  // narrowest character, in em

/// Returns the width of one character, in em.
double charWidth(unsigned char c) {
    if (c >= 0x80)
        return (c & 0xc0) == 0x80 ? 0 : c >= 0xe3 ? 1 : 0.84;  // at its lead byte; from U+3000 on: full width
    struct Group {
        std::string_view chars;
        double width;
    };
    static constexpr Group kGroups[] = {{"ijl'|", kNarrowest}, {" .,;:/\\!I", 0.335}, {"frt()[]-", 0.4},
                                        {"ckvxyzs_", 0.58},    {"w+=<>#&", 0.83},     {"mMW%@", 0.98}};
    for (const Group& group : kGroups)
        if (group.chars.find(static_cast<char>(c)) != std::string_view::npos) return group.width;
    return c >= 'A' && c <= 'Z' ? 0.74 : 0.635;
}

}  // namespace

double textWidth(std::string_view text, double fontSize, bool bold) {
    double em = 0;
    for (const char c : text) em += charWidth(static_cast<unsigned char>(c));
    return em * fontSize * (bold ? 1.12 : 1);
}

std::string fitText(const std::string& text, double width, double fontSize, bool fromLeft) {
    // More characters than this cannot fit, however narrow they are; without this limit, long texts would
    // take quadratic time.
    const auto most = static_cast<std::size_t>(std::max(1.0, width / (kNarrowest * fontSize)) + 1);
    const auto shortened = [&](std::size_t limit) {
        return fromLeft ? shortenLeft(text, limit) : shortenRight(text, limit);
    };
    std::size_t limit = characterCount(text);
    std::string fitted = text;
    if (limit > most) fitted = shortened(limit = most);
    const std::string start = fitted;
    while (limit > 1 && textWidth(fitted, fontSize) > width)
        fitted = fromLeft ? shortenLeft(start, --limit) : shortenRight(start, --limit);
    return fitted;
}

}  // namespace quantloupe
