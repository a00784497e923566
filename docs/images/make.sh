#!/usr/bin/env bash
# The pictures of the README, drawn by the tool: bash docs/images/make.sh (from the root of a clone, in its environment).
set -euo pipefail
spurgen inspect quick/v1 --set image.size_px=96 --each 2 --quiet --out docs/images/contact-sheet.png
spurgen counterfactual quick/v1 --set image.size_px=112 --row 7 --quiet --out docs/images/strip.png
spurgen inspect shortcut-soup/v1 --set image.size_px=96 --each 2 --quiet --out docs/images/shortcut-soup.png
# The report of `make demo`, as Chromium shows it:
#   chromium --headless --hide-scrollbars --window-size=1180,1240 --screenshot=docs/images/report.png \
#     "file://$PWD/demo/study/report/index.html"
