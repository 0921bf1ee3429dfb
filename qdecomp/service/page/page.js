// The page: a question, its decomposition, steps that the reader edits, and a link that opens the same again.
import { room, showAnswer, showCandidates, summary } from "./answer.js";
import { get, latest, post } from "./api.js";
import { startComparing } from "./compare.js";
import { startCopying } from "./copying.js";
import { byId, sentence, showText } from "./dom.js";
import { offerModel, showRun } from "./run.js";
import { startTabs } from "./tabs.js";

const WAIT_AFTER_A_KEY = 300;
const [form, question, editor, restore] = ["ask", "question", "editor", "restore"].map(byId);
let parsed = null;  // what the parser said
let shown = null;  // what is on the page: the same, or what the reader made of it

const tell = (text, isBad = false) => {
  byId("status").classList.toggle("bad", isBad);
  byId("status").textContent = text;
};
const fail = (error) => tell(sentence(error.message), true);
const linesOf = (answer) => answer.steps.map((step) => step.text).join("\n");
const isEdited = () => !parsed || editor.value !== linesOf(parsed);

// After the #, which browsers do not send to servers.
const writeLink = () => {
  const parts = new URLSearchParams({ q: shown.question });
  if (isEdited()) parts.set("steps", editor.value);
  if (location.hash.slice(1) !== parts.toString()) history.pushState(null, "", `#${parts}`);
};

const show = (answer) => {
  shown = answer;
  showAnswer(answer, takeSteps);
  showRun(answer);
  restore.hidden = !parsed || !isEdited();
  byId("take").hidden = !editor.value.trim();
  tell(summary(answer), Boolean(answer.error));
};

const parse = latest((text, signal) => post("parse", { question: text, pictures: true, width: room() }, signal));
const parseFurther = latest((text, signal) => post("parse", { question: text, candidates: true }, signal));
const convert = latest((text, steps, signal) =>
  post("convert", { question: text, decomposition: steps, pictures: true, width: room() }, signal));

// Not every parser has candidates; without them there is nothing more to show.
const lookFurther = async (answer) => {
  const more = await parseFurther(answer.question).catch(() => null);
  if (!more?.candidates || parsed !== answer) return;
  answer.candidates = more.candidates;
  if (shown === answer) showCandidates(answer, takeSteps);
};

const decompose = async (text) => {
  tell("Parsing …");
  form.setAttribute("aria-busy", "true");
  try {
    const answer = await parse(text);
    if (!answer) return;
    parsed = answer;
    editor.value = linesOf(answer);
    fitEditor();
    show(answer);
    writeLink();
    if (answer.probably_wrong && !answer.candidates) lookFurther(answer);
  } catch (error) {
    fail(error);
  } finally {
    form.removeAttribute("aria-busy");
  }
};

const readEditor = async () => {
  const text = question.value.trim() || shown?.question || "";
  try {
    const steps = editor.value.split("\n").map((line) => line.trim()).filter(Boolean);
    const answer = await convert(text, steps);
    if (!answer) return;
    // With the steps unchanged, the parser's own answer says more.
    show(parsed?.question === text && !isEdited() ? parsed : answer);
    writeLink();
  } catch (error) {
    fail(error);
  }
};

const fitEditor = () => { editor.rows = Math.max(3, editor.value.split("\n").length + 1); };

const takeSteps = (steps) => {
  editor.value = steps.join("\n");
  fitEditor();
  readEditor();
};

let timer = 0;
editor.addEventListener("input", () => {
  fitEditor();
  clearTimeout(timer);
  timer = setTimeout(readEditor, WAIT_AFTER_A_KEY);
});
restore.addEventListener("click", () => {
  editor.value = linesOf(parsed);
  question.value = parsed.question;
  fitEditor();
  show(parsed);
  writeLink();
  editor.focus();
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = question.value.trim();
  if (text) decompose(text);
});
question.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});
for (const button of document.querySelectorAll("[data-example]")) {
  button.addEventListener("click", () => {
    question.value = button.textContent;
    form.requestSubmit();
  });
}

const openLink = () => {
  const parts = new URLSearchParams(location.hash.slice(1));
  const text = parts.get("q");
  if (!text) return;
  question.value = text;
  if (!parts.has("steps")) {
    decompose(text);
    return;
  }
  parsed = null;
  editor.value = parts.get("steps");
  fitEditor();
  readEditor();
};

startTabs();
startCopying(() => shown, tell);
startComparing({ question: () => question.value.trim() || shown?.question || "", steps: () => editor.value });
addEventListener("hashchange", openLink);
openLink();
get("version").then((about) => {
  showText(byId("about"), `qdecomp ${about.version}, parser ${about.parser}`);
  question.maxLength = about.limits.max_question_length;
  offerModel(about.language_model);
  byId("kept").hidden = Boolean(about.language_model);  // its answers are in a cache
}, fail);
