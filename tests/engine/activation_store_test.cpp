// SPDX-License-Identifier: Apache-2.0
// The store of activations: what it finds, and what it evicts when.
#include "session/caches/activation_store.h"

#include <QtTest>

using namespace quantloupe;

namespace {

constexpr std::size_t kChunks = 2;
const TensorDesc kChunk{DataType::Float32, {1, 256}, Layout::Plain};  // 1 KiB

Version versionOf(std::uint64_t number) { return {0, number}; }

void fill(ActivationStore& store, std::uint64_t number, double density = 1) {
    const auto tensor = store.create(versionOf(number), kChunk, kChunks, density, {});
    for (std::size_t chunk = 0; tensor && chunk < kChunks; ++chunk) tensor->setPresent(chunk);
}

bool has(ActivationStore& store, std::uint64_t number) {
    return store.find(versionOf(number), 0, kChunks) != nullptr;
}

}  // namespace

class ActivationStoreTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void findsOnlyCompleteTensors() {
        ActivationStore store(1 << 20);
        const auto tensor = store.create(versionOf(1), kChunk, kChunks, 1, {});
        tensor->setPresent(0);
        QVERIFY(store.find(versionOf(1), 0, 1));
        QVERIFY(!has(store, 1));
        tensor->setPresent(1);
        QVERIFY(has(store, 1));
        QVERIFY(!has(store, 2));
    }

    void evictsTheCheapestTensorsOverBudget() {
        ActivationStore store(3 * kChunks * kChunk.bytes());
        fill(store, 1, 3);
        fill(store, 2, 1);
        fill(store, 3, 2);
        fill(store, 4, 3);
        QVERIFY(store.bytes() <= store.budget());
        QVERIFY(!has(store, 2));
        for (const int number : {1, 3, 4}) QVERIFY(has(store, static_cast<std::uint64_t>(number)));
    }

    void keepsTensorsInUse() {
        ActivationStore store(2 * kChunks * kChunk.bytes());
        fill(store, 1, 1);
        fill(store, 2, 5);
        {
            const auto used = store.find(versionOf(1), 0, kChunks);
            QCOMPARE(store.available(), store.budget() / 2);
            fill(store, 3, 1);  // evicts 2 despite its density
            QVERIFY(!has(store, 2));
            const auto alsoUsed = store.find(versionOf(3), 0, kChunks);
            QCOMPARE(store.available(), std::size_t(0));
            QVERIFY(!store.create(versionOf(4), kChunk, kChunks, 9, {}));
            QVERIFY(has(store, 1) && has(store, 3));
        }
        fill(store, 4, 9);
        QVERIFY(has(store, 4));
        QVERIFY(store.bytes() <= store.budget());
    }

    void keepsRenewedTensors() {
        ActivationStore store(1 << 20);
        for (const int number : {1, 2, 3}) fill(store, static_cast<std::uint64_t>(number));
        const std::size_t bytes = store.bytes();
        for (std::size_t i = 0; i < ActivationStore::kEvaluationsKept; ++i) {
            store.nextEvaluation();
            store.renew(versionOf(1));
            QVERIFY(has(store, 2));  // which renews it
        }
        QCOMPARE(store.bytes(), bytes);
        store.nextEvaluation();
        QVERIFY(!has(store, 3));
        QVERIFY(has(store, 1));
        QVERIFY(has(store, 2));
        QCOMPARE(store.bytes(), bytes / 3 * 2);
    }

    void anEvictedTensorStaysValid() {
        ActivationStore store(1 << 20);
        const auto tensor = store.create(versionOf(1), kChunk, kChunks, 1, {});
        for (std::size_t i = 0; i <= ActivationStore::kEvaluationsKept; ++i) store.nextEvaluation();
        QVERIFY(!has(store, 1));
        QCOMPARE(store.bytes(), std::size_t(0));
        std::fill_n(tensor->chunk(1), kChunk.bytes(), std::byte{7});
        QCOMPARE(tensor->chunk(1)[kChunk.bytes() - 1], std::byte{7});
    }
};

QTEST_GUILESS_MAIN(ActivationStoreTest)
#include "activation_store_test.moc"
