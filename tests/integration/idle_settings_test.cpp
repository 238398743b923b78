// SPDX-License-Identifier: Apache-2.0
// Settings and rules of layers that are folded, fused or never quantized, on the bundled demo: a notice says
// that they have no effect.
#include <QtTest>

#include "session/session.h"
#include "support/demo.h"

using namespace quantloupe;

class IdleSettingsTest : public QObject {
    Q_OBJECT

    std::unique_ptr<Session> m_session;

  private Q_SLOTS:
    void initTestCase() { m_session = test::openDemo({0, 200, 40}); }

    void separatelySkippedActivationLeavesItsUnit() {
        QuantizationConfig config = test::demoConfig();
        SkipRule rule;
        rule.layers = {"/features/features.0/features.0.2/Clip",
                       "/features/features.0/features.0.1/BatchNormalization"};
        config.rules.push_back(rule);
        const auto result = m_session->evaluate(config, Depth::States);
        const LayerResult& clip = test::layerNamed(*result, rule.layers[0]);
        QVERIFY(clip.state == LayerState::Skipped);
        QVERIFY2(clip.reason.starts_with("skipped by rule 1"), clip.reason.c_str());
        QVERIFY(test::layerNamed(*result, "/features/features.0/features.0.0/Conv").state ==
                LayerState::Quantized);
        // A setting that cannot have an effect gives a notice.
        const auto idle = std::find_if(result->notices.begin(), result->notices.end(), [](const auto& text) {
            return text.find("has no effect") != std::string::npos;
        });
        QVERIFY(idle != result->notices.end() && idle->find("BatchNormalization") != std::string::npos);
    }

    /// An activation inside the unit of a convolution has no quantizer.
    void settingsOfAFusedLayerGiveANotice() {
        const std::string clip = "/features/features.0/features.0.2/Clip";
        QuantizationConfig config = test::demoConfig();
        const auto notices = [&] {
            std::string all;
            const auto result = m_session->evaluate(config, Depth::States);
            for (const std::string& notice : result->notices) all += notice + '\n';
            return all;
        };
        config.layers[clip].comment = "wide";
        QVERIFY(notices().find("no effect") == std::string::npos);
        config.layers[clip].activationBits = 4;
        QVERIFY2(notices().find("changing the settings of '" + clip +
                                "' has no effect: it runs inside '/features/features.0/features.0.0/Conv'") !=
                     std::string::npos,
                 notices().c_str());
        config.layers[clip].precision = Precision::integer(4, 4);
        config.layers[clip].activationBits.reset();
        QVERIFY(notices().find("the precision of '" + clip + "' has no effect: it runs inside") !=
                std::string::npos);
    }

    void precisionRuleWithoutEffectGivesANotice() {
        const auto ruleFor = [](const char* op, const Precision& precision) {
            PrecisionRule rule;
            rule.covers.kind = SkipKind::Type;
            rule.covers.op = op;
            rule.precision = precision;
            return rule;
        };
        QuantizationConfig config = test::demoConfig();
        config.precisionRules = {
            ruleFor("Conv", Precision::integer(8, 16)), ruleFor("Conv", Precision::integer(8, 8)),
            ruleFor("BatchNormalization", Precision::integer(8, 8)), ruleFor("Add", Precision::float16())};
        const auto result = m_session->evaluate(config, Depth::States);
        std::vector<std::string> idle;
        for (const std::string& notice : result->notices)
            if (notice.find("has no effect") != std::string::npos) idle.push_back(notice);
        QCOMPARE(idle.size(), 2u);
        QVERIFY2(idle[0].starts_with("precision rule 1 (w8a16 for "), idle[0].c_str());
        QVERIFY2(idle[1].starts_with("precision rule 3 (w8a8 for "), idle[1].c_str());
        config.precisionRules[0].covers.off = config.precisionRules[2].covers.off = true;
        const auto withoutRules = m_session->evaluate(config, Depth::States);
        for (const std::string& notice : withoutRules->notices)
            QVERIFY2(notice.find("has no effect") == std::string::npos, notice.c_str());
    }
};

QTEST_GUILESS_MAIN(IdleSettingsTest)
#include "idle_settings_test.moc"
