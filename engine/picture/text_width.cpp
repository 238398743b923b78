// SPDX-License-Identifier: Apache-2.0
#include "picture/text_width.h"

#include "picture/picture_text.h"

namespace quantloupe {
namespace {

/// Of one character, in em.
double charWidth(unsigned char c) {
    if (c >= 0x80)
        return (c & 0xc0) == 0x80 ? 0 : c >= 0xe3 ? 1 : 0.84;  // at its lead byte; from U+3000 on: full width
    struct Group {
        std::string_view chars;
        double width;
    };
    static constexpr Group kGroups[] = {{"ijl'|", 0.29},    {" .,;:/\\!I", 0.335}, {"frt()[]-", 0.4},
                                        {"ckvxyzs_", 0.58}, {"w+=<>#&", 0.83},     {"mMW%@", 0.98}};
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
    std::string fitted = text;
    for (std::size_t limit = characterCount(text); limit > 1 && textWidth(fitted, fontSize) > width;)
        fitted = fromLeft ? shortenLeft(text, --limit) : shortenRight(text, --limit);
    return fitted;
}

}  // namespace quantloupe
