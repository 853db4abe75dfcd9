#!/bin/sh
# Runs the test of JSON Web Signatures with Wycheproof's vectors, which Go's module proxy has. Needs go, and a build with --utest=on:
#
#   wycheproof.sh [TEST_PROGRAM]     default: objs/build/test_service
set -eu
cd "$(dirname -- "$0")/.."
program=$(readlink -f "${1:-objs/build/test_service}")
folder=$(cd "${TMPDIR:-/tmp}" && go mod download -json github.com/c2sp/wycheproof@v0.0.0-20260902155932-3fa63dd0344a | sed -n 's/.*"Dir": "\(.*\)",/\1/p')
LIVE_WYCHEPROOF="$folder/testvectors_v1/json_web_signature_test.json" "$program" --gtest_filter='Wycheproof.*'
