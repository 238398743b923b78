// SPDX-License-Identifier: Apache-2.0
// Invalid JSON of a configuration is refused with a message that names the key.
#include <QtTest>

#include "config/config_json.h"
#include "support/errors.h"

using namespace quantloupe;
using test::errorOf;

class ConfigJsonErrorsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void refuses_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* text, const char* message) {
            QTest::newRow(text) << text << message;
        };
        row("", "not valid JSON");
        row("{,}", "not valid JSON: parse error at line 1, column 2");
        row("[]", "must be a JSON object, not a list");
        row(R"({"quantloupe": 2})", "has format 2, and this version of Quantloupe reads format 1");
        row(R"({"quantloupe": "one"})", "quantloupe: must be the version of the format, 1, not 'one'");
        row(R"({"preset": "w3"})", "preset: there is no preset 'w3'; available: default, w4a8");
        row(R"({"quantisation": {}})", "unknown key 'quantisation' (did you mean 'quantization'?)");
        row(R"({"quantization": {"weight": {"bit": 4}}})",
            "unknown key 'quantization.weight.bit' (did you mean 'quantization.weight.bits'?)");
        row(R"({"quantization": {"samples": 4}})",
            "unknown key 'quantization.samples' (did you mean 'calibration.samples'?)");
        row(R"({"refine": {"xyz": 4}})",
            "unknown key 'refine.xyz'; available: bias_correction, rounding, migration");
        row(R"({"skip": {"tail": true, "rules": [], "tail": false}})", "duplicate key 'skip.tail'");
        row(R"({"layers": {"a.b": {"weight": {"bits": 4, "bits": 5}}}})",
            "duplicate key 'layers.a.b.weight.bits'");
        row(R"({"transforms": []})", "transforms: must be an object, not a list");
        row(R"({"transforms": {"fold_batch_norm": 1}})",
            "transforms.fold_batch_norm: must be true or false, not 1");
        row(R"({"quantization": {"weight": {"bits": 17}}})",
            "quantization.weight.bits: 17 is out of range; available: 2 to 16");
        row(R"({"quantization": {"weight": {"bits": 2.5}}})",
            "quantization.weight.bits: must be a whole number, not 2.5");
        row(R"({"quantization": {"weight": {"bits": 1e300}}})",
            "quantization.weight.bits: 1e+300 is out of range");
        row(R"({"quantization": {"weight": {"method": "ark"}}})",
            "quantization.weight.method: 'ark' is unknown (did you mean 'arq'?); available: min_max, arq, "
            "mse");
        row(R"({"quantization": {"activation": {"bits": 1}}})",
            "quantization.activation.bits: 1 is out of range; available: 2 to 16");
        row(R"({"quantization": {"placement": "outputs"}})",
            "quantization.placement: 'outputs' is unknown (did you mean 'inputs_and_outputs'?); available: "
            "inputs_and_outputs, weighted_inputs");
        row(R"({"quantization": {"bias_bits": 12}})",
            "quantization.bias_bits: must be 8, 16, 32 or 'float', not 12");
        row(R"({"calibration": {"method": "percentil"}})",
            "calibration.method: 'percentil' is unknown (did you mean 'percentile'?)");
        row(R"({"calibration": {"method": "minmax"}})",
            "calibration.method: 'minmax' is unknown (did you mean 'min_max'?); available: min_max");
        row(R"({"calibration": {"samples": 0}})", "calibration.samples: 0 is out of range");
        row(R"({"calibration": {"parameters": {"a": 1}}})",
            "unknown key 'calibration.parameters.a'; available: averaging_constant, percentile,");
        row(R"({"calibration": {"parameters": {"percentile": 0.5}}})",
            "calibration.parameters.percentile: must be a number above 0.5 to 1, not 0.5");
        row(R"({"calibration": {"parameters": {"percentile": 99.9}}})",
            "calibration.parameters.percentile: must be a number above 0.5 to 1, not 99.9");
        row(R"({"calibration": {"parameters": {"max_percentile": "all"}}})",
            "calibration.parameters.max_percentile: must be a number above 0.5 to 1, not 'all'");
        row(R"({"calibration": {"parameters": {"averaging_constant": -0.1}}})",
            "must be a number from 0 to 1, not -0.1");
        row(R"({"calibration": {"parameters": {"num_bins": 1000}}})",
            "calibration.parameters.num_bins: must be a power of two from 128 to 8192, not 1000");
        row(R"({"calibration": {"parameters": {"num_of_bins": 512}}})",
            "num_of_bins: 512 is out of range; available: 1024 to 8192");
        row(R"({"calibration": {"parameters": {"search_range": [1.3, 0.7]}}})",
            "calibration.parameters.search_range: must be two numbers [start, end] with 0 < start < end, not "
            "[1.3, 0.7]");
        row(R"({"calibration": {"parameters": {"search_range": [0.7, 1.3], "search_step": 0.61}}})",
            "calibration.parameters.search_step: 0.61 is larger than the width of search_range");
        row(R"({"calibration": {"parameters": {"search_range": [0.7, 1.3], "search_step": 1e-12}}})",
            "calibration.parameters.search_step: 1e-12 divides search_range [0.7, 1.3] into more than "
            "100,000");
        row(R"({"refine": {"migration": 1.5}})", "refine.migration: must be a number from 0 to 1, not 1.5");
        row(R"({"refine": {"migration": "half"}})",
            "refine.migration: must be a number from 0 to 1, not 'half'");
        row(R"({"transforms": {"equalization": {"profile": "quirk"}}})",
            "transforms.equalization.profile: 'quirk' is unknown (did you mean 'quark'?); available: off, "
            "aimet, quark, quantloupe");
        row(R"({"transforms": {"equalization": {"steps": -2}}})",
            "steps: -2 is out of range; available: -1 to 1000 (-1:");
        row(R"({"transforms": {"equalization": {"append_bias": 1}}})",
            "append_bias: must be true or false, not 1");
        row(R"({"transforms": {"equalization": {"weight_threshold": -0.5}}})",
            "weight_threshold: must be a number of 0 or more, not -0.5");
        row(R"({"transforms": {"equalization": {"off": ["a"]}}})",
            "transforms.equalization.off[0]: must be a list of strings, not 'a'");
        row(R"({"skip": {"rules": [{"kind": "node", "layers": ["a"]}, {"kind": "block", "like": ""}]}})",
            "skip.rules[1].like: is missing or empty");
        row(R"({"skip": {"rules": [{"kind": "threshold", "metric": "local.qs"}]}})",
            "skip.rules[0]: a threshold rule needs either above or below, and not both");
        row(R"({"skip": {"rules": [{"kind": "threshold", "metric": "local.qs", "value": 1}]}})",
            "unknown key 'skip.rules[0].value'; available: ");
        row(R"({"skip": {"rules": [{"kind": "threshold", "metric": "local.qs", "above": 1, "below": 2}]}})",
            "skip.rules[0]: a threshold rule needs either above or below, and not both");
        row(R"({"skip": {"rules": [{"kind": "threshold", "metric": "qs", "above": 1}]}})",
            "skip.rules[0].metric");
        row(R"({"skip": {"rules": [{"kind": "threshold", "metric": "local.qs", "above": "1"}]}})",
            "skip.rules[0].above: must be a number, not '1'");
        row(R"({"skip": {"rules": [{"kind": "nod"}]}})",
            "skip.rules[0].kind: 'nod' is unknown (did you mean 'node'?)");
        row(R"({"skip": {"rules": [{"layers": ["a"]}]}})",
            "skip.rules[0].kind: is missing; every rule needs a kind");
        row(R"({"skip": {"rules": [{"kind": "until", "from": "a"}]}})",
            "skip.rules[0].to: is missing or empty");
        row(R"({"skip": {"rules": [{"kind": "type", "op": "Add", "from": "a"}]}})",
            "unknown key 'skip.rules[0].from'");
        row(R"({"layers": {"Conv_1": {"weight": {"bits": "4"}}}})",
            "layers.Conv_1.weight.bits: must be a whole number, not '4'");
        row(R"({"layers": {"Conv_1": {"calibration": {"method": "entropie"}}}})",
            "layers.Conv_1.calibration.method: 'entropie' is unknown (did you mean 'entropy'?)");
        row(R"({"layers": {"Conv_1": {"calibration": {"parameters": {"search_step": 0}}}}})",
            "layers.Conv_1.calibration.parameters.search_step: must be a number above 0 to 1000, not 0");
        row(R"({"layers": {"Conv_1": {"skip": true}}})", "unknown key 'layers.Conv_1.skip'");
        row(R"({"layers": {"": {}}})", "layers: a layer has an empty name");
    }
    void refuses() {
        QFETCH(QString, text);
        QFETCH(QString, message);
        const QString found = errorOf([&] { configFromJson(text.toStdString()); });
        QVERIFY2(found.contains(message), qPrintable(found));
    }

    void refusesDeepNesting() {
        const std::string text = R"({"layers": )" + std::string(100000, '[') + std::string(100000, ']') + "}";
        QVERIFY(errorOf([&] { configFromJson(text); }).contains("nested more than"));
    }
};

QTEST_GUILESS_MAIN(ConfigJsonErrorsTest)
#include "config_json_errors_test.moc"
