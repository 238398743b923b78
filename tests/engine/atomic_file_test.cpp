// SPDX-License-Identifier: Apache-2.0
// Whole files: never half written, links and devices stay what they are.
#include "base/atomic_file.h"

#include <QTemporaryDir>
#include <QtTest>

#include "base/error.h"

using namespace quantloupe;
namespace fs = std::filesystem;

class AtomicFileTest : public QObject {
    Q_OBJECT

  private:
    QTemporaryDir m_folder;
    fs::path file(const char* name) const { return fs::path(m_folder.path().toStdString()) / name; }

  private Q_SLOTS:
    void writesAndReads() {
        writeFileAtomically(file("a"), "first");
        writeFileAtomically(file("a"), "second");
        QCOMPARE(readFile(file("a")), std::string("second"));
        QCOMPARE(std::distance(fs::directory_iterator(file("")), fs::directory_iterator()), 1);  // nothing left over
    }

    void keepsPermissions() {
        writeFileAtomically(file("b"), "x");
        fs::permissions(file("b"), fs::perms::owner_read | fs::perms::owner_write);
        writeFileAtomically(file("b"), "y");
        QVERIFY(fs::status(file("b")).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    }

    void writesThroughLinks() {
        writeFileAtomically(file("target"), "old");
        fs::create_symlink(file("target"), file("link"));
        writeFileAtomically(file("link"), "new");
        QVERIFY(fs::is_symlink(file("link")));
        QCOMPARE(readFile(file("target")), std::string("new"));
    }

    void devicesStayDevices() {
        writeFileAtomically("/dev/null", "gone");
        QVERIFY(fs::is_character_file("/dev/null"));
        if (fs::is_character_file("/dev/full"))
            QVERIFY_EXCEPTION_THROWN(writeFileAtomically("/dev/full", std::string(100000, 'x')), Error);
    }

    void whatCannotBeWrittenIsSaid() {
        QVERIFY_EXCEPTION_THROWN(writeFileAtomically(file(""), "x"), Error);
        QVERIFY_EXCEPTION_THROWN(writeFileAtomically(file("nowhere/deep"), "x"), Error);
        QVERIFY_EXCEPTION_THROWN(readFile(file("missing")), Error);
    }
};

QTEST_GUILESS_MAIN(AtomicFileTest)
#include "atomic_file_test.moc"
