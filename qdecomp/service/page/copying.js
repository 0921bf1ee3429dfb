// What is shown, as text for other programs.

const FORMS = {
  qdmr: (answer) => answer.decomposition,
  lf: (answer) => answer.logical_form?.join("\n"),
  json: ({ pictures, ...record }) => JSON.stringify(record, null, 2),
  graph: (answer) => answer.pictures?.graph,
  steps: (answer) => answer.pictures?.steps,
  link: () => location.href,
};

const write = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Browsers have no clipboard for pages that came without encryption from another machine.
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    if (!done) throw new Error("this browser does not let the page copy");
  }
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
        await write(text);
        tell(`Copied: ${button.textContent}.`);
      } catch (error) {
        tell(error.message);
      }
      button.focus();
    });
  }
};
