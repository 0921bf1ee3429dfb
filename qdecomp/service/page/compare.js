// Two decompositions side by side: the verdicts of the metrics, and the normalised forms that LF-EM compares.
import { latest, post } from "./api.js";
import { byId, element, sentence } from "./dom.js";

const VERDICTS = [["lf_em", "LF-EM"], ["lf_em_strict", "LF-EM (strict)"], ["lf_eq", "LF-Eq"], ["exact_match", "EM"]];
const METRICS = ["lf_em", "lf_eq", "em", "sari"];

const verdict = (value) =>
  element("td", { class: value ? "good" : "bad" }, value ? "equal" : "different");

const table = (answer) => {
  const rows = VERDICTS.map(([name, title]) =>
    element("tr", {}, element("th", { scope: "row" }, title), verdict(answer.scores[name])));
  rows.push(element("tr", {}, element("th", { scope: "row" }, "SARI"), element("td", {}, answer.scores.sari.toFixed(2))));
  return element("table", {}, element("caption", {}, "Scores of the first against the second"), element("tbody", {}, ...rows));
};

const normalForm = (title, text, other) => {
  const others = new Set((other ?? "").split("; "));
  const lines = (text ?? "").split("; ").filter(Boolean).map((line) => others.has(line)
    ? element("li", {}, line)
    : element("li", { class: "differs" }, line, " ", element("span", { class: "mark" }, "only here")));
  const body = lines.length ? element("ol", { class: "mono" }, ...lines) : element("p", { class: "quiet" }, "It has none.");
  return element("div", {}, element("h3", {}, title), body);
};

const show = (answer) => {
  const { prediction, gold } = answer.normalized.lf_em;
  const equal = Boolean(answer.scores.lf_em);
  const reasons = [...new Set(Object.values(answer.errors))];
  const inWords = (reason) => reason.replace(/\bprediction:/g, "first:").replace(/\bgold:/g, "second:");
  byId("comparison").replaceChildren(
    element("p", { class: equal ? "verdict good" : "verdict bad" },
      equal ? "LF-EM: they mean the same thing." : "LF-EM: they do not mean the same thing."),
    ...reasons.map((reason) => element("p", { class: "bad" }, inWords(reason))),
    element("div", { class: "columns" },
      normalForm("First, normalised", prediction, gold), normalForm("Second, normalised", gold, prediction)),
    table(answer));
};

/** Let the form compare; ``question`` and ``steps`` give what is shown above. */
export const startComparing = ({ question, steps }) => {
  const score = latest((body, signal) => post("score", body, signal));
  byId("take").addEventListener("click", () => {
    byId("first").value = steps();
    byId("second").focus();
  });
  byId("compare").addEventListener("submit", async (event) => {
    event.preventDefault();
    const pair = { prediction: byId("first").value, gold: byId("second").value };
    try {
      const answer = await score({ question: question(), ...pair, metrics: METRICS });
      if (answer) show(answer);
    } catch (error) {
      byId("comparison").replaceChildren(element("p", { class: "bad" }, sentence(error.message)));
    }
  });
};
