// How the page asks its server. The answers are lines of JSON.

// The question that the engine is answering, with the position on the board, null for none.
let asking = null;

// `tell` gets each answer. Returns the last one.
/** @type {(name: string, fields: object, tell?: (answer: any) => void, signal?: AbortSignal) => Promise<any>} */
async function ask(name, fields, tell = () => {}, signal = undefined) {
  const fail = (error) => {
    if (signal?.aborted) throw error;
    throw new Error("The engine does not answer. Start secateur board again: the game is kept.");
  };
  const body = fields instanceof Blob ? fields : JSON.stringify(fields);
  const response = await fetch(name, { method: "POST", body, signal }).catch(fail);
  if (response.status === 404) throw new Error("Secateur board has a new address. Open it: the game is kept.");
  if (!response.ok) throw new Error(await response.text());
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let answer;
  for (;;) {
    const { value, done } = await reader.read().catch(fail);
    if (done) return answer;
    // A long line comes in many parts, which are not read again with each.
    const lines = value.split("\n");
    lines[0] = rest + lines[0];
    rest = lines.pop();
    for (const line of lines) {
      answer = JSON.parse(line);
      if (answer.problem) throw new Error(answer.problem);
      tell(answer);
    }
  }
}

// Ask the engine, which ends what was asked before. Returns null if the page has gone on.
/** @type {(name: string, fields: object, tell?: (answer: any) => void) => Promise<any>} */
async function question(name, fields, tell = () => {}) {
  stop();
  const mine = { name, position: here(), controller: new AbortController() };
  asking = mine;
  try {
    const answer = await ask(name, fields, (each) => asking === mine && tell(each), mine.controller.signal);
    return asking === mine ? answer : null;
  } catch (error) {
    if (asking === mine) throw error;
    return null;
  } finally {
    if (asking === mine) asking = null;
  }
}

// Whether the engine thinks about its move: its clock would run for another question. That is told.
function isBusy() {
  if (isThinking()) notify("Secateur thinks about its move. Ask when it has moved.");
  return isThinking();
}

function stop() {
  asking?.controller.abort();
  asking = null;
}

// A sentence above the board, until the player goes on.
function notify(text) {
  byId("notice").textContent = text;
  byId("notice").hidden = !text;
}

// Whatever fails is told there. An Error has a sentence for the player. Every other kind is a fault of the page, which
// the console shows, too.
addEventListener("unhandledrejection", (event) => {
  notify(event.reason.message);
  drawBoard();
  if (event.reason.constructor === Error) event.preventDefault();
});
