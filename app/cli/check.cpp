// SPDX-License-Identifier: Apache-2.0
// check: fails if the quantized network is too far below the float network, for use in continuous
// integration. Writes a JUnit report and a summary in Markdown on request.

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "commands.h"
#include "interchange/reports/class_report.h"
#include "interchange/reports/report_values.h"
#include "json_output.h"
#include "open_session.h"
#include "output_file.h"
#include "progress_line.h"
#include "readable.h"
#include "search/accuracy_check.h"

namespace quantloupe::cli {
namespace {

constexpr int kFailed = 3;

std::string junit(const std::string& model, const AccuracyCheck& check, double seconds) {
    const std::string failure =
        check.passed ? ""
                     : fmt::format("\n      <failure message=\"{}\"/>\n    ", escapedXml(describe(check)));
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites>\n"
        "  <testsuite name=\"quantloupe\" tests=\"1\" failures=\"{}\" time=\"{:.3f}\">\n"
        "    <testcase classname=\"quantloupe.accuracy\" name=\"{}\" time=\"{:.3f}\">{}</testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n",
        check.passed ? 0 : 1, seconds, escapedXml(model), seconds, failure);
}

std::string markdown(const std::string& model, const Evaluation& result, const AccuracyCheck& check) {
    const Accuracy &floating = *result.floating, &quantized = *result.quantized;
    std::string text = fmt::format("### {} {}\n\n{}.\n\n| | float | quantized |\n|---|---|---|\n",
                                   check.passed ? "✅" : "❌", model, describe(check));
    const auto row = [&](const char* name, std::optional<double> Accuracy::*rate) {
        if (quantized.*rate)
            text +=
                fmt::format("| {} | {} | {} |\n", name, percent(floating.*rate), percent(quantized.*rate));
    };
    row("mAP@50:95", &Accuracy::map);
    row("mAP@50", &Accuracy::map50);
    row("mIoU", &Accuracy::miou);
    row("pixel accuracy", &Accuracy::pixelAccuracy);
    row("top-1", &Accuracy::top1);
    row("top-5", &Accuracy::top5);
    if (quantized.agreement) text += fmt::format("| agreement | | {} |\n", percent(quantized.agreement));
    text += fmt::format("| SQNR | | {} |\n\n{} samples; {} layers quantized, {} skipped.\n",
                        decibels(quantized.sqnrDb), quantized.samples, result.counts.quantized,
                        result.counts.skipped);
    text += classesMarkdown(result);
    return text;
}

}  // namespace

int runCheck(const Options& options) {
    for (const auto& path : {options.junit, options.markdown})
        if (!path.empty()) requireWritable(path, options);
    const OpenedSession opened = openSession(options);
    ProgressLine line;
    const EvaluationPtr result = opened.session->evaluate(options.config, Depth::Accuracy, line.observer());
    line.clear();
    const AccuracyCheck check = checkAccuracy(*result, options.tune.maxDrop);
    for (const std::string& text : result->notices)
        if (text != opened.session->dataNotice()) notice(text);

    const std::string model = options.model.filename().string();
    if (!options.junit.empty())
        writeFileAtomically(options.junit, junit(model, check, result->seconds.total));
    if (!options.markdown.empty()) writeFileAtomically(options.markdown, markdown(model, *result, check));
    if (options.json) {
        Json json = {{"model", options.model.string()}, {"metric", check.metric},
                     {"max_drop", check.maxDrop},       {"passed", check.passed},
                     {"certain", check.certain},        {"text", describe(check)}};
        setNumber(json, "drop", check.drop, "not measured");
        json["drop_interval"] = nullptr;
        if (const auto& interval = check.dropInterval)
            json["drop_interval"] = {interval->low, interval->high};
        json["float"] = toJson(result->floating, Role::Floating);
        json["quantized"] = toJson(result->quantized, Role::Quantized);
        json["samples"] = result->samples;
        json["notices"] = result->notices;
        printJson(json);
    } else {
        fmt::print("{}: {}\n", model, describe(check));
    }
    return check.passed ? 0 : kFailed;
}

}  // namespace quantloupe::cli
