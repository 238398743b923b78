// SPDX-License-Identifier: Apache-2.0
#pragma once
// The numbers of an accuracy with their keys in files.

#include <optional>
#include <utility>

#include "results/evaluation.h"

namespace quantloupe {

/// The order is that of project files and reports. The user's metric is not among them: its name and meaning
/// are those of a program that a file does not contain.
inline constexpr std::pair<const char*, std::optional<double> Accuracy::*> kAccuracyNumbers[] = {
    {"top1", &Accuracy::top1},
    {"top5", &Accuracy::top5},
    {"agreement", &Accuracy::agreement},
    {"sqnr_db", &Accuracy::sqnrDb},
    {"max_abs_diff", &Accuracy::maxAbsDiff},
    {"mse", &Accuracy::mse},
    {"psnr_db", &Accuracy::psnrDb},
    {"map", &Accuracy::map},
    {"map50", &Accuracy::map50},
    {"miou", &Accuracy::miou},
    {"pixel_accuracy", &Accuracy::pixelAccuracy},
    {"token_accuracy", &Accuracy::tokenAccuracy},
    {"perplexity", &Accuracy::perplexity},
};

}  // namespace quantloupe
