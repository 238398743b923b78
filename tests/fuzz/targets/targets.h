// SPDX-License-Identifier: Apache-2.0
#pragma once
// The functions that the fuzzer and, with stored files, fuzz_corpus_test call: one per kind of input. Each
// returns if the input is accepted or properly refused. Everything else is a finding: a crash, a sanitizer's
// report, an exception other than Error, an internal error, or a result that contradicts itself.

#include <string>
#include <string_view>
#include <vector>

namespace quantloupe::fuzz {

void arrays(std::string_view bytes);          ///< .npy and .npz files
void configurations(std::string_view bytes);  ///< our own JSON, applied to a small model
void images(std::string_view bytes);          ///< JPEG and PNG, also as label images
void imports(std::string_view bytes);         ///< a file in any import format
void models(std::string_view bytes);          ///< ONNX: loading, transforms, evaluation and exports
void profiles(std::string_view bytes);        ///< measured latencies
void projects(std::string_view bytes);        ///< .quantloupe files
void requests(std::string_view bytes);        ///< lines of the session protocol
void settings(std::string_view bytes);        ///< preprocessing and COCO files

struct Target {
    std::string name;  ///< also of its folder in tests/fuzz/corpus
    void (*run)(std::string_view bytes);
};
const std::vector<Target>& targets();

}  // namespace quantloupe::fuzz
