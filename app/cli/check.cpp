// SPDX-License-Identifier: Apache-2.0
// check: fails if the quantized network is too far below the float network, for use in continuous
// integration. Writes a JUnit report and a summary in Markdown on request.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/label_check.h"
#include "base/atomic_file.h"
#include "base/short_text.h"
#include "commands.h"
#include "interchange/reports/class_report.h"
#include "json_output.h"
#include "model/quantized_model.h"
#include "open_session.h"
#include "output_file.h"
#include "picture/picture_text.h"
#include "progress_line.h"
#include "readable.h"
#include "search/accuracy_check.h"
#include "session/studies/task_predictions.h"

namespace quantloupe::cli {
namespace {

constexpr int kFailed = 3;

/// `outcome`: "failure" or "error" with the message, or empty; `notices` are the output of the test.
std::string junit(const std::string& model, const char* outcome, const std::string& message,
                  const std::vector<std::string>& notices, double seconds) {
    const std::string_view kind = outcome;
    std::string content;
    if (!kind.empty()) content = fmt::format("\n      <{} message=\"{}\"/>", outcome, escapedXml(message));
    if (!notices.empty())
        content += fmt::format("\n      <system-out>{}</system-out>",
                               escapedXml(fmt::format("{}", fmt::join(notices, "\n"))));
    if (!content.empty()) content += "\n    ";
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites>\n"
        "  <testsuite name=\"quantloupe\" tests=\"1\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\">\n"
        "    <testcase classname=\"quantloupe.accuracy\" name=\"{}\" time=\"{:.3f}\">{}</testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n",
        kind == "failure" ? 1 : 0, kind == "error" ? 1 : 0, seconds, escapedXml(model), seconds, content);
}

/// Formats a file name as code in Markdown. Replaces backticks and line breaks, which would end the code.
std::string markdownName(std::string name) {
    for (char& c : name)
        if (c == '`' || static_cast<unsigned char>(c) < 0x20) c = '_';
    return "`" + cleanText(name) + "`";
}

std::string markdown(const std::string& model, const Evaluation& result, const AccuracyCheck& check) {
    const Accuracy &floating = *result.floating, &quantized = *result.quantized;
    std::string text = fmt::format("### {} {}\n\n{}.\n\n| | float | quantized |\n|---|---|---|\n",
                                   check.passed ? "✅" : "❌", markdownName(model), describe(check));
    const auto row = [&](const char* name, std::optional<double> Accuracy::*rate) {
        if (quantized.*rate)
            text +=
                fmt::format("| {} | {} | {} |\n", name, percent(floating.*rate), percent(quantized.*rate));
    };
    if (floating.userMetric && quantized.userMetric)
        text += fmt::format("| metric | {:.6g} | {:.6g} |\n", *floating.userMetric, *quantized.userMetric);
    row("mAP@50:95", &Accuracy::map);
    row("mAP@50", &Accuracy::map50);
    row("mIoU", &Accuracy::miou);
    row("pixel accuracy", &Accuracy::pixelAccuracy);
    row("token accuracy", &Accuracy::tokenAccuracy);
    if (quantized.perplexity)
        text += fmt::format("| perplexity | {:.5g} | {:.5g} |\n", floating.perplexity.value_or(0),
                            *quantized.perplexity);
    row("top-1", &Accuracy::top1);
    row("top-5", &Accuracy::top5);
    if (quantized.agreement) text += fmt::format("| agreement | | {} |\n", percent(quantized.agreement));
    text += fmt::format("| SQNR | | {} |\n\n{}; {} quantized, {} skipped.\n", decibels(quantized.sqnrDb),
                        counted(quantized.samples, "sample"), counted(result.counts.quantized, "layer"),
                        result.counts.skipped);
    text += classesMarkdown(result);
    for (const std::string& line : result.notices) text += fmt::format("\n- {}", line);
    if (!result.notices.empty()) text += "\n";
    return text;
}

int runCheckOf(const Options& options, const std::string& model) {
    const OpenedSession opened = openSession(options);
    useMetricProgram(*opened.session, options);
    requireTaskMetric(*opened.session);
    requireFloatModel(opened.session->graph(), "the check");
    ProgressLine line;
    const EvaluationPtr result = opened.session->evaluate(options.config, Depth::Accuracy, line.observer());
    line.clear();
    if (result->counts.quantized == 0)
        failInput(
            "no layer is quantized, so there is nothing to check; 'quantloupe-cli analyze' with the same "
            "options shows the reason for each layer");
    const AccuracyCheck check = checkAccuracy(*result, options.tune.maxDrop);
    for (const std::string& text : result->notices) notice(text);
    if (const LabelProblem problem = labelProblem(*result); !problem.text.empty()) notice(problem.text);

    if (!options.junit.empty())
        writeFileAtomically(options.junit, junit(model, check.passed ? "" : "failure", describe(check),
                                                 result->notices, result->seconds.total));
    if (!options.markdown.empty()) writeFileAtomically(options.markdown, markdown(model, *result, check));
    if (options.json) {
        OrderedJson json = {{"model", options.model.string()}, {"metric", traitsOf(check.metric).name},
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

/// Returns the files that no report of an error may overwrite. External data of the model is known only if
/// the model can be loaded.
InputPaths protectedInputs(const Options& options) {
    try {
        return inputsOf(options, loadModel(options.model));
    } catch (const std::exception&) {
        return inputsOf(options);
    }
}

/// Does not write to an input: the error may be that the report would overwrite it.
void reportError(const InputPaths& inputs, const std::filesystem::path& file, const std::string& text) {
    if (file.empty()) return;
    try {
        inputs.checkOutput(file);
    } catch (const Error&) {
        return;
    }
    writeFileAtomically(file, text);
}

}  // namespace

int runCheck(const Options& options) {
    const std::string model = options.model.filename().string();
    try {
        return runCheckOf(options, model);
    } catch (const std::exception& error) {
        // Otherwise an old report could be mistaken for the result of this run.
        if (!options.junit.empty() || !options.markdown.empty()) {
            const InputPaths inputs = protectedInputs(options);
            reportError(inputs, options.junit, junit(model, "error", error.what(), {}, 0));
            reportError(inputs, options.markdown,
                        fmt::format("### ❌ {}\n\n{}\n", markdownName(model), error.what()));
        }
        throw;
    }
}

}  // namespace quantloupe::cli
