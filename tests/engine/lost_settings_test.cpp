// SPDX-License-Identifier: Apache-2.0
// A setting that changes the results of the preview changes the file for another tool as well, or a notice
// says that it is lost.
#include <QtTest>

#include "base/error.h"
#include "config/config_fields.h"
#include "config/config_json.h"
#include "config/presets.h"
#include "support/export_support.h"

using namespace quantloupe;

namespace {

/// Values other than the given one, as --set reads them.
std::vector<std::string> otherValues(const OrderedJson& schema, const OrderedJson& value) {
    std::vector<OrderedJson> candidates;
    if (schema.contains("enum"))
        candidates.assign(schema["enum"].begin(), schema["enum"].end());
    else if (value.is_boolean())
        candidates = {true, false};
    else
        candidates = {4, 16, 0.5};
    std::vector<std::string> texts;
    for (const OrderedJson& other : candidates)
        if (other != value) texts.push_back(other.is_string() ? other.get<std::string>() : other.dump());
    return texts;
}

/// The files and the notices.
std::string exported(const char* format, const QuantizationConfig& config) {
    const ExportResult result =
        formatNamed(format, false).write(test::exportSource(test::stageModel(), config, "net.txt"));
    std::string all;
    for (const auto& file : result.files) all += file.model ? file.model->version().hex() : file.text;
    return all + test::joined(result.notices);
}

}  // namespace

class LostSettingsTest : public QObject {
    Q_OBJECT

    /// Settings of a single layer whose value differs from that of the network.
    static QStringList lostOfLayers(const char* format, const QuantizationConfig& start,
                                    const std::string& before) {
        QStringList lost;
        for (const Field& field : configFields().fields) {
            if (!field.ofLayer() || field.key.starts_with(kParameterPrefix)) continue;
            const std::string prefix = "quantization.";
            const std::string key =
                field.key.starts_with(prefix) ? field.key.substr(prefix.size()) : field.key;
            for (const std::string& value : otherValues(field.schema, field.write(start))) {
                QuantizationConfig config = start;
                try {
                    setConfigKey(config, "layers./out/Conv." + key, value);
                } catch (const Error&) {
                    continue;
                }
                if (exported(format, config) == before)
                    lost << QString::fromStdString("layer: " + key + " " + value);
            }
        }
        return lost;
    }

  private Q_SLOTS:
    void settings_data() {
        QTest::addColumn<QString>("format");
        QTest::addColumn<QString>("preset");
        // Settings that have no effect on this network with this preset.
        QTest::addColumn<QStringList>("without");
        const auto row = [](const char* format, const char* preset, const QStringList& without) {
            QTest::addRow("%s, %s", format, preset) << format << preset << without;
        };
        const QStringList skips{"skip.tail", "skip.whole_tail"},  // the tail covers too much of this network
            unequalized{"transforms.equalization.steps", "transforms.equalization.append_bias",
                        "transforms.equalization.weight_threshold",
                        "transforms.equalization.total_layer_diff_threshold",
                        "transforms.equalization.exclude_skipped"},
            perTensor{"quantization.weight.per_channel_products"},
            nothingSkipped{"transforms.equalization.exclude_skipped"};
        const QStringList sameNetwork{"transforms.simplify", "quantization.operators"};
        row("amct", "amct-default", skips + unequalized + sameNetwork);
        row("onnxruntime", "onnxruntime-s8s8", skips + unequalized + sameNetwork + perTensor);
        row("quark", "quark-a8w8", skips + nothingSkipped + perTensor);
        row("quark", "quark-xint8",
            skips + nothingSkipped + perTensor + QStringList{"quantization.activation.power_of_two"});
    }
    void settings() {
        QFETCH(QString, format);
        QFETCH(QString, preset);
        QFETCH(QStringList, without);
        const QuantizationConfig start = presetConfig(preset.toStdString());
        const std::string before = exported(qPrintable(format), start);
        QStringList lost;
        int changed = 0;
        for (const Field& field : configFields().fields) {
            if (field.effect == FieldEffect::Export || field.key.starts_with(kParameterPrefix)) continue;
            const QString key = QString::fromStdString(field.key);
            for (const std::string& value : otherValues(field.schema, field.write(start))) {
                QuantizationConfig config = start;
                try {
                    setConfigKey(config, field.key, value);
                } catch (const Error&) {
                    continue;
                }
                if (field.write(config) == field.write(start)) continue;
                if (exported(qPrintable(format), config) == before && !lost.contains(key)) lost << key;
                ++changed;
            }
        }
        QVERIFY(changed > 40);
        lost += lostOfLayers(qPrintable(format), start, before);
        lost.sort();
        without.sort();
        QVERIFY2(lost == without, qPrintable("without an effect:\n" + lost.join('\n')));
    }
};

QTEST_GUILESS_MAIN(LostSettingsTest)
#include "lost_settings_test.moc"
