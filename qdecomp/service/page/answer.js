// One decomposition on the page: its steps, plan, logical form, pictures, confidence and warnings.
import { byId, element, picture, sentence, showText } from "./dom.js";
import { offered, selectTab } from "./tabs.js";

const operatorOf = (step) =>
  element("span", { class: `operator qd-${step.operator}` }, [step.operator, ...step.properties].join(" "));

const stepItem = (step) => element("li", {}, element("span", { dir: "auto" }, step.text), " ", operatorOf(step));

const planItem = (step, isLast) => {
  const item = element("li", { value: step.number }, element("span", { dir: "auto" }, step.question), " ", operatorOf(step));
  if (isLast) item.append(" ", element("span", { class: "final" }, "the answer"));
  return item;
};

const showPlan = (answer) => {
  const steps = new Map(answer.steps.map((step) => [step.number, step]));
  const levels = (answer.plan?.levels ?? []).map((numbers, place) => element("li", {},
    element("span", { class: "quiet" }, `Level ${place + 1}`),
    element("ol", {}, ...numbers.map((number) => planItem(steps.get(number), number === answer.plan.final)))));
  byId("plan").replaceChildren(...levels);
};

/** Show what fits, with a box to tick for the picture in full size, unless that fits, too. */
const showPicture = (id, fitting, full, reason) => {
  const [target, box] = [byId(id), document.querySelector(`[data-full=${id}]`)];
  const pictures = [fitting, full].map((svg) => svg && picture(svg));
  const show = () => {
    target.classList.toggle("full", box.checked);
    target.replaceChildren(pictures[box.checked ? 1 : 0] ?? element("p", { class: "quiet" }, reason));
  };
  const isAlike = !full || (fitting === full && pictures[1].width.baseVal.value <= room());
  box.closest("[hidden], label").hidden = isAlike;
  if (box.closest("figcaption").childElementCount === 1) box.closest("figcaption").hidden = isAlike;
  box.onchange = show;
  show();
};

/** How wide a picture can be, which is the same in all cards. */
export const room = () => {
  const card = byId("ask");
  return Math.floor(card.clientWidth - 2 * Number.parseFloat(getComputedStyle(card).paddingLeft));
};

const showConfidence = (confidence, isProbablyWrong) => {
  byId("confidence").hidden = confidence === null;
  if (confidence === null) return;
  byId("meter").value = confidence;
  byId("meter").low = isProbablyWrong ? 1 : 0;
  byId("probably-wrong").hidden = !isProbablyWrong;
  const value = confidence < 0.005 ? "below 0.01" : confidence.toFixed(2);
  byId("confidence-value").textContent = `${value}: the probability that the whole plan is right`;
};

/** Which parser answered, where there are several, and what a language model took. */
const showAnswered = (answered) => {
  const calls = answered?.calls ? ` (${answered.calls} ${answered.calls === 1 ? "call" : "calls"} of a language model)` : "";
  const note = answered?.note ? `. ${sentence(answered.note)}` : "";
  showText(byId("answered"), answered && `Answered by ${answered.by}${calls}${note}`);
};

/** The next candidates of an answer that is probably wrong; ``take`` gets the one that the reader prefers. */
export const showCandidates = (answer, take) => {
  const others = answer.probably_wrong
    ? (answer.candidates ?? []).map((each) => each.decomposition).filter((text) => text !== answer.decomposition) : [];
  byId("candidates").hidden = !others.length;
  byId("candidates").querySelector("ol").replaceChildren(...others.map((text) => {
    const steps = text.split(/\s*;\s*/).map((step) => step.replace(/^return /, ""));
    const button = element("button", { type: "button", dir: "auto" }, steps.map((step, place) => `${place + 1}. ${step}`).join("  "));
    button.addEventListener("click", () => take(steps));
    return element("li", {}, button);
  }));
};

/** Whether the answer is about steps that the reader wrote. */
const isWritten = (answer) => answer.read_as !== undefined;

/** What is odd about a decomposition, and what is wrong with the steps that the reader wrote. */
const showRemarks = (answer) => {
  const error = isWritten(answer) ? answer.error : null;
  byId("steps-error").textContent = error ?? "";
  byId("editor").setAttribute("aria-invalid", Boolean(error));
  const warnings = byId("warnings");
  warnings.replaceChildren(...answer.warnings.map((warning) => element("li", {}, `Warning: ${warning}`)));
  warnings.hidden = !answer.warnings.length;
};

/** Whether what is shown is of earlier steps: while somebody types, steps without a plan do not take it away. */
const markPlan = (answer) => {
  const isEarlier = isWritten(answer) && !answer.plan && byId("steps").childElementCount > 0;
  for (const card of document.querySelectorAll("[data-of-plan]")) card.hidden = !answer.plan && !isEarlier;
  for (const part of document.querySelectorAll("[data-plan]")) part.classList.toggle("earlier", isEarlier);
  if (!offered()) selectTab("edit");
  return isEarlier;
};

/** Show all of an answer but the text that is edited; ``take`` gets the steps of a candidate that is picked. */
export const showAnswer = (answer, take) => {
  byId("answer").hidden = false;
  byId("answer-title").textContent = answer.question;
  showConfidence(isWritten(answer) ? null : answer.confidence, answer.probably_wrong);
  showAnswered(answer.answered);
  showCandidates(answer, take);
  showRemarks(answer);
  if (markPlan(answer)) return;
  byId("steps").replaceChildren(...answer.steps.map(stepItem));
  showPlan(answer);
  byId("logical-form").textContent = (answer.logical_form ?? []).join("\n");
  const none = answer.steps.length ? "There is too much to draw." : "There is nothing to draw.";
  showPicture("steps-picture", answer.pictures?.steps, answer.pictures?.steps, none);
  const { graph, wrapped_graph: wrapped } = answer.pictures ?? {};
  showPicture("graph-picture", wrapped, graph, answer.graph_error ?? none);
};

/** The answer in one line, for those who cannot see it. */
export const summary = (answer) => {
  if (answer.error) return isWritten(answer) ? "These steps have no plan." : `No plan. ${sentence(answer.error)}`;
  const count = answer.steps.length;
  const warnings = answer.warnings.length ? `, ${answer.warnings.length} to look at` : "";
  return `${count} ${count === 1 ? "step" : "steps"} in ${answer.plan.levels.length === 1 ? "1 level" : `${answer.plan.levels.length} levels`}${warnings}.`;
};
