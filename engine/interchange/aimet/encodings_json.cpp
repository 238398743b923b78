// SPDX-License-Identifier: Apache-2.0
#include "interchange/aimet/encodings_json.h"

#include "base/error.h"

namespace quantloupe {

OrderedJson encodingEntries(const TensorEncoding& e) {
    OrderedJson list = OrderedJson::array();
    const double most = static_cast<double>((1L << e.bits) - 1);
    for (std::size_t i = 0; i < e.scales.size(); ++i) {
        const double scale = e.scales[i];
        list.push_back({{"bitwidth", e.bits},
                        {"dtype", "int"},
                        {"is_symmetric", e.symmetric ? "True" : "False"},
                        {"max", scale * (most + e.offsets[i])},
                        {"min", scale * e.offsets[i]},
                        {"offset", e.offsets[i]},
                        {"scale", scale}});
    }
    return list;
}

std::string dumpedJson(const OrderedJson& json, int indent) {
    try {
        return json.dump(indent) + "\n";
    } catch (const OrderedJson::exception&) {
        failInput("a name in the model is not valid UTF-8, which JSON needs; rename it in the model");
    }
}

}  // namespace quantloupe
