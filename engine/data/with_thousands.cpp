// SPDX-License-Identifier: Apache-2.0
#include "data/with_thousands.h"

namespace quantloupe {

std::string withThousands(std::size_t number) {
    const std::string digits = std::to_string(number);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
        text += digits[i];
    }
    return text;
}

}  // namespace quantloupe
