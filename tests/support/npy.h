// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files of NumPy, written without the engine's own writer.

#include <QByteArray>
#include <vector>

namespace quantloupe::test {

/// Returns a .npy file as NumPy writes it: magic string, version, header length, padded header, data.
inline QByteArray npy(const QByteArray& dictionary, const QByteArray& data, char major = 1) {
    const int preamble = major == 1 ? 10 : 12;
    const QByteArray header = dictionary.leftJustified(127 - preamble, ' ') + '\n';
    QByteArray file = "\x93NUMPY";
    file += major;
    file += '\0';
    file += static_cast<char>(header.size());
    file += QByteArray(major == 1 ? 1 : 3, '\0');
    return file + header + data;
}

/// Returns a .npy file of float32 values; `shape` as in Python: "2, 4".
inline QByteArray npyOfFloats(const QByteArray& shape, const std::vector<float>& values) {
    return npy("{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }",
               QByteArray(reinterpret_cast<const char*>(values.data()),
                          static_cast<qsizetype>(values.size() * sizeof(float))));
}

}  // namespace quantloupe::test
