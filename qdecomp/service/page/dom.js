// Elements are made from text, never from markup, so that nothing that a user typed can become part of the page.

/** The element with this id. */
export const byId = (id) => document.getElementById(id);

/** A new element with attributes and children, which are elements or texts. */
export const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

/** A message of the service as a sentence. */
export const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

/** Show a text, or hide its element if there is none. */
export const showText = (target, text) => {
  target.textContent = text ?? "";
  target.hidden = !text;
};

/**
 * A picture of the service as an element. Its own style is cut out before it is parsed, as the policy of the page forbids
 * it; the page has the same rules in pictures.css. What somebody typed is escaped in it and cannot look like that style.
 */
export const picture = (svg) => {
  const plain = svg.replace(/ style="[^"]*"/, "").replace(/<style>[^<]*<\/style>/, "");
  const shown = document.importNode(new DOMParser().parseFromString(plain, "image/svg+xml").documentElement, true);
  shown.style.setProperty("--qd-width", `${shown.getAttribute("width")}px`);
  return shown;
};
