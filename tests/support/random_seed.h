// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>
#include <QtGlobal>
#include <random>

namespace quantloupe::test {

/// Returns the seed for a test's random numbers and prints it. QUANTLOUPE_SEED sets it to repeat a run.
inline unsigned randomSeed(unsigned usual = std::random_device()()) {
    bool given = false;
    const unsigned wanted = qEnvironmentVariable("QUANTLOUPE_SEED").toUInt(&given);
    const unsigned seed = given ? wanted : usual;
    qInfo("QUANTLOUPE_SEED=%u", seed);
    return seed;
}

}  // namespace quantloupe::test
