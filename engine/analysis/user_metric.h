// SPDX-License-Identifier: Apache-2.0
#pragma once
// A metric of the person's own: a program that reads the network's outputs and prints a number.
//
//     PROGRAM [ARGUMENTS...] outputs.npz
//
// The .npz holds an array for each graph output, named after it, one row a sample; and with labels "labels", int64, -1
// where a sample has none. The last line on standard output that is not empty is the number, in C's notation, finite;
// lines before it and standard error are for messages. Exit code 0. In Python:
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

/// The .npz is in a folder for temporary files, which is removed afterwards. `labels` is empty or holds one a sample.
/// Throws Error naming the program and what went wrong: cannot be run, too slow, non-zero exit (with the end of what it
/// said), no number; Cancelled. Any thread; the program runs beside others.
double runUserMetric(const UserMetric& metric, const std::map<std::string, ConstantPtr>& outputs,
                     std::span<const int> labels, const CancelToken& cancel);

/// What runUserMetric takes from a program's standard output; throws Error that says what is there instead.
double parseMetric(const std::string& text);

}  // namespace quantloupe
