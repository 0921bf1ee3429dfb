// Running the plan: the reader or a language model answers what is asked, and the service says what follows from that.
import { events, post } from "./api.js";
import { byId, element, sentence } from "./dom.js";

const TRUTH = { yes: true, true: true, no: false, false: false };
let running = null;  // the decomposition that is run
let answers = {};
let turn = new AbortController();  // what is asked of the service; only the latest counts

const inWords = (answer) => {
  if (Array.isArray(answer)) return answer.map(inWords).join(", ") || "none";
  if (typeof answer === "object") return inWords(Object.entries(answer).map(([key, value]) => `${key}: ${inWords(value)}`));
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

const doneItems = (answer, known, isComputed) => byId("run-done").replaceChildren(
  ...answer.steps.filter((step) => step.number in known).map((step) =>
    doneItem(step, known[step.number], isComputed(step.number), step.number === answer.plan.final)));

/** Give up what was asked before: the plan that is run, what to send, and what gives that up in turn. */
const begin = () => {
  turn.abort();
  turn = new AbortController();
  const { question, decomposition } = running;
  return [running, { question, decomposition, answers }, turn.signal];
};

const tell = (text) => { byId("run-status").textContent = text; };
const fail = (error) => { if (error.name !== "AbortError") tell(sentence(error.message)); };

const advance = async () => {
  const [answer, body, signal] = begin();
  try {
    const found = await post("next_steps", body, signal);
    const known = { ...answers, ...found.computed };
    doneItems(answer, known, (number) => number in found.computed);
    const typed = new Map([...byId("run-asked").querySelectorAll("textarea")].map((field) => [field.id, field.value]));
    const operators = new Map(answer.steps.map((step) => [step.number, step.operator]));
    byId("run-asked").replaceChildren(...found.ask.map((each) => askedItem(each, operators.get(each.number))));
    for (const field of byId("run-asked").querySelectorAll("textarea")) field.value = typed.get(field.id) ?? "";
    byId("run-again").hidden = !Object.keys(answers).length;
    tell(found.answer === null ? "" : `The answer: ${inWords(found.answer)}`);
    if (Object.keys(answers).length) byId("run-asked").querySelector("textarea")?.focus();
  } catch (error) {
    fail(error);
  }
};

const restart = () => {
  answers = {};
  byId("run-asked").replaceChildren();
  advance();
};

/** Begin to run the plan of an answer, unless it is the one that is being run. */
export const showRun = (answer) => {
  if (!answer.plan || answer.decomposition === running?.decomposition && answer.question === running.question) return;
  running = answer;
  restart();
};

/** Follow a run in which the language model answers what the reader has not, step by step. */
const letModelAnswer = async () => {
  const [answer, body, signal] = begin();
  const [known, computed] = [{}, new Set()];
  byId("run-asked").replaceChildren();
  byId("run-again").hidden = false;
  tell("Running …");
  try {
    for await (const [kind, event] of events("run", body, signal)) {
      if (kind === "start") {
        byId("run-asked").append(element("p", { id: `asked-${event.number}`, dir: "auto" }, `${event.number}. ${event.question} …`));
      } else if (kind === "step") {
        byId(`asked-${event.number}`)?.remove();
        if (event.reason !== null) continue;
        known[event.number] = event.answer;
        if (event.outcome === "combined") computed.add(event.number);
        doneItems(answer, known, (number) => computed.has(number));
      } else {
        tell(event.error ? sentence(event.error) : `The answer: ${inWords(event.answer)}`);
      }
    }
  } catch (error) {
    fail(error);
  }
};

/** Offer to let this language model answer, if the service has one. */
export const offerModel = (name) => {
  byId("run-model").hidden = !name;
  byId("run-model").textContent = `Let ${name} answer`;
};

byId("run-model").addEventListener("click", letModelAnswer);
byId("run-again").addEventListener("click", restart);
