// What is shown, as text for other programs.
import { copyText } from "./clipboard.js";

const FORMS = {
  qdmr: (answer) => answer.decomposition,
  lf: (answer) => answer.logical_form?.join("\n"),
  json: ({ pictures, ...record }) => JSON.stringify(record, null, 2),
  graph: (answer) => answer.pictures?.graph,
  steps: (answer) => answer.pictures?.steps,
  link: () => location.href,
};

/** Let the buttons copy what ``current`` gives, and ``tell`` that they have. */
export const startCopying = (current, tell) => {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => {
      const answer = current();
      const text = answer && FORMS[button.dataset.copy](answer);
      if (!text) {
        tell(`There is no ${button.textContent} to copy.`);
        return;
      }
      try {
        await copyText(text);
        tell(`Copied: ${button.textContent}.`);
      } catch (error) {
        tell(error.message);
      }
      button.focus();
    });
  }
};
