// SPDX-License-Identifier: Apache-2.0
// Layouts cached on disk: they are read again, damaged ones are ignored, and their number is limited.
#include "jobs/layout_cache.h"

#include <QTemporaryDir>
#include <QTest>

#include "base/atomic_file.h"
#include "block_model.h"
#include "picture/place_picture.h"

using namespace quantloupe;
using namespace quantloupe::ui;

class LayoutCacheTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_path = m_folder->path().toStdString() + "/layouts";
    }

    void cachedLayoutIsUsed() {
        const GraphPtr graph = test::blockModel(5);
        const Picture first = layoutWithCache(*graph, {}, {}, m_path, 0);
        QCOMPARE(files().size(), 1u);
        // A modified file shows that the layout is read from the file.
        Picture moved = first;
        moved.nodes[3].box.x += 123;
        writeFileAtomically(files()[0], writePlaces(moved));
        QCOMPARE(layoutWithCache(*graph, {}, {}, m_path, 0).nodes[3].box.x, moved.nodes[3].box.x);
    }

    void aDamagedFileIsReplaced() {
        const GraphPtr graph = test::blockModel(5);
        const Picture first = layoutWithCache(*graph, {}, {}, m_path, 0);
        const std::string good = readFile(files()[0]);
        writeFileAtomically(files()[0], good.substr(0, good.size() / 2));
        QVERIFY(layoutWithCache(*graph, {}, {}, m_path, 0).nodes[3].box == first.nodes[3].box);
        QVERIFY(readFile(files()[0]) == good);
    }

    void fastLayoutsAreNotCached() {
        layoutWithCache(*test::blockModel(3), {}, {}, m_path, 60);
        QVERIFY(files().empty());
    }

    void uncreatableFolderIsNotAnError() {
        writeFileAtomically(m_folder->path().toStdString() + "/file", "in the way");
        const Picture picture = layoutWithCache(*test::blockModel(3), {}, {},
                                                m_folder->path().toStdString() + "/file/layouts", 0);
        QVERIFY(!picture.edges[0].points.empty());
    }

    void oldestLayoutsAreDeleted() {
        for (std::size_t blocks = 1; blocks <= kMaxLayouts + 5; ++blocks)
            layoutWithCache(*test::blockModel(blocks), {}, {}, m_path, 0);
        QCOMPARE(files().size(), kMaxLayouts);
    }

    void cancellationIsPassedOn() {
        CancelToken token;
        token.cancel();
        QVERIFY_EXCEPTION_THROWN(layoutWithCache(*test::blockModel(3), {}, token, m_path, 0), Cancelled);
        QVERIFY(files().empty());
    }

  private:
    std::vector<std::filesystem::path> files() const {
        std::vector<std::filesystem::path> found;
        if (std::filesystem::exists(m_path))
            for (const auto& entry : std::filesystem::directory_iterator(m_path))
                found.push_back(entry.path());
        return found;
    }
    std::unique_ptr<QTemporaryDir> m_folder;
    std::filesystem::path m_path;
};

QTEST_GUILESS_MAIN(LayoutCacheTest)
#include "layout_cache_test.moc"
