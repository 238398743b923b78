// SPDX-License-Identifier: Apache-2.0
// verify: runs the quantized model in ONNX Runtime on the evaluated samples and compares it with the preview.

#include "interchange/onnxruntime/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "commands.h"
#include "interchange/wording.h"
#include "json_output.h"
#include "open_session.h"
#include "output_file.h"
#include "progress_line.h"

namespace quantloupe::cli {
namespace {

/// Ends the command with an error if there is a reason why the verification failed.
void requireVerified(const std::string& why) {
    if (why.empty()) return;
    std::fflush(stdout);
    failInput("verification failed: {}", why);
}

}  // namespace

void runVerify(const Options& options) {
    requireWritable(options.output, options);
    OpenedSession opened = openSession(options);
    ProgressLine progress;
    progress.show({.stage = "quantized network"});
    const VerifySource source = prepareVerification(*opened.session, options.config, options.output);
    progress.show({.stage = "ONNX Runtime"});
    const Verification result = verify(source);
    progress.clear();

    if (options.json) {
        Json json = {{"output", options.output.string()},
                     {"runtime", result.runtime},
                     {"samples", result.samples},
                     {"agreement", result.agreement},
                     {"max_abs_diff", result.maxAbsDiff},
                     {"optimized", nullptr},
                     {"here", nullptr},
                     {"there", nullptr}};
        if (result.here) {
            json["here"] = {{"top1", *result.here}};
            json["there"] = {{"top1", *result.there}};
        }
        if (result.optimizedAgreement)
            json["optimized"] = {{"agreement", *result.optimizedAgreement},
                                 {"max_abs_diff", *result.optimizedMaxAbsDiff}};
        const std::string why = whyVerificationFailed(result);
        json["failure"] = why.empty() ? Json() : Json(why);
        json["not_compared"] = result.notCompared;
        printJson(json);
        requireVerified(why);
        return;
    }
    if (result.here)
        fmt::print("top-1 on {} samples: {:.2f} % in the preview, {:.2f} % in {}\n", result.samples,
                   100 * *result.here, 100 * *result.there, result.runtime);
    // Only outputs with one row of scores for each sample have classes.
    const auto classes = [&](double agreement) {
        return result.classifies ? fmt::format("same class for {:.2f} % of {}; ", 100 * agreement,
                                               counted(result.samples, "sample"))
                                 : std::string();
    };
    fmt::print("{}largest output difference: {:.3g}\n", classes(result.agreement), result.maxAbsDiff);
    if (result.optimizedAgreement)
        fmt::print("at the default optimization level: {}largest output difference: {:.3g}\n",
                   classes(*result.optimizedAgreement), *result.optimizedMaxAbsDiff);
    if (!result.notCompared.empty())
        fmt::print("not compared, because their shapes are different from those in the preview: {}\n",
                   fmt::join(result.notCompared, ", "));
    const std::string why = whyVerificationFailed(result);
    requireVerified(why);
    fmt::print("verified\n");
}

}  // namespace quantloupe::cli
