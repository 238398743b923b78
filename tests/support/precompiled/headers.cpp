// SPDX-License-Identifier: Apache-2.0
// Exists only to build the tests' precompiled header.
