(() => {
  "use strict";
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const stored = { get() { try { return localStorage.getItem("ctxlab-scheme"); } catch { return null; } },
                   set(value) { try { localStorage.setItem("ctxlab-scheme", value); } catch { /* a file may not store */ } } };
  const isDark = () => (root.dataset.scheme || (dark.matches ? "dark" : "light")) === "dark";
  const scheme = document.querySelector("[data-act=scheme]");
  const name = () => { if (scheme) scheme.textContent = isDark() ? "Light" : "Dark"; };
  if (["light", "dark"].includes(stored.get())) root.dataset.scheme = stored.get();
  name();
  dark.addEventListener("change", name);
  for (const tools of document.querySelectorAll(".tools")) tools.hidden = false;
  if (scheme) scheme.addEventListener("click", () => {
    root.dataset.scheme = isDark() ? "light" : "dark";
    stored.set(root.dataset.scheme);
    name();
  });
  const code = document.querySelector("[data-act=code]");
  if (code) code.addEventListener("click", () => {
    const open = code.getAttribute("aria-pressed") !== "true";
    code.setAttribute("aria-pressed", String(open));
    code.textContent = open ? "Hide code" : "Show code";
    for (const part of document.querySelectorAll("details.code")) part.open = open;
  });
  const contents = document.querySelector(".contents details");
  if (contents && matchMedia("(max-width: 70rem)").matches) contents.open = false;
  addEventListener("beforeprint", () => { for (const part of document.querySelectorAll("details[data-print]")) part.open = true; });

  const bare = (cell) => (cell.dataset.sort ?? cell.textContent).trim();
  const number = (text) => {
    const plain = text.replace(/[\u2212]/g, "-").replace(/[,$%×\s]/g, "");
    if (/^-?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(plain)) return Number(plain);
    return plain === "inf" || plain === "∞" ? Infinity : plain === "-inf" || plain === "-∞" ? -Infinity : NaN;
  };
  const missing = (text) => text === "" || text === "–" || text === "NaN" || text === "None" || text === "n/a";
  const compare = (at, down) => (one, other) => {
    const a = bare(one.cells[at]), b = bare(other.cells[at]);
    if (missing(a) || missing(b)) return missing(a) - missing(b);
    const x = number(a), y = number(b);
    const order = Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, "en", { numeric: true }) : x - y;
    return down ? -order : order;
  };
  const sortable = (table) => {
    const body = table.tBodies[0], head = table.tHead && table.tHead.rows.length === 1 ? table.tHead.rows[0] : null;
    if (!head || !body || body.rows.length < 2) return;
    const rows = [...body.rows], wide = head.cells.length;
    if (rows.some((row) => row.cells.length !== wide || [...row.cells].some((cell) => cell.colSpan > 1 || cell.rowSpan > 1))) return;
    [...head.cells].forEach((cell, at) => {
      if (cell.tagName !== "TH") return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...cell.childNodes);
      cell.append(button);
      button.addEventListener("click", () => {
        const down = cell.getAttribute("aria-sort") === "ascending";
        for (const other of head.cells) other.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", down ? "descending" : "ascending");
        body.append(...rows.slice().sort(compare(at, down)));
      });
    });
  };
  document.querySelectorAll("main .output table, table.sortable").forEach(sortable);
})();
