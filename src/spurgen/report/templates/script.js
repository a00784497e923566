"use strict";
(function () {
  var root = document.documentElement, chosen = {};
  var picks = Array.prototype.slice.call(document.querySelectorAll("[data-pick]"));
  var panels = Array.prototype.slice.call(document.querySelectorAll(".panel"));
  function all(within, what) { return Array.prototype.slice.call(within.querySelectorAll(what)); }

  // World and model, measure, rule: a panel is shown where it is about what was chosen.
  function fits(panel) {
    return ["scope", "measure", "rule"].every(function (kind) {
      var mine = panel.dataset[kind];
      return mine === undefined || chosen[kind] === undefined || mine.split(" ").indexOf(chosen[kind]) >= 0;
    });
  }
  function show() {
    picks.forEach(function (pick) { chosen[pick.dataset.pick] = pick.value; });
    if (chosen.scope === undefined) chosen.scope = "0";
    panels.forEach(function (panel) { panel.hidden = !fits(panel); });
    var none = document.getElementById("no-panel");
    if (none) none.hidden = !picks.length || panels.some(function (p) { return p.dataset.measure !== undefined && !p.hidden; });
  }
  picks.forEach(function (pick) { pick.addEventListener("change", show); });
  show();

  // Light and dark: as the system has it, until someone chooses.
  var button = document.getElementById("theme"), wants = window.matchMedia("(prefers-color-scheme: dark)");
  function isDark() { return root.dataset.theme ? root.dataset.theme === "dark" : wants.matches; }
  function name() { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-label", (isDark() ? "Light" : "Dark") + " colours"); }
  button.addEventListener("click", function () {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("spurgen-theme", root.dataset.theme); } catch (e) { /* not remembered */ }
    name();
  });
  wants.addEventListener("change", name);
  name();

  // Tables: sorted by a click on a heading, downloaded as CSV.
  function value(cell) { return cell.dataset.v !== undefined ? cell.dataset.v : cell.textContent.trim(); }
  function compare(a, b) {
    if (a === "" || b === "") return a === b ? 0 : a === "" ? 1 : -1;
    var x = Number(a), y = Number(b);
    return isNaN(x) || isNaN(y) ? a.localeCompare(b) : x - y;
  }
  all(document, "table.sortable").forEach(function (table) {
    var heads = all(table.tHead, "th");
    heads.forEach(function (head, at) {
      var sort = document.createElement("button");
      sort.type = "button"; sort.className = "sort"; sort.textContent = head.textContent || "name";
      head.textContent = ""; head.appendChild(sort);
      sort.addEventListener("click", function () {
        var up = head.getAttribute("aria-sort") !== "ascending", body = table.tBodies[0];
        heads.forEach(function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        var rows = all(body, "tr").filter(function (row) { return row.cells.length === heads.length; });
        rows.map(function (row) { return [value(row.cells[at]), row]; })
          .sort(function (a, b) { var c = compare(a[0], b[0]); return a[0] === "" || b[0] === "" || up ? c : -c; })
          .forEach(function (pair) { body.appendChild(pair[1]); });
      });
    });
  });
  function quoted(text) { return /[",\n\r]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text; }
  function csv(table) {
    return all(table, "tr").map(function (row) { return all(row, "th, td").map(function (c) { return quoted(value(c)); }).join(","); }).join("\r\n") + "\r\n";
  }
  all(document, "button.csv").forEach(function (button) {
    button.addEventListener("click", function () {
      var table = button.parentNode.previousElementSibling.querySelector("table"), link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([csv(table)], { type: "text/csv" }));
      link.download = table.dataset.name + ".csv";
      document.body.appendChild(link); link.click(); link.remove();
      setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
    });
  });

  // On paper everything is open.
  var closed = [];
  window.addEventListener("beforeprint", function () { closed = all(document, "details:not([open])"); closed.forEach(function (d) { d.open = true; }); });
  window.addEventListener("afterprint", function () { closed.forEach(function (d) { d.open = false; }); });
})();
