// SPDX-License-Identifier: Apache-2.0
// Holds the tests' precompiled header; nothing of its own.
