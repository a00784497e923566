#!/usr/bin/env bash
# Everything that only a GPU can show, one part after the other; what one part says goes to OUT/<part>.txt.
#
#   bash bench/on_gpu.sh OUT [PART…]      golden tests pictures steps beside study; all of them unless some are named
set -uo pipefail
cd "$(dirname "$0")/.."
out="${1:?where the output goes: bash bench/on_gpu.sh OUT [PART…]}"
shift
mkdir -p "$out"
parts=("$@")
((${#parts[@]})) || parts=(golden tests pictures steps beside study)
python="${PYTHON:-python3}"
export PYTHONPATH="$PWD/src${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1

part() { # NAME SECONDS COMMAND…
  local name="$1" seconds="$2"
  shift 2
  [[ " ${parts[*]} " == *" $name "* ]] || return 0
  echo "== $name: $*"
  timeout "$seconds" "$@" 2>&1 | tee -a "$out/$name.txt" | tail -n 40
  echo "== $name: exit ${PIPESTATUS[0]}"
}

part golden 200 "$python" -m tests.golden --check cuda
part tests 200 "$python" -m pytest -q -p no:cacheprovider tests/render/image/test_cuda.py tests/train/test_gpu.py
part pictures 200 "$python" bench/gpu.py --json "$out/pictures.json"
for model in resnet18 small_cnn resnet50; do
  part steps 150 "$python" bench/train.py --device cuda --model "$model" --methods group_dro --rounds 1 --rows 1000
done
part steps 150 "$python" bench/train.py --device cuda --model resnet18 --size 224 --methods group_dro --rounds 1 --rows 500
part beside 200 "$python" bench/beside.py --device cuda --model resnet18 --widths 1 2 4 8 15 --json "$out/beside.json"
part beside 200 "$python" bench/beside.py --device cuda --model small_cnn --widths 1 4 8 15
part study 560 "$python" -m spurgen.cli study proposal --device cuda --out "$out/proposal"
