// Search, filters, sorting, folding and copying in a list of records. A page is complete without it: tools that need it
// are hidden until it runs, and pictures that it unfolds are in <noscript>.
"use strict";
(() => {
  const form = document.querySelector(".qd-tools");
  const list = document.querySelector(".qd-records");
  if (!form || !list) return;
  const records = [...list.children];
  const words = new Map();
  const chosenKind = () => document.querySelector(".qd-choice:checked")?.value || "all";

  const textOf = (record) => {
    if (!words.has(record)) words.set(record, record.querySelector(".qd-words").textContent.toLowerCase());
    return words.get(record);
  };

  const matches = (record, wanted, filters, kind) =>
    (kind === "all" || record.classList.contains(`qd-${kind}`)) &&
    filters.every(([name, value]) => (record.dataset[name] || "").split("|").includes(value)) &&
    wanted.every((word) => textOf(record).includes(word));

  const filter = () => {
    const wanted = form.elements.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const filters = [...form.querySelectorAll("select[data-filter]")]
      .filter((select) => select.value).map((select) => [select.dataset.filter, select.value]);
    const kind = chosenKind();
    let shown = 0;
    for (const record of records) {
      const isShown = matches(record, wanted, filters, kind);
      record.hidden = !isShown;
      shown += isShown;
    }
    form.querySelector("output").textContent = `${shown.toLocaleString("en")} of ${records.length.toLocaleString("en")} shown`;
  };

  const sort = () => {
    const [, down, name] = form.elements.sort.value.match(/^(-?)(.*)$/);
    const key = (record) => record.dataset[name] ?? "";
    const compare = (one, other) => {
      const [a, b] = [key(one), key(other)];
      if (a === "" || b === "") return (a === "") - (b === "");  // what has no value comes last
      const order = Number.isNaN(Number(a)) ? a.localeCompare(b, "en") : a - b;
      return down ? -order : order;
    };
    const ordered = [...records].sort((one, other) => compare(one, other) || one.dataset.place - other.dataset.place);
    list.append(...ordered);
  };

  // Pictures are parsed when they are first seen, so that a page of many records opens quickly.
  const unpack = (details) => {
    const packed = details.querySelector(":scope > noscript");
    if (!packed) return;
    const holder = document.createElement("template");
    holder.innerHTML = packed.textContent;
    packed.replaceWith(holder.content);
  };
  const watcher = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) {
        watcher.unobserve(target);
        unpack(target);
      }
    }
  }, { rootMargin: "400px" });
  list.addEventListener("toggle", ({ target }) => {
    if (target.open) watcher.observe(target);
  }, true);
  addEventListener("beforeprint", () => list.querySelectorAll("details[open]").forEach(unpack));

  const fold = form.querySelector(".qd-fold");
  fold?.addEventListener("click", () => {
    const open = fold.getAttribute("aria-pressed") !== "true";
    fold.setAttribute("aria-pressed", String(open));
    list.querySelectorAll("details.qd-pictures").forEach((details) => { details.open = open; });
  });

  list.addEventListener("click", async ({ target }) => {
    const button = target.closest("button[data-copies]");
    if (!button) return;
    const text = button.dataset.copies || button.closest("article").querySelector("h2 > span").textContent;
    const label = button.textContent;
    button.textContent = await copyText(text).then(() => "copied", () => "not copied");
    setTimeout(() => { button.textContent = label; }, 1200);
  });

  // A link to a record that is filtered away shows it.
  const follow = () => {
    const record = location.hash && document.getElementById(location.hash.slice(1));
    if (!record || !record.hidden) return;
    form.reset();
    const all = document.querySelector('.qd-choice[value="all"]');
    if (all) all.checked = true;
    sort();
    filter();
    record.scrollIntoView();
  };

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", filter);
  form.elements.sort?.addEventListener("change", sort);
  form.addEventListener("reset", () => setTimeout(() => { sort(); filter(); }));
  document.querySelectorAll(".qd-choice").forEach((choice) => choice.addEventListener("change", filter));
  addEventListener("hashchange", follow);
  list.querySelectorAll("details[open]").forEach((details) => watcher.observe(details));
  document.documentElement.classList.add("qd-scripted");
  form.hidden = false;
  filter();
})();
