// Running the plan: the reader answers what is asked, and the service says what follows and what can be asked next.
import { latest, post } from "./api.js";
import { byId, element, sentence } from "./dom.js";

const next = latest((body, signal) => post("next_steps", body, signal));
const TRUTH = { yes: true, true: true, no: false, false: false };
let running = null;  // the decomposition that is run
let answers = {};

const inWords = (answer) => {
  if (Array.isArray(answer)) return answer.map(inWords).join(", ") || "none";
  return typeof answer === "boolean" ? (answer ? "yes" : "no") : String(answer);
};

// The answer of such a step is one value; that of others is a list, even of one thing, which can be counted.
const ONE_VALUE = new Set(["aggregate", "arithmetic", "boolean", "comparison"]);

const readAnswer = (text, operator) => {
  const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
  if (lines.length !== 1 || !ONE_VALUE.has(operator)) return lines;
  return operator === "boolean" ? TRUTH[lines[0].toLowerCase()] ?? lines[0] : lines[0];
};

const askedItem = ({ number, question }, operator) => {
  const form = element("form", { class: "asked" },
    element("label", { for: `run-${number}`, dir: "auto" }, `${number}. ${question}`),
    element("div", { class: "row" },
      element("textarea", { id: `run-${number}`, rows: "1", dir: "auto", autocomplete: "off" }),
      element("button", { type: "submit" }, "Answer")));
  const field = form.querySelector("textarea");
  const send = () => {
    answers[number] = readAnswer(field.value, operator);
    advance();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  });
  return form;
};

const doneItem = (step, answer, isComputed, isLast) => {
  const item = element("li", { value: step.number }, element("span", { dir: "auto" }, step.text), " → ",
    element("strong", { dir: "auto" }, inWords(answer)));
  if (isComputed) item.append(" ", element("span", { class: "quiet" }, "computed"));
  if (isLast) item.append(" ", element("span", { class: "final" }, "the answer"));
  return item;
};

const advance = async () => {
  const answer = running;
  try {
    const found = await next({ question: answer.question, decomposition: answer.decomposition, answers });
    if (!found || answer !== running) return;
    const known = { ...answers, ...found.computed };
    byId("run-done").replaceChildren(...answer.steps.filter((step) => step.number in known).map((step) =>
      doneItem(step, known[step.number], step.number in found.computed, step.number === answer.plan.final)));
    const typed = new Map([...byId("run-asked").querySelectorAll("textarea")].map((field) => [field.id, field.value]));
    const operators = new Map(answer.steps.map((step) => [step.number, step.operator]));
    byId("run-asked").replaceChildren(...found.ask.map((each) => askedItem(each, operators.get(each.number))));
    for (const field of byId("run-asked").querySelectorAll("textarea")) field.value = typed.get(field.id) ?? "";
    byId("run-again").hidden = !Object.keys(answers).length;
    byId("run-status").textContent = found.answer === null ? "" : `The answer: ${inWords(found.answer)}`;
    if (Object.keys(answers).length) byId("run-asked").querySelector("textarea")?.focus();
  } catch (error) {
    byId("run-status").textContent = sentence(error.message);
  }
};

/** Begin to run the plan of an answer, unless it is the one that is being run. */
export const showRun = (answer) => {
  if (!answer.plan || answer.decomposition === running?.decomposition && answer.question === running.question) return;
  running = answer;
  answers = {};
  byId("run-asked").replaceChildren();
  advance();
};

byId("run-again").addEventListener("click", () => {
  answers = {};
  byId("run-asked").replaceChildren();
  advance();
});
