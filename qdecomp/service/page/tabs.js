// Tabs: one panel is shown; the arrow keys, Home and End go from tab to tab.
import { byId } from "./dom.js";

const all = () => [...document.querySelectorAll("[role=tab]")];
const panelOf = (tab) => byId(tab.getAttribute("aria-controls"));

/** Show the panel of a tab, by the name after ``tab-``. */
export const selectTab = (name) => {
  for (const tab of all()) {
    const isChosen = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
    panelOf(tab).hidden = !isChosen;
  }
};

/** Whether the chosen tab can be seen. */
export const offered = () => all().some((tab) => tab.getAttribute("aria-selected") === "true" && !tab.hidden);

/** Let the tabs be used; the first is chosen. */
export const startTabs = () => {
  const moves = {
    ArrowRight: (place) => place + 1, ArrowLeft: (place) => place - 1, Home: () => 0, End: () => -1,
  };
  for (const tab of all()) {
    tab.addEventListener("click", () => selectTab(tab.id.slice("tab-".length)));
    tab.addEventListener("keydown", (event) => {
      const tabs = all().filter((each) => !each.hidden);
      const next = moves[event.key] && tabs.at(moves[event.key](tabs.indexOf(tab)) % tabs.length);
      if (!next) return;
      event.preventDefault();
      next.click();
      next.focus();
    });
  }
  selectTab("steps");
};
