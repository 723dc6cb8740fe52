// How the page asks its server. The answers are lines of JSON.

// The question that the engine is answering, with the position on the board, null for none.
let asking = null;

async function* ask(name, fields, signal) {
  const fail = (error) => {
    if (signal?.aborted) throw error;
    throw new Error("The engine does not answer. Start secateur board again: the game is kept.");
  };
  const response = await fetch(name, { method: "POST", body: JSON.stringify(fields), signal }).catch(fail);
  if (!response.ok) throw new Error(await response.text());
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read().catch(fail);
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const answer = JSON.parse(line);
      if (answer.problem) throw new Error(answer.problem);
      yield answer;
    }
  }
}

// The one answer to what needs no engine.
async function request(name, fields) {
  for await (const answer of ask(name, fields)) return answer;
}

// Ask the engine, which ends what was asked before. `tell` gets each answer. Returns the last one, null if the page has
// gone on.
async function question(name, fields, tell = () => {}) {
  stop();
  const mine = { name, position: here(), controller: new AbortController() };
  asking = mine;
  let last = null;
  try {
    for await (const answer of ask(name, fields, mine.controller.signal)) {
      if (asking !== mine) return null;
      tell(answer);
      last = answer;
    }
  } catch (error) {
    if (asking === mine) throw error;
    return null;
  } finally {
    if (asking === mine) asking = null;
  }
  return last;
}

function stop() {
  asking?.controller.abort();
  asking = null;
}

// A sentence above the board. A click takes it away, and the engine goes on.
function notify(text) {
  byId("notice").textContent = text;
  byId("notice").hidden = !text;
}

byId("notice").onclick = () => {
  notify("");
  goOn();
};

// Whatever fails is told there. An Error has a sentence for the player. Every other kind is a fault of the page, which
// the console shows, too.
addEventListener("unhandledrejection", (event) => {
  notify(event.reason.message);
  if (event.reason.constructor === Error) event.preventDefault();
});
