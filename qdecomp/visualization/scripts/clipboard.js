// Copies a text; pages of files and the page of the service share it. An error says that the browser refused.
export const copyText = async (text) => {
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
