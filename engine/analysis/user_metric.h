// SPDX-License-Identifier: Apache-2.0
#pragma once
// User-defined metric: a program that reads the network's outputs and prints a number.
//
//     PROGRAM [ARGUMENTS...] outputs.npz
//
// The .npz contains one array per graph output, named after it, with one row per sample, and "labels" if
// there are labels (int64, -1 for a sample without a label). The last non-empty line on standard output is
// the number, finite, in C's notation; earlier lines and standard error are for messages. The exit code must
// be 0. In Python:
//
//     #!/usr/bin/env python3
//     import sys, numpy
//     data = numpy.load(sys.argv[1])
//     print((data["logits"].argmax(1) == data["labels"]).mean())

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "model/constant.h"

namespace quantloupe {

struct UserMetric {
    std::filesystem::path program;  ///< run without a shell
    std::vector<std::string> arguments;
    double timeoutSeconds = 60;
};

/// Runs the program. The .npz is in a temporary folder, which is removed afterwards. `labels` is empty or has
/// one entry per sample. Throws Error naming the program and the cause: it cannot be run, takes too long,
/// exits with a non-zero code (with the end of its output), or prints no number; Cancelled. May be called
/// from any thread, also concurrently.
double runUserMetric(const UserMetric& metric, const std::map<std::string, ConstantPtr>& outputs,
                     std::span<const int> labels, const CancelToken& cancel);

/// Returns the number in a program's standard output. Throws Error that says what it contains instead.
double parseMetric(const std::string& text);

}  // namespace quantloupe
