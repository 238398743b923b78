// SPDX-License-Identifier: Apache-2.0
// Options of analyze.

#include <array>

#include "options.h"

namespace quantloupe::cli {

void OptionReader::addAnalysis() {
    oneOf("--metrics", {"basic", "all"}, "all: also relative errors and KL divergence of each layer",
          [this](std::size_t i) { m_options.metrics.elementwise = i == 1; });
    oneOf("--only", {"both", "weights", "activations"}, "Tensors to quantize for the layer metrics",
          [this](std::size_t i) {
              m_options.metrics.parts =
                  std::array{QuantizedParts::Both, QuantizedParts::Weights, QuantizedParts::Activations}[i];
          });
    oneOf("--reference", {"prepared", "source"},
          "Float network to compare the layers with: after the transforms, or as in the file",
          [this](std::size_t i) {
              m_options.metrics.reference = i == 0 ? MetricReference::Prepared : MetricReference::Source;
          });
    text("--layer", "Print all details of this layer", [this](const std::string& value) {
        m_options.layer = value;
    })->type_name("NAME");
    text("--bins", "Number of histogram bins for --layer (64)", [this](const std::string& value) {
        m_options.bins = static_cast<std::size_t>(parseNumber("--bins", value, 1, 65536));
    })->type_name("N");
    flag("--classes", "Print the result of each class", [this] { m_options.classes = true; });
    flag("--images", "List the samples whose predicted class or score changed",
         [this] { m_options.images = true; });
    text("--image", "Trace one sample through the network, by name or index",
         [this](const std::string& value) { m_options.image = value; })
        ->type_name("NAME|N");
    path("--against", m_options.against, "Compare with this configuration on the same samples");
    addMetricProgram();
}

}  // namespace quantloupe::cli
