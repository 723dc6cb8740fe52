// How the page asks its server: at once, or as a stream of answers that the next question ends.
const tab = randomId();
let asking = null;

function randomId() {
  return [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function send(name, fields, signal) {
  const request = { method: "POST", headers: { "Content-Type": "application/json" }, signal };
  let response;
  try {
    response = await fetch(name, { ...request, body: JSON.stringify({ ...fields, tab }) });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Error("The engine does not answer. Start secateur board again: the game is kept.");
  }
  if (response.headers.get("Content-Type")?.startsWith("application/x-ndjson")) return response;
  throw new Error(await response.text());
}

async function* answers(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    for (const part of parts) yield JSON.parse(part);
  }
}

// The one answer to what needs no engine.
async function request(name, fields) {
  const answer = JSON.parse(await (await send(name, fields)).text());
  if (answer.problem) throw new Error(answer.problem);
  return answer;
}

// `tell` gets each answer. `again` asks the same once more, where another tab has taken the engine.
async function question(name, fields, tell, again = () => question(name, fields, tell)) {
  asking?.abort();
  const mine = (asking = new AbortController());
  try {
    for await (const answer of answers(await send(name, fields, mine.signal))) {
      if (mine.signal.aborted) return;
      if (answer.problem) notify(answer.problem);
      else if (answer.stopped) notify(answer.stopped, again);
      else if (answer.stopped === undefined) tell(answer);
    }
  } catch (error) {
    if (!mine.signal.aborted) notify(error.message, again);
  }
}

// A sentence above the board, which a click takes away.
function notify(text, again = () => {}) {
  const notice = byId("notice");
  notice.hidden = !text;
  notice.textContent = text;
  notice.onclick = () => {
    notify("");
    again();
  };
}
