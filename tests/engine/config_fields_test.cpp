// SPDX-License-Identifier: Apache-2.0
// The table of fields: what is added to it appears everywhere.
#include "config/config_fields.h"

#include <QtTest>
#include <set>

#include "base/error.h"
#include "config/config_json.h"
#include "config/layer_json.h"
#include "config/presets.h"

using namespace quantloupe;

namespace {

/// Stands for the member of a new option. A real one is a member of the configuration.
int damping = 3;
std::optional<int> dampingOfLayer;

/// The configuration's table with one more field, "calibration.damping".
FieldTable tableWithDamping() {
    FieldTable table = configFields();
    const auto access = [](auto&) -> int& { return damping; };
    const auto own = [](auto&) -> std::optional<int>& { return dampingOfLayer; };
    table.add("calibration.damping", access, integerField(1, 9), "How much ranges are damped.")
        .option("--damping")
        .layer(own);
    // The fields of a group follow one another.
    Field added = std::move(table.fields.back());
    table.fields.pop_back();
    const auto last = std::find_if(table.fields.rbegin(), table.fields.rend(),
                                   [](const Field& field) { return field.key.starts_with("calibration."); });
    table.fields.insert(last.base(), std::move(added));
    return table;
}

ObjectReader readerOf(const Json& json) {
    static const std::vector<std::string> kNoKeys;
    return ObjectReader(json, "", kNoKeys);
}

}  // namespace

class ConfigFieldsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() {
        damping = 3;
        dampingOfLayer.reset();
    }

    void aNewFieldIsWrittenAndRead() {
        const FieldTable table = tableWithDamping();
        QuantizationConfig config;
        QCOMPARE(writeFields(table.fields, "", config)["calibration"]["damping"], OrderedJson(3));
        const Json json = Json::parse(R"({"calibration": {"damping": 7}})");
        ObjectReader reader = readerOf(json);
        readFields(reader, table.fields, "", config);
        reader.finish();
        QCOMPARE(damping, 7);
        const Json bad = Json::parse(R"({"calibration": {"damping": 10}})");
        ObjectReader again = readerOf(bad);
        QVERIFY_EXCEPTION_THROWN(readFields(again, table.fields, "", config), Error);
    }

    void aNewFieldIsInTheSchema() {
        const OrderedJson schema =
            configSchema(tableWithDamping())["properties"]["calibration"]["properties"]["damping"];
        QCOMPARE(schema.dump(), std::string(R"({"type":"integer","minimum":1,"maximum":9,"default":3,)"
                                            R"("description":"How much ranges are damped."})"));
    }

    void aLayerMayOverrideIt() {
        const FieldTable table = tableWithDamping();
        const Field& field = table.at("calibration.damping");
        QCOMPARE(field.layerKey(), std::string("calibration.damping"));
        std::vector<Field> fields;
        for (const Field& one : table.fields)
            if (one.ofLayer()) fields.push_back(one);
        LayerSettings settings;
        QVERIFY(!writeLayerFields(fields, settings).contains("calibration"));
        const Json json = Json::parse(R"({"calibration": {"damping": 5}, "weight": {"bits": 4}})");
        ObjectReader reader = readerOf(json);
        readLayerFields(reader, fields, settings);
        reader.finish();
        QCOMPARE(dampingOfLayer, std::optional(5));
        QCOMPARE(settings.weightBits, std::optional(4));
        QCOMPARE(writeLayerFields(fields, settings).dump(),
                 std::string(R"({"weight":{"bits":4},"calibration":{"damping":5}})"));
        LayerOptions options;
        field.applyLayer(settings, options);
        QCOMPARE(damping, 5);
        VersionBuilder builder, other;
        field.addTo(options, builder);
        damping = 6;
        field.addTo(options, other);
        QVERIFY(builder.finish() != other.finish());
    }

    void keysAreUniqueAndExplained() {
        std::set<std::string> keys, options;
        for (const Field& field : configFields().fields) {
            QVERIFY2(keys.insert(field.key).second, field.key.c_str());
            QVERIFY2(field.help.ends_with('.'), field.key.c_str());
            if (!field.option.empty()) QVERIFY2(options.insert(field.option).second, field.option.c_str());
        }
        for (const FieldGroup& group : configFields().groups)
            QVERIFY2(!group.help.empty(), group.key.c_str());
    }

    void layerKeysAreLongestFirst() {
        const auto& keys = layerKeys();
        QVERIFY(std::ranges::is_sorted(keys, std::ranges::greater(), &std::string::size));
        for (const char* key :
             {"weight.bits", "weight", "calibration.parameters.num_bins", "quantize", "comment", "bias_bits"})
            QVERIFY2(std::ranges::count(keys, key) == 1, key);
    }

    /// Presets, cache keys and comparisons copy fields by these marks.
    void copiesTheChosenFields() {
        QuantizationConfig config;
        config.transforms.skipFolding = {"Conv_1"};
        config.transforms.equalization.off = {{"a", "b"}};
        config.rules = {{SkipKind::Type, {}, {}, {}, "Add", {}}};
        config.layers["x"].weightBits = 4;
        config.quantization.weight.bits = 5;
        config.exports.floatWeights = true;
        const QuantizationConfig w4 = withPreset(config, "w4a8");
        QCOMPARE(w4.quantization.weight.bits, 4);
        QVERIFY(!w4.exports.floatWeights);
        QVERIFY(w4.rules == config.rules && w4.layers == config.layers);
        QVERIFY(w4.transforms.skipFolding == config.transforms.skipFolding);
        QVERIFY(w4.transforms.equalization.off == config.transforms.equalization.off);
        const QuantizationConfig numbers =
            onlyFields(config, [](const Field& f) { return f.effect == FieldEffect::Results; });
        QVERIFY(!numbers.exports.floatWeights && numbers.rules.empty());
        QCOMPARE(numbers.quantization.weight.bits, 5);
        const QuantizationConfig model = onlyFields(config, [](const Field& f) { return f.changesModel; });
        QCOMPARE(model.quantization.weight.bits, 8);
        QVERIFY(model.transforms == config.transforms);
    }
};

QTEST_GUILESS_MAIN(ConfigFieldsTest)
#include "config_fields_test.moc"
