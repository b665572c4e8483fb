#!/bin/bash -eu
# Each target as a program of its own, with the seeds and the dictionary beside it. The image brings atheris; without
# the extra `fuzz` it stays that one.
pip3 install '.[dev]'

# What targets read at run time; the package is found as a module, which is how it is instrumented.
data=(
  --paths "$PWD"
  --add-data "$PWD/grammar/calls.lark:grammar"
  --add-data "$PWD/tests/vectors:tests/vectors"
  --add-data "$PWD/tests/gateways/streams:tests/gateways/streams"
)
export PYTHONPATH=$PWD
for target in fuzz/fuzz_*.py; do
  name=$(basename -s .py "$target")
  seeds=$(mktemp -d)
  python3 -m fuzz.seeds "$name" "$seeds"
  zip --quiet --junk-paths "$OUT/${name}_seed_corpus.zip" -r "$seeds"
  cp fuzz/recovery.dict "$OUT/$name.dict"
  compile_python_fuzzer "$target" "${data[@]}"
done
