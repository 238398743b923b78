// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>
#include <QtGlobal>
#include <random>

namespace quantloupe::test {

/// The seed of a test's random numbers, said in its output. QUANTLOUPE_SEED gives that of a run to be repeated.
inline unsigned randomSeed(unsigned usual = std::random_device()()) {
    bool given = false;
    const unsigned wanted = qEnvironmentVariable("QUANTLOUPE_SEED").toUInt(&given);
    const unsigned seed = given ? wanted : usual;
    qInfo("QUANTLOUPE_SEED=%u", seed);
    return seed;
}

}  // namespace quantloupe::test
