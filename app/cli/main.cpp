// SPDX-License-Identifier: Apache-2.0
// quantloupe-cli: the engine without the window.

#include "command_line.h"
#include "common/installed_files.h"

int main(int argc, char** argv) {
    quantloupe::useBundledFiles();
    quantloupe::cli::Program program;
    program.name = "quantloupe-cli";
    program.description = "Tunes the post-training quantization of neural networks.";
    program.summary = "tune the post-training quantization of ONNX models";
    program.examples = {{"Evaluate a model with 4-bit weights:",
                         "quantloupe-cli analyze model.onnx --data images --preset w4a8"},
                        {"Keep one layer in float and write the quantized model:",
                         "quantloupe-cli quantize model.onnx --data images --skip /features.0/Conv -o "
                         "quantized.onnx"},
                        {"Write the configuration for another tool:",
                         "quantloupe-cli export model.onnx --config tuned.json --to amct -o amct.json"}};
    program.seeAlso = "quantloupe(1)";
    return quantloupe::cli::runCommandLine(argc, argv, program);
}
