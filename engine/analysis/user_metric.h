// SPDX-License-Identifier: Apache-2.0
#pragma once
// User-defined metric: a function of the network's outputs and labels, or a program that reads them and
// prints a number:
//
//     PROGRAM [ARGUMENTS...] outputs.npz
//
// The .npz contains one array per graph output, named after it, with one row per sample, and "labels" if
// there are labels (int64, one per sample or one row of tokens per sample, -1 without a label; or the targets
// of a regression, as in the data). The last
// non-empty line on standard output is the number, finite, in C's notation; earlier lines and standard error
// are for messages. The exit code must be 0. In Python:
//
//     #!/usr/bin/env python3
//     import sys, numpy
//     data = numpy.load(sys.argv[1])
//     print((data["logits"].argmax(1) == data["labels"]).mean())

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "model/constant.h"

namespace quantloupe {

/// The input of a metric.
struct MetricInput {
    std::map<std::string, ConstantPtr> outputs;  ///< one array per graph output, named after it
    /// int64, one per sample, or one per token (N × T); negative: no label. Or floats: targets, one block per
    /// sample. Null without labels.
    ConstantPtr labels;
    std::vector<std::size_t> samples;  ///< positions of the samples in the data, ascending
};

struct UserMetric {
    /// Returns a finite number. Throws Error, Cancelled. Called on the session's thread, and
    /// by verify() on its own.
    std::function<double(const MetricInput&, const CancelToken&)> measure;
    bool lowerIsBetter = false;
};

struct MetricProgram {
    std::filesystem::path program;  ///< run without a shell
    std::vector<std::string> arguments;
    double timeoutSeconds = 60;
    bool lowerIsBetter = false;
    bool operator==(const MetricProgram&) const = default;
};

/// Runs the program. The .npz is in a temporary folder, which is removed afterwards. `labels` may be null.
/// Throws Error naming the program and the cause: it cannot be run, takes too long, exits with a non-zero
/// code (with the end of its output), or prints no number; Cancelled. May be called from any thread, also
/// concurrently.
double runUserMetric(const MetricProgram& metric, const std::map<std::string, ConstantPtr>& outputs,
                     const ConstantPtr& labels, const CancelToken& cancel);

/// Returns the metric that runs the program.
UserMetric programMetric(MetricProgram program);

/// Returns the number in a program's standard output. Throws Error that says what it contains instead.
double parseMetric(const std::string& text);

}  // namespace quantloupe
