// SPDX-License-Identifier: Apache-2.0
// verify: runs the quantized model in ONNX Runtime on the evaluated samples and compares it with the preview.

#include "interchange/onnxruntime/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/error.h"
#include "base/short_text.h"
#include "commands.h"
#include "json_output.h"
#include "open_session.h"
#include "output_file.h"
#include "progress_line.h"
#include "quantize/plan.h"
#include "readable.h"

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
    useMetricProgram(*opened.session, options);
    ProgressLine progress;
    progress.show({.stage = "quantized network"});
    const VerifySource source = prepareVerification(*opened.session, options.config, options.output);
    progress.show({.stage = "ONNX Runtime"});
    const Verification result = verify(source);
    progress.clear();
    const std::shared_ptr<const Plan> plan = opened.session->plan(options.config);
    for (const std::string& text : plan->notices) notice(text);
    if (!opened.session->mixingNotice().empty()) notice(opened.session->mixingNotice());
    if (!result.whyNoRate.empty())
        notice("the labels are not used, and only the values are compared: " + result.whyNoRate);

    if (options.json) {
        const auto agreementOf = [&](const RuntimeComparison& found) {
            return result.classifies ? OrderedJson(found.agreement) : OrderedJson();
        };
        const auto sqnrOf = [](const DifferenceSums& error) {
            const double sqnr = error.result().sqnrDb;
            return std::isfinite(sqnr) ? OrderedJson(sqnr) : OrderedJson();
        };
        const auto comparison = [&](const std::optional<RuntimeComparison>& found) -> OrderedJson {
            if (!found) return nullptr;
            OrderedJson made = {{"agreement", agreementOf(*found)}, {"max_abs_diff", found->maxAbsDiff}};
            made["sqnr_db"] = sqnrOf(found->error);
            if (found->rate) made[found->rate->name()] = found->rate->value;
            if (found->metric) made["metric"] = *found->metric;
            return made;
        };
        OrderedJson json = {
            {"output", options.output.string()},
            {"runtime", result.runtime},
            {"samples", result.samples},
            {"agreement", agreementOf(result.plain)},
            {"max_abs_diff", result.plain.maxAbsDiff},
            {"sqnr_db", {{"here", sqnrOf(result.error)}, {"there", sqnrOf(result.plain.error)}}},
            {"optimized", comparison(result.optimized)},
            {"exact", comparison(result.exact)},
            {"here", nullptr},
            {"there", nullptr}};
        if (result.here) {
            json["here"] = {{result.here->name(), result.here->value}};
            json["there"] = {{result.here->name(), result.plain.rate->value}};
        }
        if (result.metric) {
            json["here"]["metric"] = *result.metric;
            json["there"]["metric"] = *result.plain.metric;
        }
        const std::string why = whyVerificationFailed(result);
        json["failure"] = why.empty() ? OrderedJson() : OrderedJson(why);
        json["not_compared"] = result.notCompared;
        json["no_rate"] = result.whyNoRate.empty() ? OrderedJson() : OrderedJson(result.whyNoRate);
        printJson(json);
        requireVerified(why);
        return;
    }
    if (result.here)
        fmt::print("{} on {}: {:.2f} % in the preview, {:.2f} % in {}\n", result.here->title(),
                   counted(result.samples, "sample"), 100 * result.here->value,
                   100 * result.plain.rate->value, result.runtime);
    if (result.metric)
        fmt::print("{}: {} in the preview, {} in {}\n", options.metricProgram.filename().string(),
                   *result.metric, *result.plain.metric, result.runtime);
    // Only outputs with one row of scores for each sample have classes.
    const auto print = [&](std::string_view where, const RuntimeComparison& found, bool withRate) {
        fmt::print("{}", where);
        if (withRate && found.rate) fmt::print("{} {:.2f} %; ", found.rate->title(), 100 * found.rate->value);
        if (withRate && found.metric)
            fmt::print("{} {}; ", options.metricProgram.filename().string(), *found.metric);
        if (result.classifies)
            fmt::print("same class for {:.2f} % of {}; ", 100 * found.agreement,
                       counted(result.samples, "sample"));
        fmt::print("SQNR {} ({} in the preview); largest difference from the preview: {:.3g}\n",
                   decibels(found.error.result().sqnrDb), decibels(result.error.result().sqnrDb),
                   found.maxAbsDiff);
    };
    print("", result.plain, false);
    if (result.optimized) print("at the default optimization level: ", *result.optimized, true);
    const std::string advice = optimizationAdvice(result);
    if (!advice.empty()) {
        if (result.exact) print("at the default level without saturation: ", *result.exact, true);
        fmt::print("{}\n", advice);
    }
    if (!result.notCompared.empty())
        fmt::print("not compared, because their shapes are different from those in the preview: {}\n",
                   fmt::join(result.notCompared, ", "));
    const std::string why = whyVerificationFailed(result);
    requireVerified(why);
    fmt::print("{}\n", advice.empty() ? "verified" : "verified without graph optimizations");
}

}  // namespace quantloupe::cli
