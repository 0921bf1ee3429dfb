// Requests to the service; what it refuses is an error with its one line.

const answerOf = async (response) => {
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(body.error ?? `the service answered with status ${response.status}`);
  return body;
};

const reach = async (path, options) => {
  try {
    return await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("the service cannot be reached");
  }
};

const requestOf = (body, signal) => ({
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal,
});

/** The answer to a JSON body. */
export const post = async (path, body, signal) => answerOf(await reach(path, requestOf(body, signal)));

/** The server-sent events that answer a JSON body, each a name and its fields, as they come. */
export async function* events(path, body, signal) {
  const response = await reach(path, requestOf(body, signal));
  if (!response.ok) await answerOf(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = "", read = await reader.read(); !read.done; read = await reader.read()) {
    const blocks = (text + read.value).split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const [, name, data] = block.match(/^event: (.*)\ndata: (.*)$/);
      yield [name, JSON.parse(data)];
    }
  }
}

/** What a path says. */
export const get = async (path) => answerOf(await reach(path, {}));

/** A way to ask of which only the latest answer counts: an earlier one gives null. */
export const latest = (ask) => {
  let running = null;
  return async (...question) => {
    running?.abort();
    const mine = running = new AbortController();
    try {
      const answer = await ask(...question, mine.signal);
      return mine === running ? answer : null;
    } catch (error) {
      if (mine !== running || error.name === "AbortError") return null;
      throw error;
    }
  };
};
