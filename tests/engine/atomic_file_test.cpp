// SPDX-License-Identifier: Apache-2.0
// Atomic file writes: files are never half written, links and devices keep their type, and only regular files
// are read.
#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QtTest>

#include "support/errors.h"

using namespace quantloupe;
using test::errorOf;
namespace fs = std::filesystem;

class AtomicFileTest : public QObject {
    Q_OBJECT

  private:
    QTemporaryDir m_folder;
    fs::path file(const char* name) const { return fs::path(m_folder.path().toStdString()) / name; }
    fs::path emptyFolder(const char* name) const {
        fs::create_directory(file(name));
        return file(name);
    }
    static QStringList namesIn(const fs::path& folder) {
        QStringList names;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder))
            names << QString::fromStdString(entry.path().filename().string());
        names.sort();
        return names;
    }

  private Q_SLOTS:
    void writesAndReads() {
        writeFileAtomically(file("a"), "first");
        writeFileAtomically(file("a"), "second");
        QCOMPARE(readFile(file("a")), std::string("second"));
        // no temporary files remain
        QCOMPARE(std::distance(fs::directory_iterator(file("")), fs::directory_iterator()), 1);
    }

    void isInvisibleUntilItIsComplete() {
        const fs::path folder = emptyFolder("staged");
        {
            StagedFile abandoned(folder / "x");
            abandoned.write("half");
        }
        QVERIFY(namesIn(folder).isEmpty());
        StagedFile staged(folder / "x");
        staged.write("one ");
        staged.write("two");
        QVERIFY(!fs::exists(folder / "x"));
        staged.commit();
        QCOMPARE(readFile(folder / "x"), std::string("one two"));
        QCOMPARE(namesIn(folder), QStringList{"x"});
    }

    /// Removes temporary files of a killed process, but not those that another process is still writing.
    void removesAbandonedTemporaries() {
        const fs::path folder = emptyFolder("killed");
        for (const char* name : {"model.onnx.4711.tmp", "model.onnx.4711-2.tmp", "model.onnx.99-1.tmp",
                                 "model.onnx.v2.tmp", "other.onnx.1.tmp"})
            writeFileAtomically(folder / name, "half");
        const int writing = ::open((folder / "model.onnx.99-1.tmp").c_str(), O_RDONLY | O_CLOEXEC);
        QCOMPARE(::flock(writing, LOCK_EX | LOCK_NB), 0);
        writeFileAtomically(folder / "model.onnx", "whole");
        ::close(writing);
        QCOMPARE(namesIn(folder),
                 (QStringList{"model.onnx", "model.onnx.99-1.tmp", "model.onnx.v2.tmp", "other.onnx.1.tmp"}));
    }

    void longNamesAreWritten() {
        const fs::path path = emptyFolder("long") / std::string(250, 'n');
        writeFileAtomically(path, "first");
        writeFileAtomically(path, "second");
        QCOMPARE(readFile(path), std::string("second"));
    }

    void onlyRegularFilesAreRead() {
        const fs::path fifo = file("fifo");
        QCOMPARE(::mkfifo(fifo.c_str(), 0600), 0);
        QVERIFY(errorOf([&] { readFile(fifo); }).contains("is a pipe; only regular files are read"));
        QVERIFY(errorOf([&] { readFile("/dev/zero"); }).contains("is a device"));
        QVERIFY(errorOf([&] { readFile(file("")); }).contains("is a folder"));
        fs::create_symlink("/dev/zero", file("zero"));
        QVERIFY(errorOf([&] { InputFile(file("zero")); }).contains("is a device"));
    }

    void largeFilesAreRefusedBeforeTheyAreRead() {
        writeFileAtomically(file("large"), "x");
        fs::resize_file(file("large"), std::uintmax_t{1} << 40);  // sparse
        QVERIFY(errorOf([&] { readFile(file("large")); }).contains("the limit for such a file"));
        fs::remove(file("large"));
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
        fs::create_symlink("later", file("dangling"));
        writeFileAtomically(file("dangling"), "made");
        QVERIFY(fs::is_symlink(file("dangling")));
        QCOMPARE(readFile(file("later")), std::string("made"));
    }

    void devicesStayDevices() {
        writeFileAtomically("/dev/null", "gone");
        QVERIFY(fs::is_character_file("/dev/null"));
        if (fs::is_character_file("/dev/full"))
            QVERIFY_EXCEPTION_THROWN(writeFileAtomically("/dev/full", std::string(100000, 'x')), Error);
    }

    void writeErrorsAreReported() {
        QVERIFY_EXCEPTION_THROWN(writeFileAtomically(file(""), "x"), Error);
        QVERIFY_EXCEPTION_THROWN(writeFileAtomically(file("nowhere/deep"), "x"), Error);
        QVERIFY_EXCEPTION_THROWN(readFile(file("missing")), Error);
    }
};

QTEST_GUILESS_MAIN(AtomicFileTest)
#include "atomic_file_test.moc"
